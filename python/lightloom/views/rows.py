"""Results with rows as CSV: a header, then a line for each row, times in seconds and sizes in bytes."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """The columns, which are all as long, under their names; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().rstrip("\n")


def rows_as_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows under the names of all their keys; a missing key is an empty cell."""
    kept = list(rows)
    names = dict.fromkeys(name for row in kept for name in row)
    return as_csv({name: [row.get(name) for row in kept] for name in names})

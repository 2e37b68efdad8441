"""Results with rows as CSV: a header, then a line a row, times in seconds and sizes in bytes."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """The columns, which are all as long, under their names; None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().rstrip("\n")

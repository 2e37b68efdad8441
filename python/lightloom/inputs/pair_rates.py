"""Rates and hop delays by pair of GPUs, read from a CSV or a TOML file."""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown, text_of
from lightloom.base.files import MIB, parse_toml, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["is_pair_rates_file", "pair_rates_text", "relative_pair_rates"]

FIELD = "pair_rates"
ENDINGS = (".csv", ".toml")
MOST_BYTES = 8 * MIB
COLUMNS = ("gpu", "peer", "bandwidth", "hop_delay")
# The list of a TOML file.
LIST = "pairs"


def is_pair_rates_file(value: object) -> bool:
    """Whether it names a file, and not classes of pairs: a path, or text that ends in `.csv` or `.toml`."""
    return isinstance(value, os.PathLike) or (isinstance(value, str) and value.strip().endswith(ENDINGS))


def pair_rates_text(value: Any) -> Any:
    """The classes of pairs as the core reads them: those of a file as text, anything else as it is.

    value: `"rates.csv"`, with the columns gpu, peer, bandwidth and, where classes have them, hop_delay; or
    `"rates.toml"` with a list `pairs` of tables with these keys. `0-7` are several GPUs; `inside` in place of a GPU
    makes the peer the size of groups. Raises `InputError` that names `pair_rates`.
    """
    if not is_pair_rates_file(value):
        return value
    path = text_of(FIELD, os.fspath(value)).strip()
    rows = list(_of_toml(path) if path.endswith(".toml") else _of_csv(path))
    if not rows:
        raise refuse(FIELD, f"`{shown(path)}` has no pairs; it takes at least one")
    return ",".join(":".join(part for part in row if part) for row in rows)


def relative_pair_rates(folder: Path, value: Any) -> Any:
    """The rates of a TOML file in this folder, in which the path of a file is relative to the folder."""
    return str(folder / value) if is_pair_rates_file(value) else value


def _of_csv(path: str) -> Iterator[list[str]]:
    try:
        rows = list(csv.reader(read_text(FIELD, path, MOST_BYTES).splitlines()))
    except csv.Error as error:
        raise refuse(FIELD, f"`{shown(path)}` is no CSV: {error}") from error
    columns = tuple(name.strip().lower() for name in rows[0]) if rows else ()
    if columns not in (COLUMNS, COLUMNS[:-1]):
        found = ", ".join(columns)
        raise refuse(
            FIELD, f"columns of `{shown(path)}`: `{shown(found)}`; it takes gpu, peer, bandwidth, and hop_delay or not"
        )
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        place = f"line {number} of `{shown(path)}`"
        if len(row) != len(columns):
            raise refuse(FIELD, f"{place} has {len(row)} values; it takes {len(columns)}")
        yield _checked(row, place)


def _of_toml(path: str) -> Iterator[list[str]]:
    values = parse_toml(FIELD, read_text(FIELD, path, MOST_BYTES), f"`{path}`")
    tables = values.get(LIST)
    if list(values) != [LIST] or not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise refuse(FIELD, f"`{shown(path)}` is not accepted; it takes a list `{LIST}` of tables and nothing else")
    for number, table in enumerate(tables, start=1):
        place = f"pair {number} of `{shown(path)}`"
        unknown = [key for key in table if key not in COLUMNS]
        missing = [key for key in COLUMNS[:-1] if key not in table]
        if unknown or missing:
            what = f"has `{shown(unknown[0])}`" if unknown else f"has no `{missing[0]}`"
            raise refuse(FIELD, f"{place} {what}; it takes gpu, peer, bandwidth, and hop_delay or not")
        for key in COLUMNS:
            if isinstance(table.get(key, ""), bool) or not isinstance(table.get(key, ""), (str, int)):
                raise refuse(
                    FIELD, f"{key} of {place}: `{shown(table[key])}`; it takes a text such as `0-7` or `8Gbps`"
                )
        yield _checked([str(table.get(key, "")) for key in COLUMNS], place)


def _checked(row: Sequence[str], place: str) -> list[str]:
    """The values of a class without blanks, none of which has the marks between values or is empty but the last."""
    values = [value.strip() for value in row]
    for name, value in zip(COLUMNS, values, strict=False):
        if "," in value or ":" in value or (not value and name != COLUMNS[-1]):
            raise refuse(FIELD, f"{name} of {place}: `{shown(value)}`; it takes a value without `,` and `:`")
    return values

"""Where the GPUs of a fabric are, read from a CSV file."""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown, text_of
from lightloom.base.files import MIB, read_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["is_positions_file", "positions_text", "relative_positions"]

FIELD = "positions"
ENDING = ".csv"
MOST_BYTES = 8 * MIB
COLUMNS = ("gpu", "x", "y", "z")


def is_positions_file(value: object) -> bool:
    """Whether it names a file, and not places: a path, or text whose part before the first comma ends in `.csv`."""
    return isinstance(value, os.PathLike) or (isinstance(value, str) and value.split(",")[0].strip().endswith(ENDING))


def positions_text(value: Any) -> Any:
    """The positions as the core reads them: those of a file as text, anything else as it is.

    value: `"places.csv"`, with settings such as `",switch=middle"` after it. The file has the columns gpu, x and y, and
    z where there are heights: metres. Raises `InputError` that names `positions`.
    """
    if not is_positions_file(value):
        return value
    path, comma, settings = text_of(FIELD, os.fspath(value)).partition(",")
    places = _places(path.strip())
    return ",".join(places[gpu] for gpu in range(len(places))) + comma + settings


def relative_positions(folder: Path, value: Any) -> Any:
    """The positions of a TOML file in this folder, in which the path of a file is relative to the folder."""
    return str(folder / value) if is_positions_file(value) else value


def _places(path: str) -> dict[int, str]:
    """The place of each GPU, as `x:y:z`."""
    try:
        rows = list(csv.reader(read_text(FIELD, path, MOST_BYTES).splitlines()))
    except csv.Error as error:
        raise refuse(FIELD, f"`{shown(path)}` is no CSV: {error}") from error
    columns = tuple(name.strip().lower() for name in rows[0]) if rows else ()
    if columns not in (COLUMNS, COLUMNS[:-1]):
        found = ", ".join(columns)
        raise refuse(FIELD, f"columns of `{shown(path)}`: `{shown(found)}`; it takes gpu, x, y, and z or not")
    places: dict[int, str] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        place = f"line {number} of `{shown(path)}`"
        if len(row) != len(columns):
            raise refuse(FIELD, f"{place} has {len(row)} values; it takes {len(columns)}")
        gpu = row[0].strip()
        if not (gpu.isascii() and gpu.isdigit()) or len(gpu) > 9 or int(gpu) in places:
            raise refuse(FIELD, f"gpu of {place}: `{shown(gpu)}`; it takes each GPU once, by its number from 0")
        for name, text in zip(columns[1:], row[1:], strict=True):
            try:
                float(text)
            except ValueError as error:
                raise refuse(FIELD, f"{name} of {place}: `{shown(text)}`; it takes a number of metres") from error
        places[int(gpu)] = ":".join(text.strip() for text in row[1:])
    missing = next((gpu for gpu in range(len(places)) if gpu not in places), None)
    if missing is not None or not places:
        raise refuse(FIELD, f"`{shown(path)}` has no place of GPU {missing or 0}; it takes one for each GPU")
    return places

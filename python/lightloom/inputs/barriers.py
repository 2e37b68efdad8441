"""The time of a barrier of all GPUs, read from the file that `run --barriers --format json` writes."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import MIB, read_text
from lightloom.formats.source import json_object
from lightloom.inputs.quantities import seconds_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["barrier_text", "is_barrier_file", "path_of", "relative_to"]

FIELD = "barrier"
SCHEMA = "lightloom.barriers/1"
ENDING = ".json"
MOST_ROWS = 4096
NAME = re.compile(r"[\w-]{1,60}")


def is_barrier_file(value: object) -> bool:
    """Whether it names a file, and not a time: a path, or text whose part before the last colon ends in `.json`."""
    return isinstance(value, os.PathLike) or (isinstance(value, str) and _split(value) is not None)


def barrier_text(value: Any) -> Any:
    """The barrier as the core reads it: that of a file as times by number of ranks, anything else as it is.

    value: `"costs.json"`, with `":flags"` after it where the file has several barriers. Of every number of ranks it is
    the median that counts. Raises `InputError` that names `barrier`.
    """
    if not is_barrier_file(value):
        return value
    text = text_of(FIELD, os.fspath(value))
    path, name = path_of(text), (_split(text) or ("", ""))[1]
    measured = _measured(path)
    known = list(dict.fromkeys(barrier for barrier, _ in measured))
    if not name and len(known) > 1:
        raise refuse(
            FIELD,
            f"`{shown(path)}` has several barriers; name one: {shown(path)}:{known[0]}, or {', '.join(known[1:])}",
        )
    if name and name not in known:
        raise unknown_name(FIELD, name, known)
    chosen = sorted(
        (ranks, median_s) for (barrier, ranks), median_s in measured.items() if barrier == (name or known[0])
    )
    return ",".join(f"{ranks}={median_s!r}s" for ranks, median_s in chosen)


def path_of(value: Any) -> str:
    """The path of a value that names a file, without the barrier's name."""
    text = text_of(FIELD, os.fspath(value))
    split = _split(text)
    return text if split is None else split[0]


def relative_to(folder: Path, value: Any) -> Any:
    """The barrier of a TOML file in this folder, in which the path of a file is relative to the folder."""
    return str(folder / value) if is_barrier_file(value) else value


def _split(text: str) -> tuple[str, str] | None:
    """Path and barrier's name of text that names a file, else None."""
    if text.endswith(ENDING):
        return text, ""
    path, _, name = text.rpartition(":")
    return (path, name) if path.endswith(ENDING) else None


def _measured(path: str) -> dict[tuple[str, int], float]:
    """The median of every measurement in a file, s, by barrier and ranks."""
    document = json_object(FIELD, read_text(FIELD, path, MIB))
    if document.get("schema") != SCHEMA:
        raise refuse(
            FIELD, f"`{shown(path)}` is not what `run --barriers --format json` writes: its schema is not {SCHEMA}"
        )
    rows = document.get("rows")
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_ROWS:
        raise refuse(FIELD, f"rows of `{shown(path)}`: it takes a list of 1 to {MOST_ROWS} measurements")
    found: dict[tuple[str, int], float] = {}
    for index, row in enumerate(rows):
        place = f"rows[{index}] of `{shown(path)}`"
        if not isinstance(row, dict) or not NAME.fullmatch(str(row.get("barrier", ""))):
            raise refuse(FIELD, f"{place}: it takes an object with barrier (its name), ranks and median_s")
        name, ranks, median_s = str(row["barrier"]), row.get("ranks"), row.get("median_s")
        if not isinstance(ranks, int) or isinstance(ranks, bool) or ranks < 2:
            raise refuse(FIELD, f"ranks of {place}: `{shown(ranks)}` is not accepted; it takes a whole number from 2")
        if not isinstance(median_s, int | float) or isinstance(median_s, bool):
            raise refuse(FIELD, f"median_s of {place}: `{shown(median_s)}` is not accepted; it takes seconds")
        if (name, ranks) in found:
            raise refuse(FIELD, f"{place}: there are two measurements of {name} on {ranks} ranks")
        found[name, ranks] = seconds_of(FIELD, median_s)
    return found

"""What an exporter makes of a plan."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MAIN", "SIDE", "Exported"]

# Keys of the files of a format that is one file: the file itself, and what it cannot say, which is written beside it as
# `NAME.circuits.json`, after the file's whole name.
MAIN, SIDE = "", ".circuits.json"


class Exported(NamedTuple):
    """The files of an exported plan, before anything is written.

    files: contents by name in the folder; of a format that is one file, by `MAIN` and `SIDE`. side: the key of the file
    that holds what the format cannot say. notes: what a person has to know of it beside, a line each.
    """

    files: dict[str, bytes]
    side: str
    notes: tuple[str, ...] = ()

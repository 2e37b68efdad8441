"""The output of an exporter."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MAIN", "OUTPUT_NAME", "SIDE", "Exported"]

# Keys of the files of a format that is one file: the file itself, and its side file, with what it cannot express, which
# is written next to it as `NAME.circuits.json`, after the file's whole name.
MAIN, SIDE = "", ".circuits.json"
# Placeholder in notes for the file or folder that is written.
OUTPUT_NAME = "{output}"


class Exported(NamedTuple):
    """The files of an exported plan, before anything is written.

    files: contents by name in the folder, with `/` after folders in it; of a format that is one file, by `MAIN` and by
    what is put behind the file's name, such as `SIDE`. side: the file, or the folder of files, that holds what the
    format cannot say. notes: what else a person has to know of it, a line each, `OUTPUT_NAME` being the output.
    """

    files: dict[str, bytes]
    side: str
    notes: tuple[str, ...] = ()

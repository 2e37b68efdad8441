"""Plans written for other tools: `export`."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lightloom.errors import refuse, shown, text_of, unknown_name
from lightloom.exports.exported import MAIN, SIDE
from lightloom.files import check_distinct, check_folder, write_files, write_folder
from lightloom.formats import FOLDER, Format, written_formats
from lightloom.plans import Plan

if TYPE_CHECKING:
    from lightloom.exports.exported import Exported

__all__ = ["Export", "WrittenFile", "check_export_path", "export"]


class WrittenFile(NamedTuple):
    """A file that was written: its path, and its size in bytes."""

    path: Path
    size_bytes: int


class Export(NamedTuple):
    """What `export` wrote.

    format: name of the format. files: all of them, in the order of the format. side_file: the one that holds what the
    format cannot say, and cannot_say what that is. notes: what is to be known beside, a line each.
    """

    format: str
    files: tuple[WrittenFile, ...]
    side_file: Path
    cannot_say: str
    notes: tuple[str, ...]


def export(plan: Plan | str | os.PathLike[str], to: str, output: str | os.PathLike[str]) -> Export:
    """Write a plan in the format of another tool; `lightloom list formats` lists them.

    plan: a Plan, or its JSON file. output: a file, beside which the side file `NAME.circuits.json` is written, or a
    folder that is not there or empty, as the format is. What the format cannot say is in its side file.

    Everything is written or nothing. Raises `InputError` that names the argument, also where the plan has what the
    format cannot hold, such as chunks of unequal sizes.
    """
    chosen = _format(to)
    check_export_path(to, output)
    if not isinstance(plan, Plan):
        if not isinstance(plan, (str, os.PathLike)):
            raise refuse("plan", f"`{shown(plan)}` is not accepted; it takes a Plan or its file")
        check_export_path(to, output, inputs={"plan": plan})
        plan = Plan.load(plan)
    made: Exported = import_module(chosen.writer).export(plan)
    if chosen.written == FOLDER:
        folder = write_folder("output", output, made.files)
        paths = {key: folder / key for key in made.files}
    else:
        paths = _paths(output)
        write_files("output", {paths[key]: content for key, content in made.files.items()})
    files = tuple(WrittenFile(paths[key], len(content)) for key, content in made.files.items())
    return Export(chosen.name, files, paths[made.side], chosen.cannot_say, made.notes)


def check_export_path(
    to: str, output: str | os.PathLike[str], inputs: dict[str, str | os.PathLike[str]] | None = None
) -> None:
    """Refuse an output that the format cannot be written to, before anything is computed.

    Raises `InputError` that names `to` or `output`.
    """
    if _format(to).written == FOLDER:
        check_folder("output", output)
        return
    check_distinct({"output": output}, inputs)
    check_distinct({"output": output, "side file": _paths(output)[SIDE]}, inputs)


def _format(to: str) -> Format:
    known = written_formats()
    if text_of("to", to) not in known:
        raise unknown_name("to", to, known)
    return known[to]


def _paths(output: str | os.PathLike[str]) -> dict[str, Path]:
    """Where the files of a format go that is one file."""
    file = Path(output)
    return {MAIN: file, SIDE: file.with_name(file.name + SIDE)}

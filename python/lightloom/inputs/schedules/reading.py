"""A schedule from the file of any tool whose format is known, told by its content."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.errors import refuse
from lightloom.files import MIB, read_text
from lightloom.formats import readable_schedules

if TYPE_CHECKING:
    import os

__all__ = ["MAX_SCHEDULE_BYTES", "read_schedule", "schedule_of_text"]

MAX_SCHEDULE_BYTES = 64 * MIB


def read_schedule(source: str | os.PathLike[str] | _core.Schedule) -> _core.Schedule:
    """A Schedule as it is, or the one in a file.

    Raises `InputError` that names `schedule`, or the place in the file.
    """
    if isinstance(source, _core.Schedule):
        return source
    found = schedule_of_text(read_text("schedule", source, MAX_SCHEDULE_BYTES))
    if found is None:
        names = ", ".join(one.name for one in readable_schedules())
        raise refuse("schedule", f"`{source}` is of no format that is read: {names} (`lightloom list formats`)")
    return found


def schedule_of_text(text: str) -> _core.Schedule | None:
    """The schedule in a text; None where it is of no format that is read. Raises `InputError` that names the place."""
    for one in readable_schedules():
        reader = import_module(one.reader)
        if reader.recognises(text):
            schedule: _core.Schedule = reader.read(text)
            return schedule
    return None

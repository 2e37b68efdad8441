"""A schedule from the files of any tool whose format is known, recognised by content."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.formats import Format, readable_schedules
from lightloom.formats.harvest_schedule import read as harvest_topologies
from lightloom.formats.source import Source

if TYPE_CHECKING:
    import os

__all__ = ["ReadSchedule", "read_schedule", "schedule_of"]


class ReadSchedule(NamedTuple):
    """A schedule, and the format that it was read from; None for a Schedule that was given."""

    schedule: _core.Schedule
    format: Format | None


def read_schedule(source: str | os.PathLike[str] | _core.Schedule) -> ReadSchedule:
    """A Schedule as it is, or the one in a file or folder.

    Raises `InputError` that names `schedule`, or the place in the file.
    """
    if isinstance(source, _core.Schedule):
        return ReadSchedule(source, None)
    found = schedule_of(Source("schedule", source))
    if found is None:
        if harvest_topologies.recognises(Source("schedule", source)):
            said = "states topologies but not what is sent; give it as sequence, with a schedule or an algorithm"
            raise refuse("schedule", f"`{source}` {said}")
        names = ", ".join(one.name for one in readable_schedules())
        raise refuse("schedule", f"`{source}` is not in a format that can be read: {names} (`lightloom list formats`)")
    return found


def schedule_of(source: Source) -> ReadSchedule | None:
    """The schedule in a file or folder; None where it is of no format that is read.

    Raises `InputError` that names the place in it.
    """
    for one in readable_schedules():
        reader = import_module(one.reader)
        if reader.recognises(source):
            return ReadSchedule(reader.read(source), one)
    return None

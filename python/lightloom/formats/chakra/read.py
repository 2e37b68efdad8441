"""Chakra execution traces of sends and receives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.formats.chakra.files import is_trace
from lightloom.formats.chakra.schedule import schedule_of
from lightloom.formats.chakra.trace import read_trace

if TYPE_CHECKING:
    from lightloom import _core
    from lightloom.formats.source import Source

__all__ = ["read", "recognises"]


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return is_trace(source.path)


def read(source: Source) -> _core.Schedule:
    """The schedule that the trace carries out in a folder, or one of whose files the source is.

    Raises `InputError` that names the field; see `trace` and `schedule` of this folder.
    """
    return schedule_of(read_trace(source.field, source.path), source.field)

"""MSCCL XML, which the core reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom import _core

if TYPE_CHECKING:
    from lightloom.formats.source import Source

__all__ = ["read", "recognises"]


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return source.text.lstrip().startswith("<")


def read(source: Source) -> _core.Schedule:
    """The schedule that the program carries out. Raises `InputError` that names the place in it."""
    return _core.Schedule.from_msccl(source.text)

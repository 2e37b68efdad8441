"""MSCCL XML, which the core reads."""

from __future__ import annotations

from lightloom import _core

__all__ = ["read", "recognises"]


def recognises(text: str) -> bool:
    """Whether the text is meant to be of this format."""
    return text.lstrip().startswith("<")


def read(text: str) -> _core.Schedule:
    """The schedule that the program carries out. Raises `InputError` that names the place in it."""
    return _core.Schedule.from_msccl(text)

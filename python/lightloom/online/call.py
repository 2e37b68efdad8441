"""A call of a collective that was made."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Call"]


class Call(NamedTuple):
    """A call: its seconds, the delay that it measured, s, None where it changed no circuits, and wrong elements."""

    time_s: float
    delay_s: float | None
    wrong: int = 0

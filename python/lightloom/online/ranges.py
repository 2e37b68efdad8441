"""The sizes and the delays that a table is for, and the refusal of others."""

from __future__ import annotations

from lightloom import _core
from lightloom.base.errors import refuse

__all__ = ["check_delay", "check_size"]

# Relative rounding of numbers in other units.
ROUNDING = 1e-9


def check_size(size_bytes: int, ends_bytes: tuple[int, int]) -> None:
    """Raise `InputError` that names `size` for bytes that are not between these ends."""
    if not ends_bytes[0] <= size_bytes <= ends_bytes[1]:
        ends = " to ".join(map(_core.show_size, ends_bytes))
        raise refuse("size", f"`{_core.show_size(size_bytes)}` is not accepted: the table is for {ends}")


def check_delay(field: str, delay_s: float, ends_s: tuple[float, float], said: str) -> float:
    """The delay, s, which rounding may have put just beyond an end.

    said: the value in words, with its place. Raises `InputError` that names `field` for delays beyond the ends.
    """
    if not ends_s[0] * (1 - ROUNDING) <= delay_s <= ends_s[1] * (1 + ROUNDING):
        ends = " to ".join(map(_core.show_time, ends_s))
        raise refuse(field, f"{said} is not accepted: the table is for {ends}")
    return min(max(delay_s, ends_s[0]), ends_s[1])

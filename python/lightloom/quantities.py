"""Times and sizes as people write them: text with a unit, or a plain number of seconds or bytes."""

from __future__ import annotations

import math

from lightloom import _core
from lightloom.errors import refuse


def seconds_of(field: str, value: str | float) -> float:
    """Seconds of `"500ns"` or a number. Raises `InputError` that names `field` for what is no time of at least zero."""
    if isinstance(value, str):
        return _core.parse_time(field, value)
    return number_of(field, value, 'a time of at least zero such as "500ns" or seconds', above_zero=False)


def bytes_of(field: str, value: str | float, *, or_none: bool = False) -> int:
    """Whole bytes of `"4KiB"`, `"4096"` or a number, at least 1, or 0 too with `or_none`; errors as `seconds_of`."""
    text = value.strip() if isinstance(value, str) and not value.strip().isdecimal() else f"{value}B"
    # The core's reader knows the limits; it refuses nothing as a size.
    return 0 if or_none and text in {"0", "0B", "0.0B"} else _core.parse_size(field, text)


def number_of(field: str, value: object, accepts: str, *, above_zero: bool) -> float:
    """A finite number of at least zero, or above it. Raises `InputError` that names `field` and what it accepts."""
    number = math.nan
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
        number = float(value)
    if not (math.isfinite(number) and (number > 0 if above_zero else number >= 0)):
        raise refuse(field, f"`{str(value)[:60]}` is not accepted; it takes {accepts}")
    return number

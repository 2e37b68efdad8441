"""Times and sizes as people write them: text with a unit, or a plain number of seconds or bytes."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown

__all__ = ["bytes_of", "delay_text", "is_number", "number_of", "rate_of", "seconds_of", "size_text"]

# Beyond any range.
LARGEST = 1e300
# By kind, `time`, `rate` or `size`: the least above zero and the largest; the accepted values, in words.
RANGES = {name: (least, most) for name, _unit, least, most, *_ in _core.ranges()}
ACCEPTS = {name: accepts for name, *_, accepts in _core.ranges()}


def seconds_of(field: str, value: str | float) -> float:
    """Seconds of `"500ns"` or a number. Raises `InputError` that names `field` for values that are no accepted time."""
    return _core.read_time(field, value)


def delay_text(field: str, value: object) -> str:
    """A reconfiguration delay as the core reads it, of text, seconds, or a list of these by port.

    Raises `InputError` that names `field` for anything else.
    """
    items: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    return ",".join(item if isinstance(item, str) else f"{seconds_of(field, item)!r}s" for item in items)


def rate_of(field: str, value: str | float) -> float:
    """Bits per second of `"800Gbps"` or a number; errors as `seconds_of`."""
    return _core.read_rate(field, value)


def rates_text(field: str, value: object) -> tuple[str, list[float]]:
    """Rates of ports as the core reads them, of text with commas or a list, and each in bit/s; errors as `rate_of`."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    items: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    if not items:
        raise refuse(field, "it is an empty list; it takes a rate, or one for each port")
    texts = [item if isinstance(item, str) else f"{item!r}bps" for item in items]
    return ",".join(texts), [rate_of(field, item) for item in items]


def bytes_of(field: str, value: str | float, *, least: int = 1, most: int | None = None) -> int:
    """Whole bytes of `"4KiB"`, `"4096"` or a number from `least`, 0 or more, to `most`; errors as `seconds_of`.

    Where `most` is None, it is what sizes may be, and the core's reader says so.
    """
    text = size_text(field, value).strip()
    text += "B" if text.isdecimal() else ""
    if least == 0 and text in {"0B", "0.0B"}:  # the core's reader refuses nothing as a size
        return 0
    try:
        found = _core.parse_size(field, text)
    except InputError:
        if most is None:
            raise
        found = -1
    if found < least or (most is not None and found > most):
        range_ = f"{least} bytes or more" if most is None else f"{least} to {most} bytes"
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes a size such as 4096B or 4KiB, {range_}")
    return found


def size_text(field: str, value: object) -> str:
    """A size as the core reads it, of text or a number of bytes. Raises `InputError` that names `field`.

    The core's reader knows the limits, also of whole numbers that no float is.
    """
    if isinstance(value, str):
        return value
    if not is_number(value):
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes {ACCEPTS['size']}, or a number of bytes")
    return f"{shown(value)}B"


def is_number(value: object) -> bool:
    """Whether it is a real number, also one of NumPy's; truths, dates, durations and masked ones are not."""
    if hasattr(value, "dtype"):
        is_real = str(getattr(value.dtype, "kind", "")) in {"i", "u", "f"}
        return is_real and getattr(value, "ndim", 1) == 0 and not getattr(value, "mask", False)
    return isinstance(value, Real) and not isinstance(value, bool)


def number_of(field: str, value: object, accepts: str) -> float:
    """A finite number. Raises `InputError` that names `field` and what it accepts."""
    try:
        number = float(value) if is_number(value) else math.nan  # type: ignore[arg-type]
    except OverflowError:  # a whole number of more digits
        number = math.inf
    if not abs(number) < LARGEST:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes {accepts}")
    return number

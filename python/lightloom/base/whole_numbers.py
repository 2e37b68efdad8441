"""Whole numbers as people and NumPy write them."""

from __future__ import annotations

import operator
import re
from typing import SupportsIndex

from lightloom import _core
from lightloom.base.errors import refuse, shown

LARGEST = (1 << 32) - 1
# The least and the largest of what the core takes, by the name of the option.
WHOLE_RANGES = {name: (least, most) for name, least, most in _core.whole_ranges()}
DIGITS = re.compile("[+-]?[0-9]{1,40}", re.ASCII)


def whole_number(field: str, value: object, least: int = 1, most: int = LARGEST) -> int:
    """The value as an int. Raises `InputError` that names `field` when it is no whole number from `least` to `most`."""
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        try:
            number = least - 1 if getattr(value, "mask", False) else operator.index(value)
        except (TypeError, ValueError):  # an array of several numbers has the method too
            number = least - 1
        if least <= number <= most:
            return number
    raise refuse(field, f"`{shown(value)}` is not accepted; it takes a whole number from {least} to {most}")


def whole_of_text(field: str, text: str, least: int = 1, most: int = LARGEST) -> int:
    """The whole number that a text of digits is; errors as `whole_number`."""
    # Python reads at most some thousands of digits, and no accepted number has that many.
    if DIGITS.fullmatch(text.strip()):
        return whole_number(field, int(text), least, most)
    raise refuse(field, f"`{shown(text)}` is not accepted; it takes a whole number from {least} to {most}")

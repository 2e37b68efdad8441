"""The largest reconfiguration delay up to which something holds, by halving intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lightloom.advice.result import Limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["LARGEST_S", "RESOLUTION", "first_beyond", "largest_delay"]

# The delay that is found holds, and one that is larger by this share does not.
RESOLUTION = 0.1
# Delays that are tried: those that are given, and these, s.
SMALLEST_S, LARGEST_S = 1e-9, 1000.0


def largest_delay(holds: Callable[[float], bool], ports: int, known_s: Iterable[float]) -> Limit:
    """The largest delay, within `RESOLUTION`, at which `holds` is true; it is true below that and false above.

    holds: takes a delay, s. ports: of a GPU, for the answer. known_s: delays that are looked at first, because their
    times are known.
    """
    tried = [SMALLEST_S, *sorted(one for one in known_s if SMALLEST_S < one < LARGEST_S), LARGEST_S]
    # The times at delays that are known cost nothing; those at the ends of all delays may.
    first_false = first_beyond(tried, lambda delay_s: not holds(delay_s))
    if first_false == 0:
        return Limit(ports, None)
    if first_false == len(tried):
        return Limit(ports, LARGEST_S, unlimited=True)
    low_s, high_s = tried[first_false - 1], tried[first_false]
    while high_s > low_s * (1 + RESOLUTION):
        middle_s = math.sqrt(low_s * high_s)
        if holds(middle_s):
            low_s = middle_s
        else:
            high_s = middle_s
    return Limit(ports, low_s)


def first_beyond(values: list[float], is_true: Callable[[float], bool]) -> int:
    """The index of the first true value, where values are false up to some index and true from there; else the end."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if is_true(values[middle]):
            high = middle
        else:
            low = middle + 1
    return low

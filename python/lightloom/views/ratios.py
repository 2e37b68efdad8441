"""The comparison of one time with another, in words."""

from __future__ import annotations

import math

# Times closer than this, relatively, differ only by the order of additions.
ROUNDING = 1e-12
# A time this close to its lower bound, relatively, attains it: bounds give way by what rounding may have added to them.
ATTAINED = 1e-9


def are_equal(first_s: float, second_s: float) -> bool:
    """Whether two times differ only by rounding."""
    return abs(first_s - second_s) <= ROUNDING * max(abs(first_s), abs(second_s))


def gap_words(total_s: float, lower_bound_s: float) -> str:
    """The distance of a time from a lower bound, in words.

    `takes 1.23×`; `is optimal, proved` where it attains the bound.
    """
    gap = total_s / lower_bound_s
    return "is optimal, proved" if gap <= 1 + ATTAINED else f"takes {factor(gap)}"


def factor(ratio: float) -> str:
    """`1.23×`, `12.5×`: three digits, more where it takes more to differ from 1."""
    if 1 + ATTAINED < ratio < 1.005:
        return f"{ratio:.{math.ceil(-math.log10(ratio - 1))}f}×"
    return f"{ratio:.0f}×" if ratio >= 99.95 else f"{ratio:#.3g}×"


def versus(ratio: float) -> str:
    """A time over another one, in words."""
    if abs(ratio - 1) <= ROUNDING:
        return "as fast"
    larger, word = (ratio, "slower") if ratio > 1 else (1 / ratio, "faster")
    if larger < 1.095:
        digits = max(2, math.ceil(-math.log10(larger - 1)) - 2)
        return f"{larger - 1:.{digits}%} {word}"
    return f"{factor(larger)} {word}"

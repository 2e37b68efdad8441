"""The sizes of buffers that a plan is taken for, and which of several plans is taken for which."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.plans import Plan

__all__ = ["ALL_SIZES", "MOST_BYTES", "SizeRange", "ranges_of", "size_range"]

MOST_BYTES = 1 << 40
ACCEPTS = "it takes the smallest and the largest size, such as 64KiB:4MiB"


class SizeRange(NamedTuple):
    """Sizes of one rank's whole buffer, in bytes, both included."""

    first_bytes: int
    last_bytes: int

    def __str__(self) -> str:
        if self == ALL_SIZES:
            return "all sizes"
        return f"{_core.show_size(self.first_bytes)} to {_core.show_size(self.last_bytes)}"


ALL_SIZES = SizeRange(0, MOST_BYTES)


def size_range(sizes: str) -> SizeRange:
    """The range that is written `64KiB:4MiB`. Raises `InputError` that names `sizes`."""
    parts = [part.strip() for part in sizes.split(":")] if isinstance(sizes, str) else []
    if len(parts) != 2 or not all(parts):
        raise refuse("sizes", f"`{shown(sizes)}` is not accepted; {ACCEPTS}")
    first, last = (int(_core.parse_size("sizes", part)) for part in parts)
    if first > last:
        raise refuse("sizes", f"`{shown(sizes)}` begins above its end; {ACCEPTS}")
    if last > MOST_BYTES:
        raise refuse("sizes", f"`{shown(sizes)}` ends above {_core.show_size(MOST_BYTES)}; {ACCEPTS}")
    return SizeRange(first, last)


def ranges_of(plans: Sequence[Plan], asked: SizeRange | None) -> list[SizeRange]:
    """The sizes for which each of several plans of one problem, by rising size, is the fastest.

    Between the sizes of two neighbours the one is taken that is faster, their times being startup, propagation and
    reconfigurations as they are, and transmission in proportion to the size. Below the first and above the last size
    the first and the last plan are taken; without a range that is asked for there is one plan for all sizes, and
    several from the first one's size to the last one's.

    Raises `InputError` that names `sizes` where a plan's own size is outside of the given sizes.
    """
    if asked is None:
        asked = ALL_SIZES if len(plans) == 1 else SizeRange(plans[0].size_bytes, plans[-1].size_bytes)
    for plan in plans:
        if not asked.first_bytes <= plan.size_bytes <= asked.last_bytes:
            size = _core.show_size(plan.size_bytes)
            raise refuse("sizes", f"the range {asked} excludes a plan for {size}; widen the range or leave it out")
    ends = [_last_of(one, other) for one, other in pairwise(plans)]
    firsts = [asked.first_bytes, *(end + 1 for end in ends)]
    return [SizeRange(*both) for both in zip(firsts, [*ends, asked.last_bytes], strict=True)]


def _last_of(plan: Plan, larger: Plan) -> int:
    """The largest size, from the plan's own and below the larger one's, at which the plan is not the slower."""
    low, high = plan.size_bytes, larger.size_bytes - 1
    fixed, by_byte = (
        [_fixed_s(one) for one in (plan, larger)],
        [sum(step.transmission_s for step in one.steps) / one.size_bytes for one in (plan, larger)],
    )
    more_fixed, less_by_byte = fixed[1] - fixed[0], by_byte[0] - by_byte[1]
    if less_by_byte <= 0:
        # The plan for the larger size has no better rate: it is taken from its own size on, or earlier if it is faster.
        return high if more_fixed >= 0 else low
    return min(high, max(low, math.floor(more_fixed / less_by_byte)))


def _fixed_s(plan: Plan) -> float:
    return math.fsum(step.total_s - step.transmission_s for step in plan.steps)

"""Boxes of sizes and delays in each of which one plan is within a tolerance of the best, and few plans for all of them.

The least time T(m, α_r) of a set of plans is concave, since the time of each is linear. Where one plan takes at most
1 + ε times T at the four corners of a box of sizes and delays, it does so in the whole box: a point in it is a weighted
mean of the corners, at which the plan's time is the mean of its times there, and T at least the mean of T there. So a
box is done once one plan passes at its corners, and is halved at its geometric middle otherwise. A box whose sides have
ratios r and q is done at the latest when r · q ≤ 1 + ε: the plan that is best at its middle takes at a corner at most
√(r·q) times as long as at the middle, and T there is at least T of the middle over √(r·q).

A planner that searches within a budget may find a plan at one point that is better at another than what it finds there.
The best time at a corner is therefore the least of the planner's and those of all plans that were found.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.base.errors import refuse
from lightloom.online.lines import Line, line_of, times_s

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lightloom.plans import Plan

__all__ = ["Box", "Cover", "covered"]

# Points at which the best time is computed, for the whole range.
MOST_POINTS = 20_000
# A known plan that is this close to the best at a point, relatively, is the best there.
SAME = 1e-9
# A side whose ends have a smaller ratio is not halved.
LEAST_RATIO = 1.0 + 1e-6

Point = tuple[int, float]


class Box(NamedTuple):
    """Sizes and delays, ends included; the plan for them, by its place; and the best times at the four corners, s.

    best_s: at the first size and both delays, then at the last size and both.
    """

    sizes_bytes: tuple[int, int]
    delays_s: tuple[float, float]
    plan: int
    best_s: tuple[float, float, float, float]

    @property
    def corners(self) -> list[Point]:
        """Size and delay of the corners, in the order of `best_s`."""
        return list(product(self.sizes_bytes, self.delays_s))


class Cover(NamedTuple):
    """Boxes that cover the range, by rising sizes and delays, and the plans that they name, by rising changes."""

    boxes: tuple[Box, ...]
    plans: tuple[Plan, ...]


def covered(
    sizes_bytes: tuple[int, int],
    delays_s: tuple[float, float],
    tolerance: float,
    best_s: Callable[[Sequence[Point]], NDArray[np.float64]],
    plan_at: Callable[[Point], Plan],
    report: Callable[[str], None],
) -> Cover:
    """A cover of all sizes and delays between these ends.

    best_s: least times at some points, s; plan_at: the plan that has it at a point. tolerance: how much longer than the
    best a box's plan may take, as a share of it. Raises `InputError` that names `tolerance` where it is so small that
    too many points would be looked at.
    """
    known: dict[Point, float] = {}
    plans: list[Plan] = []
    lines: list[Line] = []
    boxes: list[Box] = []
    found = [Box(sizes_bytes, delays_s, -1, (0.0, 0.0, 0.0, 0.0))]
    while found:
        wanted = dict.fromkeys(point for box in found for point in (*box.corners, _middle(box)))
        new = [point for point in wanted if point not in known]
        if len(known) + len(new) > MOST_POINTS:
            raise refuse("tolerance", f"`{tolerance:g}` takes more than {MOST_POINTS} points; give a larger one")
        report(f"{len(known) + len(new)} points, {len(plans)} plans")
        if new:
            known.update(zip(new, best_s(new).tolist(), strict=True))
        halves: list[Box] = []
        for box in found:
            judged = _judged(box, lines, known)
            middle = _middle(box)
            if not _passing(lines, judged, tolerance) and not _has_best(lines, middle, known[middle]):
                made = plan_at(middle)
                plans.append(made)
                lines.append(line_of(made))
                judged = _judged(box, lines, known)
            if _passing(lines, judged, tolerance):
                boxes.append(judged)
            else:
                halves += _halves(box, middle)
        found = halves
        if not found:
            # Plans that were found later may take less at the corners of boxes that passed.
            boxes = [_judged(box, lines, known) for box in boxes]
            found = [box for box in boxes if not _passing(lines, box, tolerance)]
            boxes = [box for box in boxes if _passing(lines, box, tolerance)]
    return _few(boxes, plans, lines, tolerance)


def _middle(box: Box) -> Point:
    """The geometric middle, its size a whole number of bytes."""
    (low, high), (early_s, late_s) = box.sizes_bytes, box.delays_s
    return min(high, max(low, round(math.sqrt(low * high)))), math.sqrt(early_s * late_s)


def _halves(box: Box, middle: Point) -> list[Box]:
    (low, high), (early_s, late_s) = box.sizes_bytes, box.delays_s
    size, delay_s = middle
    sizes = [(low, size), (size, high)] if low < size < high else [(low, high)]
    if high == low + 1:
        # No whole number of bytes is in between.
        sizes = [(low, low), (high, high)]
    delays = [(early_s, delay_s), (delay_s, late_s)] if late_s > early_s * LEAST_RATIO else [(early_s, late_s)]
    return [box._replace(sizes_bytes=size, delays_s=delay) for size, delay in product(sizes, delays)]


def _judged(box: Box, lines: Sequence[Line], known: Mapping[Point, float]) -> Box:
    """The box with the least times at its corners that are known: the planner's, or those of plans found so far."""
    planned_s = np.array([known[point] for point in box.corners])
    if lines:
        sizes, delays = np.array(box.corners).T
        planned_s = np.minimum(planned_s, times_s(lines, sizes, delays).min(axis=0))
    first, second, third, fourth = planned_s.tolist()
    return box._replace(best_s=(first, second, third, fourth))


def _has_best(lines: Sequence[Line], point: Point, best_s: float) -> bool:
    return any(line.time_s(*point) <= best_s * (1.0 + SAME) for line in lines)


def _over(lines: Sequence[Line], box: Box) -> NDArray[np.float64]:
    """The largest excess of every plan over the best one at the corners of the box, as a share of the best."""
    sizes, delays = np.array(box.corners).T
    over: NDArray[np.float64] = (times_s(lines, sizes, delays) / np.array(box.best_s)).max(axis=1) - 1.0
    return over


def _passing(lines: Sequence[Line], box: Box, tolerance: float) -> bool:
    return bool(lines) and bool((_over(lines, box) <= tolerance).any())


def _few(boxes: Sequence[Box], plans: Sequence[Plan], lines: Sequence[Line], tolerance: float) -> Cover:
    """Plans that are taken one after the other, each for the most boxes that are left, less those that are not needed.

    Their number is at most 1 + ln n times the least for n boxes (Chvátal 1979).
    """
    over = np.stack([_over(lines, box) for box in boxes])
    passes = over <= tolerance
    left = np.ones(len(boxes), dtype=bool)
    taken: list[int] = []
    while left.any():
        taken.append(int(passes[left].sum(axis=0).argmax()))
        left &= ~passes[:, taken[-1]]
    for one in list(taken):
        others = [other for other in taken if other != one]
        if others and passes[:, others].any(axis=1).all():
            taken = others
    of_box = [taken[int(row.argmin())] for row in over[:, taken]]
    ordered = sorted(set(of_box), key=lambda one: (lines[one].changes, lines[one].fixed_s))
    kept = (box._replace(plan=ordered.index(one)) for box, one in zip(boxes, of_box, strict=True))
    in_order = sorted(kept, key=lambda box: (box.sizes_bytes, box.delays_s))
    return Cover(tuple(in_order), tuple(plans[one] for one in ordered))

"""Checks of a plan table: of its plans, by their own judge, and of its boxes. No planner is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.online.lines import Line, line_of, times_s
from lightloom.planning import Check, verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.online.covering import Box
    from lightloom.plans import Plan

__all__ = ["checks_of"]

# Relative rounding of times.
ROUNDING = 1e-9
# Properties of a plan that make it one for the same problem on the same fabric, whatever its size and delay.
PROBLEM = ("collective", "gpus", "ports", "bandwidth_bps", "startup_s", "hop_delay_s", "barrier_s", "root", "initial")


def checks_of(
    plans: Sequence[Plan],
    boxes: Sequence[Box],
    sizes_bytes: tuple[int, int],
    delays_s: tuple[float, float],
    tolerance: float,
) -> list[Check]:
    """The checks: of every plan; that all are for one problem; that boxes cover the range, and keep the tolerance.

    A time that is stated as best is not above that of any plan of the table, which `best-times` checks.

    Arguments are the fields of a `PlanTable`.
    """
    checks = [
        check._replace(name=f"plans[{index}].{check.name}")
        for index, plan in enumerate(plans)
        for check in verify(plan)
    ]
    try:
        lines = [line_of(plan) for plan in plans]
    except InputError as error:
        return [*checks, Check("linear-times", False, str(error))]
    problems = {tuple(str(getattr(plan, name)) for name in PROBLEM) for plan in plans}
    missed = _missed(boxes, sizes_bytes, delays_s)
    over = [
        max(lines[box.plan].time_s(*point) / best_s for point, best_s in zip(box.corners, box.best_s, strict=True)) - 1
        for box in boxes
    ]
    said = f"at the corners of boxes plans take at most {max(over):.4%} longer than the times that are stated as best"
    return [
        *checks,
        Check("linear-times", True, "the time of every plan is linear in size and delay"),
        Check("one-problem", len(problems) == 1, f"the plans are for {_core.counted(len(problems), 'problem')}"),
        Check("whole-range", not missed, missed or "boxes cover every size and delay"),
        _best_times(lines, boxes),
        Check("tolerance", max(over) <= tolerance + ROUNDING, said),
    ]


def _best_times(lines: Sequence[Line], boxes: Sequence[Box]) -> Check:
    """Whether no plan of the table takes less at a corner than the time that is stated as best there."""
    sizes, delays = np.array([box.corners for box in boxes], dtype=np.float64).reshape(-1, 2).T
    stated_s = np.array([box.best_s for box in boxes]).ravel()
    every_s = times_s(lines, sizes, delays)
    above = stated_s / every_s.min(axis=0)
    worst = int(above.argmax())
    if above[worst] <= 1 + ROUNDING:
        return Check("best-times", True, "no plan takes less than the times that are stated as best")
    at = f"{_core.show_size(float(sizes[worst]))} and {_core.show_time(float(delays[worst]))}"
    stated, found = _core.show_time(float(stated_s[worst])), _core.show_time(float(every_s[:, worst].min()))
    place = int(every_s[:, worst].argmin())
    said = f"boxes[{worst // 4}].best_s[{worst % 4}] is {stated}, and plan {place} takes {found} at {at}"
    return Check("best-times", False, said)


def _missed(boxes: Sequence[Box], sizes_bytes: tuple[int, int], delays_s: tuple[float, float]) -> str:
    """A place of the range that no box holds, in words; empty where there is none.

    Between neighbouring edges of all boxes every point is in the same boxes, so that one for each pair is looked at,
    and each edge itself.
    """
    sizes = np.unique([*sizes_bytes, *(end for box in boxes for end in box.sizes_bytes)])
    delays = np.unique([*delays_s, *(end for box in boxes for end in box.delays_s)])
    held = np.zeros((2 * len(sizes) - 1, 2 * len(delays) - 1), dtype=bool)
    for box in boxes:
        held[_places(sizes, box.sizes_bytes), _places(delays, box.delays_s)] = True
    # No whole number of bytes is between such neighbours.
    held[1::2][np.diff(sizes) <= 1] = True
    inside = np.zeros_like(held)
    inside[_places(sizes, sizes_bytes), _places(delays, delays_s)] = True
    gaps = np.argwhere(inside & ~held)
    if not len(gaps):
        return ""
    size, delay = gaps[0].tolist()
    at = f"{_core.show_size(float(sizes[size // 2]))} and {_core.show_time(float(delays[delay // 2]))}"
    return f"no box holds {'what follows on ' if size % 2 or delay % 2 else ''}{at}"


def _places(edges: NDArray[np.floating[Any]] | NDArray[np.integer[Any]], ends: Sequence[float]) -> slice:
    first, last = np.searchsorted(edges, ends)
    return slice(2 * int(first), 2 * int(last) + 1)

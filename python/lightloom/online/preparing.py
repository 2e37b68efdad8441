"""Planning a collective for a range of sizes and reconfiguration delays at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from lightloom.base.errors import refuse, shown
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.requests import PER_PAIR
from lightloom.online.covering import covered
from lightloom.online.reader import LEAST_TOLERANCE, MOST_TOLERANCE
from lightloom.online.shares import share_of
from lightloom.online.table import PlanTable
from lightloom.planning import plan
from lightloom.planning.problem import Problem

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.inputs.options import Settings
    from lightloom.online.covering import Point
    from lightloom.plans import Plan

__all__ = ["plan_table"]

TOLERANCE = 0.02
SIZES = "it takes the smallest and the largest size, such as 64KiB:1GiB; /pair behind says blocks of an all-to-all"
DELAYS = "it takes the smallest and the largest delay, such as 1us:10ms, both above 0"
# Settings under which a plan's time is not linear in size and delay.
REFUSED = {
    "matrix": "unequal blocks do not grow with one size",
    "chunk_size": "the number of chunks depends on the size",
}


def plan_table(
    collective: str,
    sizes: str,
    delays: str,
    *,
    tolerance: str | float = TOLERANCE,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    report: Callable[[str], None] = lambda _text: None,
    **settings: Unpack[Settings],
) -> PlanTable:
    """A few plans, of which one is close to the best at every size and reconfiguration delay of a range.

    sizes: `"64KiB:1GiB"`, the smallest and the largest buffer of a rank, with `/pair` behind for blocks of an
        All-to-All; one size for that alone. delays: `"1us:10ms"`, likewise.
    tolerance: how much longer than the best plan the one that is taken may be, `"2%"` or 0.02, from 0.01% to 100%.
    fabric, settings: as for `lightloom.plan`; the fabric's own delay is not used.
    report: is told what is being done.

    The tolerance is held at every point of the range where the planner takes the least of plans that do not depend on
    the point, as exact ones over given candidates do; else at the corners of the table's boxes, and between them
    against the weighted means of the times there.

    Raises `InputError` that names the argument.
    """
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    said: dict[str, Any] = dict(settings)
    for name, reason in REFUSED.items():
        if said.get(name) is not None:
            raise refuse(name, f"it is not accepted for a range of sizes: {reason}")
    if said.get("overlap") not in {None, "additive"}:
        raise refuse("overlap", f"`{shown(said['overlap'])}` is not accepted for a range of sizes; it takes additive")
    _refuse_other_delays(fabric)
    share = share_of("tolerance", tolerance, LEAST_TOLERANCE, MOST_TOLERANCE)
    problem = Problem(collective, fabric=fabric, **settings)
    sizes_bytes, delays_s = _sizes(sizes, problem), _delays(delays)

    def best_s(points: Sequence[Point]) -> NDArray[np.float64]:
        found = problem.sweep([float(size) for size, _ in points], [delay_s for _, delay_s in points]).total_s
        for index in np.flatnonzero(np.isinf(found))[:1]:
            plan_at(points[int(index)])  # raises the error that says why nothing serves this point
        return found

    def plan_at(point: Point) -> Plan:
        return plan(collective, point[0], fabric=replace(fabric, reconfiguration_delay=point[1]), **settings)

    cover = covered(sizes_bytes, delays_s, share, best_s, plan_at, report)
    return PlanTable(share, sizes_bytes, delays_s, *cover)


def _refuse_other_delays(fabric: Fabric) -> None:
    """Raise `InputError` where a change of circuits is charged anything but one constant delay."""
    if fabric.background_reconfiguration:
        raise refuse(
            "background_reconfiguration", "it is not accepted: what it hides depends on the bytes of each step"
        )
    window_s, windows_s = fabric.windows_s
    if window_s or any(windows_s.values()):
        raise refuse("window", f"`{shown(fabric.window)}` is not accepted: times are to be linear in the delay")
    if fabric.reconfiguration.scalar_s is None:
        reason = "a delay that depends on ports is not accepted for a range of delays"
        raise refuse("reconfiguration_delay", reason)


def _ends(field: str, text: str, accepts: str) -> list[str]:
    parts = [part.strip() for part in text.split(":")] if isinstance(text, str) else []
    if len(parts) not in {1, 2} or not all(parts):
        raise refuse(field, f"`{shown(text)}` is not accepted; {accepts}")
    return [parts[0], parts[-1]]


def _sizes(text: str, problem: Problem) -> tuple[int, int]:
    per_pair = PER_PAIR if isinstance(text, str) and text.strip().endswith(PER_PAIR) else ""
    ends = _ends("sizes", text.strip().removesuffix(PER_PAIR) if per_pair else text, SIZES)
    first, last = (int(problem.buffer_bytes(f"{end}{per_pair}")) for end in ends)
    if first > last:
        raise refuse("sizes", f"`{shown(text)}` begins above its end; {SIZES}")
    return first, last


def _delays(text: str) -> tuple[float, float]:
    first_s, last_s = (seconds_of("delays", end) for end in _ends("delays", text, DELAYS))
    if not 0 < first_s <= last_s:
        raise refuse("delays", f"`{shown(text)}` is not accepted; {DELAYS}")
    return first_s, last_s

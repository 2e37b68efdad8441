"""Plans on circuits of different rates, by port or by pair of GPUs, against their files and all schedules."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from tests.bounds_from_starts import all_schedules
from tests.reference import recomputed_plan

if TYPE_CHECKING:
    from tests.bounds_from_starts.all_schedules import Step

# Rounding of a linear program's optimum.
ROUNDING = 1e-6
BITS = 8
# Steps up to which programs are of all schedules, and soon solved.
MOST_STEPS = {"all-reduce": 2, "all-gather": 2, "reduce-scatter": 2, "broadcast": 3, "all-to-all": 3}


def hold_to_what_it_says(collective: str, size_bytes: int, fabric: ll.Fabric) -> list[set[str]]:
    """Numbers are recomputed from the file alone; packets take about as long; circuits are put on ports.

    Returns the names of the checks of the circuits, by kind of optical layer.
    """
    plan = ll.plan(collective, size_bytes, fabric=fabric)
    assert all(check.passed for check in ll.verify(plan))
    assert recomputed_plan.faults(plan.to_json()) == []
    assert ll.Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    simulated = ll.simulate(plan, packet_size=max(1, size_bytes >> 12))
    assert simulated.total_s == pytest.approx(plan.total_s, rel=0.25)
    found = []
    for kind in ("crossbar", "parallel"):
        checks = ll.verify(ll.circuits(plan, optics=kind), plan=plan, optics=kind)
        assert all(check.passed for check in checks)
        found.append({check.name for check in checks})
    return found


def least_load(collective: str, gpus: int, steps: list[Step]) -> float | None:
    """The least sum of loads of any schedule, in parts of the buffer; None where it is not known, or no schedule is."""
    if len(steps) > MOST_STEPS.get(collective, 0):
        return None
    shares = dict.fromkeys(itertools.permutations(range(gpus), 2), 1 / gpus)
    programs: dict[str, Any] = {
        "all-gather": lambda: all_schedules.all_gather(gpus, steps),
        "reduce-scatter": lambda: all_schedules.reduce_scatter(gpus, steps),
        "all-reduce": lambda: all_schedules.all_reduce(gpus, steps),
        "all-to-all": lambda: all_schedules.all_to_all(gpus, steps, shares),
        "broadcast": lambda: all_schedules.broadcast(gpus, steps, 0),
    }
    found: float | None = programs[collective]()
    return found

"""The best plan with a given number of reconfigurations: at a delay at which this many pay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lightloom import plan

if TYPE_CHECKING:
    from lightloom import Plan
    from lightloom_papers.bridge.schemes import Scheme

# Nothing pays above the first delay, s, and everything below the second.
MOST_S, LEAST_S = 1e3, 1e-12
MOST_HALVINGS = 60


def plan_with(changes: int, scheme: Scheme, size: float, gpus: int, hop_delay_s: float) -> Plan:
    """The plan with exactly this many reconfigurations.

    Where each reconfiguration saves less than the one before, every number of them is the best at some delay, and
    the best plan there is the best of all with that number. The delay is found by halving. Raises `ValueError`
    if there is none.
    """
    low_s, high_s = LEAST_S, MOST_S
    for _ in range(MOST_HALVINGS):
        delay_s = math.sqrt(low_s * high_s)
        case = scheme.case(size, gpus, hop_delay_s, delay_s)
        made = plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
        if made.reconfigurations == changes:
            return made
        if made.reconfigurations > changes:
            low_s = delay_s
        else:
            high_s = delay_s
    message = f"no delay at which {scheme.name} reconfigures {changes} times"
    raise ValueError(message)


def vector(made: Plan) -> str:
    """1 for every step before which the plan reconfigures, as table 1 writes it."""
    return "".join("01"[step.reconfigured] for step in made.steps)

"""The one place where our own simulators are called; everything else here compares with what this returns."""

from __future__ import annotations

from typing import Any

import lightloom as ll


class OursAbsentError(Exception):
    """Lightloom, as built here, has no simulator."""


def simulated_s(plan: ll.Plan, **settings: Any) -> float:
    """The simulated time of a plan by `lightloom.simulate`, with its settings, which are passed on as they are.

    Raises `OursAbsentError` where there is no such function.
    """
    simulate = getattr(ll, "simulate", None)
    if simulate is None:
        raise OursAbsentError("lightloom has no `simulate`: nothing of ours to compare with")
    total_s: float = simulate(plan, **settings).total_s
    return total_s

"""A plan simulated, as the verb `simulate` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.results import simulation_of

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Plan, or take the plan that is given, and simulate it."""
    simulation, more = simulation_of(asked, limits)
    return Outcome(DONE, simulation.to_json(**more).encode())

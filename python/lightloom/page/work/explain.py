"""The topologies of a plan, or of an iteration's plans, in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.iterations import iteration_of
from lightloom.page.work.results import plan_of

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

SCHEMA = "lightloom.explanations/1"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """A sentence for each topology of the plan that is given, or that the options ask for; of an iteration by name."""
    iteration = iteration_of(asked, limits)
    plans = [plan_of(asked, limits)] if iteration is None else iteration.plans
    said = [words for plan in plans for words in plan.explanations]
    told = {
        "schema": SCHEMA,
        "topologies": said,
        "names": [topology.name for plan in plans for topology in plan.topologies],
    }
    return Outcome(DONE, json.dumps(told, ensure_ascii=False).encode())

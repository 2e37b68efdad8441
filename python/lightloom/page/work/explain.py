"""A plan's topologies, in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.results import plan_of

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

SCHEMA = "lightloom.explanations/1"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """A sentence for each topology of the plan that is given, or that the options ask for."""
    told = {"schema": SCHEMA, "topologies": plan_of(asked, limits).explanations}
    return Outcome(DONE, json.dumps(told, ensure_ascii=False).encode())

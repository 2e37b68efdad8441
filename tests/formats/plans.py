"""Plans of random problems, with what their JSON says of them, for the tests of exporters."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import lightloom as ll
from lightloom.base.errors import InputError
from tests.recompute.problems import question

SEED = 23


@cache
def random_plan(index: int, most_gpus: int = 16) -> ll.Plan | None:
    """The plan of a random problem of at most this many GPUs; None where that has more, or nothing serves it."""
    asked = question(SEED, index)
    if asked.fabric["gpus"] > most_gpus:
        return None
    try:
        return ll.plan(fabric=ll.Fabric(**asked.fabric), **asked.settings)
    except InputError:
        return None


def random_plans(count: int, most_gpus: int = 16) -> list[ll.Plan]:
    """The first this many plans of the seed's problems."""
    found: list[ll.Plan] = []
    index = 0
    while len(found) < count:
        plan = random_plan(index, most_gpus)
        found += [] if plan is None else [plan]
        index += 1
    return found


def document_of(plan: ll.Plan) -> dict[str, Any]:
    """The plan's JSON, parsed."""
    document: dict[str, Any] = json.loads(plan.to_json())
    return document

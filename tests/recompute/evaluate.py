"""Plans a problem through the package, and recomputes the plan without it."""

from __future__ import annotations

import lightloom as ll
from lightloom.base.errors import InputError
from tests.recompute.counts import Counts
from tests.recompute.problems import question
from tests.reference.recomputed_plan import TooManyPacketsError, faults

MOST_PACKET_HOPS = 400_000


def _not_held(plan: ll.Plan) -> list[str]:
    """Why the optical layer that the plan was made for cannot hold it, which its planner must have seen."""
    try:
        ll.circuits(plan)
    except InputError as error:
        return [f"{plan.optics}: {error}"]
    return []


def recompute(seed: int, index: int, most_packet_hops: int = MOST_PACKET_HOPS) -> Counts:
    """The outcome of problem `index`."""
    asked = question(seed, index)
    counts = Counts()

    def outcome(text: str) -> Counts:
        counts.outcomes[asked.category, text] += 1
        return counts

    try:
        plan = ll.plan(fabric=ll.Fabric(**asked.fabric), **asked.settings)
    except InputError as error:
        counts.reasons[f"{asked.settings['planner']}: {error}"] += 1
        return outcome("refused")
    except Exception as error:
        counts.faults.append(f"{seed}:{index} {asked.fabric} {asked.settings}: {type(error).__name__}: {error}")
        return outcome("faulty")
    text = plan.to_json()
    try:
        found = faults(text, most_packet_hops)
    except TooManyPacketsError:
        return outcome("too many packets")
    found += _not_held(plan)
    counts.planners[plan.planner] += 1
    counts.gpus[plan.gpus] += 1
    if found:
        counts.faults.append(f"{seed}:{index} {asked.fabric} {asked.settings}: {'; '.join(found[:3])}")
        return outcome("faulty")
    return outcome("recomputed")

"""Random problems, each planned over all algorithms and held to circuits that never change.

python -m tests.planning.never_change --problems 250 --points 40 --seed 1 [--workers 2]

The best plan whose circuits never change is never faster than the plan, equal to it to the last bit where that changes
nothing, and takes what its file adds up to. A plan that is made to be repeated takes no longer than another one when
that is repeated.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import sys
from functools import partial
from typing import Any

import numpy as np

import lightloom as ll
from lightloom.base.errors import InputError
from tests.names import names

COLLECTIVES = names("collectives")
STARTS = ("free", "free", "repeated", "ring", "dark", "ring:one-way", "shifted-ring:2")


def problem(seed: int, index: int) -> tuple[str, int, dict[str, Any]]:
    """Collective, bytes, and the fabric's arguments, of a problem by its number."""
    rng = random.Random(f"{seed}:{index}")  # noqa: S311 (draws problems)
    gpus = rng.choice((3, 4, 5, 6, 7, 8, 8, 9, 10, 12, 12, 15, 16, 16))
    fabric: dict[str, Any] = {
        "gpus": gpus,
        "ports": rng.choice((1, 1, 1, 2, 2, 3)),
        "startup": 10 ** rng.uniform(-8, -5),
        "hop_delay": 10 ** rng.uniform(-8, -5),
        "reconfiguration_delay": 10 ** rng.uniform(-9, -1),
        "initial": rng.choice(STARTS if gpus > 4 else STARTS[:-1]),
    }
    return rng.choice(COLLECTIVES), int(2 ** rng.uniform(6, 30)), fabric


def faults(seed: int, index: int) -> list[str]:
    """What is wrong with the plans of a problem; empty where nothing is."""
    collective, size, given = problem(seed, index)
    fabric = ll.Fabric(**given)
    plan = ll.plan(collective, size, fabric=fabric)
    try:
        still = ll.plan(collective, size, fabric=ll.Fabric(**given), planner="never-change")
    except InputError as error:
        # From a start that does not join all GPUs nothing is done without a change.
        joins_all = given["initial"] in {"free", "repeated", "dark", "ring", "ring:one-way"}
        return [f"{index}: {error}"] if joins_all else []
    found = []
    used = {step.topology_index for step in still.steps}
    allowed = 1 if given["initial"] == "dark" else 0
    if len(used) != 1 or still.reconfigurations != allowed:
        found.append(f"{still.reconfigurations} changes on {len(used)} topologies")
    if still.total_s < plan.total_s:
        found.append(f"never-change takes {still.total_s}, the plan {plan.total_s}")
    changes_nothing = plan.reconfigurations == allowed and len({step.topology_index for step in plan.steps}) == 1
    if changes_nothing and still.total_s != plan.total_s:
        found.append(f"the plan changes nothing and takes {plan.total_s}, never-change {still.total_s}")
    document = json.loads(still.to_json())
    terms = ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s")
    added_s = math.fsum(step[term] for step in document["steps"] for term in terms)
    if not math.isclose(added_s, still.total_s, rel_tol=1e-12):
        found.append(f"never-change states {still.total_s} and adds up to {added_s}")
    found += _repeated(collective, size, given, plan)
    return [f"{index}: {collective} {size} {given}: {text}" for text in found]


def _repeated(collective: str, size: int, given: dict[str, Any], plan: ll.Plan) -> list[str]:
    """What is wrong where the plan runs again and again."""
    first, last = plan.steps[0], plan.steps[-1]
    closing_s = 0.0 if first.topology_name == last.topology_name else given["reconfiguration_delay"]
    rest_s = math.fsum(step.total_s for step in plan.steps) - first.reconfiguration_s
    if not math.isclose(plan.repeated_s, rest_s + closing_s, rel_tol=1e-9):
        return [f"repeated it states {plan.repeated_s} and adds up to {rest_s + closing_s}"]
    repeated = ll.plan(collective, size, fabric=ll.Fabric(**{**given, "initial": "repeated"}))
    found = []
    if repeated.total_s != repeated.repeated_s:
        found.append(f"a repeated plan takes {repeated.total_s}, and {repeated.repeated_s} when it is repeated")
    if given["initial"] == "free" and repeated.total_s > plan.repeated_s * (1 + 1e-12):
        found.append(f"the repeated plan takes {repeated.total_s}, the other one {plan.repeated_s} when it is repeated")
    if repeated.lower_bound_s > repeated.total_s:
        found.append(f"the repeated plan takes {repeated.total_s}, below its bound {repeated.lower_bound_s}")
    if given["initial"] == "free" and repeated.total_s < plan.total_s * (1 - 1e-12):
        found.append(f"the repeated plan takes {repeated.total_s}, from a free start {plan.total_s}")
    return found


def faults_of_points(points: int, seed: int, index: int) -> list[str]:
    """What is wrong at this many points of a problem that differ in size and delays, and with its plan."""
    collective, _, given = problem(seed, index)
    rng = random.Random(f"points {seed}:{index}")  # noqa: S311 (draws points)
    drawn = np.array([[rng.uniform(*ends) for ends in ((6, 30), (-8, -5), (-8, -5), (-9, -1))] for _ in range(points)])
    sizes = np.floor(2 ** drawn[:, 0])
    startups, hops, delays = (10 ** drawn[:, 1:]).T
    try:
        swept = ll.Problem(collective, fabric=ll.Fabric(**given)).sweep(
            sizes, startups=startups, hop_delays=hops, delays=delays
        )
    except InputError as error:
        return [f"{index}: {error}"]
    still_s = swept.never_change_s
    assert still_s is not None
    changes_nothing = swept.reconfigurations == (1 if given["initial"] == "dark" else 0)
    wrong = (still_s < swept.total_s) | (changes_nothing & (still_s != swept.total_s) & (given["initial"] != "dark"))
    said = [
        f"{index}: {collective} {given} at {sizes[at]} {startups[at]} {hops[at]} {delays[at]}: never-change takes "
        f"{still_s[at]}, the plan {swept.total_s[at]} with {swept.reconfigurations[at]} changes"
        for at in np.flatnonzero(wrong)
    ]
    return faults(seed, index) + said


def main() -> int:
    """Exit status 0 where nothing is wrong, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.planning.never_change", description=__doc__)
    parser.add_argument("--problems", type=int, default=250, metavar="N")
    parser.add_argument("--points", type=int, default=40, metavar="N", help="of each problem")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    told = parser.parse_args()
    wrong, check = 0, partial(faults_of_points, told.points, told.seed)
    # Spawned, since the core's threads do not survive a fork.
    with multiprocessing.get_context("spawn").Pool(told.workers) as pool:
        for done, found in enumerate(pool.imap_unordered(check, range(told.problems)), 1):
            wrong += bool(found)
            if found or done % 25 == 0:
                sys.stderr.write("\n".join([f"{done} of {told.problems}", *found, ""]))
    sys.stdout.write(f"{told.problems * told.points} points of {told.problems} problems, {wrong} with a fault\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Random iterations against all orders of their events, and against weaker fabrics.

    python -m tests.training.judge_orders --workloads 5000
    python -m tests.training.judge_orders --weaker --workloads 2000

The first compares what `ll.train` returns with every order of the same plans on the same ports, by code of its own
(`all_orders`). The second plans each workload on a fabric, and on fabrics of more bandwidth, of one more port and of
less delay: no such plan may be slower.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import lightloom as ll
from lightloom.training.result import Training
from tests.training import all_orders, random_workloads

MOST_NODES = 6
# Small groups, which are planned in a moment.
MESHES: tuple[dict[str, int], ...] = ({"a": 4}, {"a": 2, "b": 2}, {"a": 2, "b": 3}, {"a": 4, "b": 2})


def _drawn(seed: int) -> tuple[random.Random, dict[str, Any]]:
    rng = random.Random(seed)  # noqa: S311 (a test's draws, not a secret)
    return rng, random_workloads.workload(rng, serial=False, meshes=MESHES, most=MOST_NODES)


def judge_order(seed: int) -> bool:
    """Compare a plan with all orders of its events; whether its order had to be searched for."""
    rng, told = _drawn(seed)
    training = ll.train(ll.Workload.of(told), fabric=random_workloads.fabric(rng))
    least_s = all_orders.least_s(all_orders.read(training))
    rounding_s = 1e-9 * training.total_s
    assert abs(training.total_s - least_s) <= rounding_s, (seed, training.total_s, least_s)
    assert training.order_bound_s <= least_s + rounding_s, (seed, training.order_bound_s, least_s)
    assert training.order_exact, seed
    if training.exact:
        assert training.total_s <= min(time_s for time_s in _own(training) if time_s is not None) + rounding_s, seed
    return training.order_bound_s < least_s - rounding_s


def _own(training: Training) -> list[float | None]:
    """Times of the policies on this fabric."""
    return [time_s for policy, time_s in training.policies.items() if policy != "packet-switch"]


def judge_weaker(seed: int) -> list[str]:
    """The changes among more bandwidth, one more port and less delay that make an iteration slower."""
    rng, told = _drawn(seed)
    workload = ll.Workload.of(told)
    given: dict[str, Any] = {
        "ports": rng.randint(1, 3),
        "bandwidth": rng.choice((1e11, 8e11)),
        "startup": rng.choice((0.0, 1e-6)),
        "hop_delay": rng.choice((1e-9, 5e-7, 1e-5)),
        "reconfiguration_delay": rng.choice((1e-9, 1e-6, 1e-5, 1e-4, 1e-3)),
    }
    better = {
        "bandwidth": given["bandwidth"] * rng.choice((1.3, 2, 4)),
        "ports": given["ports"] + 1,
        "reconfiguration_delay": given["reconfiguration_delay"] * rng.choice((0.0, 0.1, 0.5)),
    }
    total_s = ll.train(workload, fabric=ll.Fabric(**given)).total_s
    fabrics = {name: ll.Fabric(**{**given, name: value}) for name, value in better.items()}
    times = {name: ll.train(workload, fabric=fabric).total_s for name, fabric in fabrics.items()}
    return [f"{seed} {name}: {time_s / total_s:.4f}" for name, time_s in times.items() if time_s > total_s * (1 + 1e-9)]


def main() -> None:
    """Judge this many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--weaker", action="store_true", help="compare with weaker fabrics in place of all orders")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.workloads)
    if options.weaker:
        slower = [line for seed in seeds for line in judge_weaker(seed)]
        print("\n".join([*slower, f"{len(slower)} of {3 * len(seeds)} better fabrics are slower"]))  # noqa: T201
    else:
        searched = sum(judge_order(seed) for seed in seeds)
        print(f"no order is faster in {len(seeds)} iterations; in {searched} of them the bound is below")  # noqa: T201


if __name__ == "__main__":
    main()

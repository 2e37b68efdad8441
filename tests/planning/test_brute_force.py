"""The planner against every sequence of topologies, on small instances with random candidates and costs."""

from itertools import product
from math import inf

import numpy as np
import pytest

import lightloom as ll

M = 1 << 20
SCHEDULES = [
    ("recursive-doubling", "reduce-scatter", 4),
    ("recursive-doubling", "all-reduce", 4),
    ("halving-doubling", "reduce-scatter", 8),
    ("ring", "all-gather", 4),
    ("bruck", "all-gather", 5),
    ("direct", "all-to-all", 5),
    ("binomial-tree", "broadcast", 6),
]


def steps_of(schedule: ll.Schedule) -> list[tuple[float, list[tuple[int, int, float]]]]:
    """m_i / m and the weights relative to the largest transfer, from only the transfers."""
    steps = []
    for index, share in enumerate(schedule.shares):
        chunks: dict[tuple[int, int], int] = {}
        for src, dst, _, carried in schedule.transfers(index):
            chunks[src, dst] = chunks.get((src, dst), 0) + len(carried)
        largest = max(chunks.values())
        steps.append((float(share), [(*pair, count / largest) for pair, count in chunks.items()]))
    return steps


def random_topology(random: np.random.Generator, name: str, gpus: int, ports: int) -> ll.Topology:
    """A union of random permutations without fixed points: as many circuits per GPU as there are ports."""
    links: list[tuple[int, int, int]] = []
    while len(links) < ports * gpus:
        images = random.permutation(gpus)
        if not np.any(images == np.arange(gpus)):
            links += [(u, int(v), 1) for u, v in enumerate(images)]
    return ll.Topology.from_links(name, gpus, links)


@pytest.mark.parametrize(("algorithm", "collective", "gpus"), SCHEDULES)
@pytest.mark.parametrize("seed", range(6))
def test_the_plan_is_the_best_sequence(algorithm: str, collective: str, gpus: int, seed: int) -> None:
    random = np.random.default_rng([seed, gpus, len(algorithm)])
    ports = int(random.integers(1, 3))
    ring = ll.Topology.from_links("cycle", gpus, [(u, (u + 1) % gpus, ports) for u in range(gpus)])
    candidates = [ring, random_topology(random, "a", gpus, ports), random_topology(random, "b", gpus, ports)]
    initial = [None, ring, random_topology(random, "start", gpus, ports)][int(random.integers(3))]
    is_repeated = initial is None and bool(random.integers(2))
    delay = float(random.choice([0.0, 1e-6, 1e-5, 1e-4]))
    fabric = ll.Fabric(
        gpus=gpus, ports=ports, reconfiguration_delay=delay, initial=initial or ("repeated" if is_repeated else "free")
    )
    alpha, delta, beta = fabric.startup_s, fabric.hop_delay_s, 8 / fabric.bandwidth_bps

    # The topology in force at the start may be kept as well.
    states = candidates + ([initial] if initial is not None else [])
    steps = steps_of(ll.Schedule.build(algorithm, collective, gpus))
    costs = [
        [
            min((alpha + delta * p.hops + beta * M * share * p.load for p in ll.profile(state, traffic)), default=inf)
            for state in states
        ]
        for share, traffic in steps
    ]
    links = [state.links.tolist() for state in states]
    before = initial.links.tolist() if initial is not None else None
    best = inf
    for sequence in product(range(len(states)), repeat=len(steps)):
        time, in_force = 0.0, links[sequence[-1]] if is_repeated else before
        for step, state in enumerate(sequence):
            time += costs[step][state] + (delay if in_force is not None and links[state] != in_force else 0.0)
            in_force = links[state]
        best = min(best, time)

    plan = ll.plan(collective, size=M, fabric=fabric, algorithm=algorithm, planner="harvest", candidates=candidates)
    assert plan.total_s == pytest.approx(best, rel=1e-9)
    assert all(check.passed for check in ll.verify(plan))

"""PCCL's planner against its paper's integer program (algorithm 1), solved by HiGHS, on small random instances."""

import highspy
import numpy as np
import pytest

import lightloom as ll
from tests.planning.test_brute_force import random_topology, steps_of

SCHEDULES = [
    ("recursive-doubling", "all-reduce", 8),
    ("halving-doubling", "reduce-scatter", 8),
    ("halving-doubling", "all-reduce", 8),
    ("swing", "all-gather", 8),
    ("bruck", "all-gather", 7),
    ("dex", "all-to-all", 8),
    ("direct", "all-to-all", 6),
    ("ring", "all-gather", 6),
]


def program(costs: list[list[float | None]], standard: int, initial: int, delay_s: float) -> float:
    """The least completion time by algorithm 1.

    costs: `[round][topology]` in seconds, None where a transfer has no path (the "large penalty" of algorithm 2). The
        first `standard` topologies are connected, the others are the rounds' own circuits, in order.
    initial: the standard topology in force before the first round.
    """
    rounds, topologies = len(costs), len(costs[0])
    solver = highspy.Highs()
    solver.silent()
    used = [[solver.addBinary() for _ in range(topologies)] for _ in range(rounds)]
    objective = []
    for i, row in enumerate(costs):
        # (4): exactly one topology, and not of a later round.
        solver.addConstr(solver.qsum(used[i]) == 1)
        for j, cost in enumerate(row):
            if cost is None or j > i + standard:
                solver.addConstr(used[i][j] == 0)
            else:
                objective.append(cost * used[i][j])
            # (5): a round's own circuits have been in force since that round.
            if j >= standard:
                for earlier in range(j - standard, i):
                    solver.addConstr(used[i][j] <= used[earlier][j])
        # (7): r unless some topology is in force in this round and in the one before.
        changed = solver.addBinary()
        for j in range(topologies):
            before = float(j == initial) if i == 0 else used[i - 1][j]
            solver.addConstr(used[i][j] - before - changed <= 0)
        objective.append(delay_s * changed)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    solver.minimize(solver.qsum(objective))
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


@pytest.mark.large
@pytest.mark.parametrize(("algorithm", "collective", "gpus"), SCHEDULES)
@pytest.mark.parametrize("seed", range(8))
def test_the_plan_is_the_programs_optimum(algorithm: str, collective: str, gpus: int, seed: int) -> None:
    random = np.random.default_rng([seed, gpus, len(algorithm)])
    ports = int(random.integers(1, 4))
    links = [(u, (u + 1) % gpus, 1) for u in range(gpus)]
    # With two-way rings a transfer over half the ring has two shortest paths, so the start has one way only.
    start = ll.Topology.from_links("cycle", gpus, links)
    others = [random_topology(random, name, gpus, 1) for name in "ab"]
    delay = float(random.choice([1e-6, 1e-5, 1e-4, 1e-3]))
    size = int(random.choice([1 << 16, 1 << 22, 1 << 28]))
    fabric = ll.Fabric(
        gpus=gpus,
        ports=ports,
        bandwidth=3.6e12,
        startup="0s",
        hop_delay="3us",
        reconfiguration_delay=delay,
        initial=start,
    )
    steps = steps_of(ll.Schedule.build(algorithm, collective, gpus))
    connected = [topology for topology in [start, *others] if _is_connected(topology)]
    own = [ll.Topology.from_links("own", gpus, [(src, dst, 1) for src, dst, _ in transfers]) for _, transfers in steps]

    # Microseconds, so that the solver's tolerances are small compared with the costs.
    def cost(share: float, transfers: list[tuple[int, int, float]], topology: ll.Topology) -> float | None:
        points = ll.profile(topology, transfers, routing="single-path")
        if not points:
            return None
        (point,) = points
        return 1e6 * (fabric.hop_delay_s * point.hops + 8 / fabric.bandwidth_bps * share * size * point.load)

    costs = [[cost(share, transfers, topology) for topology in connected + own] for share, transfers in steps]
    expected = program(costs, len(connected), 0, 1e6 * delay) * 1e-6
    plan = ll.plan(collective, size, fabric=fabric, algorithm=algorithm, planner="pccl", candidates=[start, *others])
    assert plan.total_s == pytest.approx(expected, rel=1e-9)
    assert all(check.passed for check in ll.verify(plan))


def _is_connected(topology: ll.Topology) -> bool:
    """Whether all ranks have a path to all others."""
    everyone = [(src, dst, 1.0) for src in range(topology.gpus) for dst in range(topology.gpus) if src != dst]
    return bool(ll.profile(topology, everyone, routing="single-path"))

"""Lower bounds of Broadcasts by the hops of each step, against programs over all schedules on random topologies."""

import random

import numpy as np
import pytest

import lightloom as ll
from tests.bounds_from_starts.all_schedules import Step, broadcast
from tests.bounds_from_starts.graphs import Graph, even, kautz, reaches_all, topology, uneven
from tests.bounds_from_starts.linear import BIT_RATE, ROUNDING
from tests.draws import cases

# Startup and hop delay, s; bytes: where latency counts most, bytes do, and both.
PRICES = ((5e-7, 5e-7, 50_000), (5e-7, 5e-7, 300_000), (1e-7, 1e-6, 200_000), (2e-6, 1e-7, 1_000_000))
DIVISIONS = ((1,), (2,), (3,), (1, 1), (1, 2), (2, 1), (2, 2), (1, 1, 1), (1, 1, 2), (2, 1, 1), (1, 1, 1, 1), (1,) * 5)


def drawn(draw: random.Random, ranks: int, ports: int) -> Graph:
    """A topology on which every rank reaches every other."""
    for _ in range(50):
        graph = draw.choice([even, uneven])(draw, ranks, ports)
        if reaches_all(graph, ranks):
            return graph
    return kautz(ranks, ports)


def ratios(graph: Graph, ranks: int, ports: int) -> list[float]:
    """By price, the bound over the time of the best schedule from rank 0: where the topology stays, and of any."""
    loads = {hops: broadcast(ranks, [Step(graph, each) for each in hops], 0) for hops in DIVISIONS}
    found = []
    for startup_s, hop_s, size_bytes in PRICES:
        buffer_s = 8 * size_bytes / BIT_RATE
        times = [startup_s * len(hops) + hop_s * sum(hops) + buffer_s * load for hops, load in loads.items() if load]
        for initial in (topology(graph, ranks), "free"):
            fabric = ll.Fabric(
                gpus=ranks,
                ports=ports,
                bandwidth=BIT_RATE,
                startup=startup_s,
                hop_delay=hop_s,
                reconfiguration_delay=1.0,
                initial=initial,
            )
            bound_s = ll.bound("broadcast", size_bytes, fabric=fabric).lower_bound_s
            found.append(bound_s / min(times))
    return found


@pytest.mark.large
@pytest.mark.parametrize("number", range(cases(48)))
def test_no_schedule_takes_less(number: int) -> None:
    draw = random.Random(number)  # noqa: S311 (tests)
    ranks, ports = draw.choice([5, 6, 6]), draw.choice([1, 2, 2, 3])
    graph = drawn(draw, ranks, ports)
    assert max(ratios(graph, ranks, ports)) <= 1 + ROUNDING, (ranks, ports, sorted(graph.items()))


def test_on_kautz_graphs_the_bounds_are_near() -> None:
    """On average within a sixth of the best schedule where the topology stays."""
    found = np.array([ratios(kautz(ranks, 2), ranks, 2)[::2] for ranks in (5, 6)])
    assert found.max() <= 1 + ROUNDING
    assert found.mean() > 0.85
    assert found.min() > 0.6

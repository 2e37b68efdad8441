"""Hops-load fronts against an independent linear program, on hundreds of small random cases."""

import numpy as np
import pytest

import lightloom as ll
from tests.reference.concurrent_flow import front, random_case

CASES_PER_SEED = 50


@pytest.mark.large
@pytest.mark.parametrize("seed", range(10))
def test_fronts_equal_the_layered_program(seed: int) -> None:
    random = np.random.default_rng(seed)
    traded = 0
    for case in range(CASES_PER_SEED):
        gpus, links, traffic = random_case(random)
        topology = ll.Topology.from_links("random", gpus, [(*pair, count) for pair, count in links.items()])
        ours = ll.profile(topology, traffic)
        expected = front(gpus, links, traffic)
        assert [point.hops for point in ours] == [hops for hops, _ in expected], (seed, case, ours, expected)
        traded += len(expected) > 1
        for point, (_, load) in zip(ours, expected, strict=True):
            assert point.load == pytest.approx(load, rel=1e-6), (seed, case)
            assert point.lower_bound <= point.load * (1 + 1e-12)
            assert point.lower_bound <= load * (1 + 1e-6), "the certified bound is above the optimum"
    assert traded > CASES_PER_SEED // 10, "too few cases trade hops for load"


@pytest.mark.parametrize("routing", ["equal-split", "single-path"])
def test_other_routings_are_points_that_the_optimum_is_not_above(routing: str) -> None:
    random = np.random.default_rng(99)
    compared = 0
    for _ in range(100):
        gpus, links, traffic = random_case(random)
        topology = ll.Topology.from_links("random", gpus, [(*pair, count) for pair, count in links.items()])
        best = ll.profile(topology, traffic)
        points = ll.profile(topology, traffic, routing=routing)
        assert len(points) == (1 if best else 0)
        if points:
            (point,) = points
            within = [other.load for other in best if other.hops <= point.hops]
            assert within
            assert min(within) <= point.load * (1 + 1e-9)
            assert point.hops == best[0].hops, "shortest paths have as few hops as can be"
            compared += 1
    assert compared > 20


def test_the_two_way_ring_of_eight() -> None:
    """Offset 3 on the bidirectional ring is (3, 3.0) or (5, 1.875), never (3, 1.875)."""
    topology = ll.Topology.from_links("two-way", 8, [(u, (u + step) % 8, 1) for u in range(8) for step in (1, -1)])
    points = ll.profile(topology, [(u, (u + 3) % 8, 1.0) for u in range(8)])
    assert [point.hops for point in points] == [3, 5]
    assert [point.load for point in points] == pytest.approx([3.0, 1.875])

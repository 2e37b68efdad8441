"""Planner `exact` beyond whole circuits: its bounds against every topology, its plans against `weave`, closed forms."""

import itertools
import math
import random

import pytest

import lightloom as ll
from lightloom import exact
from lightloom.exact.averages import PROGRAMS, least_seconds
from lightloom.exact.cayley import cayley_topologies
from lightloom.exact.demands import Demand, PricedTopology
from lightloom.exact.groups import keeping_group, rank_group
from lightloom.exact.places import nearest_first_s
from lightloom.exact.program import Scope
from tests.draws import cases
from tests.planning.test_exact import (
    ALL_OF_FOUR,
    Arcs,
    arcs_of,
    least_over_cuts,
    least_repeated,
    seconds_on,
)

pytestmark = pytest.mark.slow

GROUPS = ("1", "xor:1", "2")


def drawn(draw: random.Random, group: str) -> list[Demand]:
    """One to three steps on four ranks that a group keeps, with weights, hop delays and bytes."""
    kept = rank_group(group, 4)
    demands = []
    for _ in range(draw.randint(1, 3)):
        arcs: dict[tuple[int, int], float] = {}
        for source in kept.representatives:
            for target in draw.sample([rank for rank in range(4) if rank != source], draw.randint(1, 2)):
                weight = draw.choice([1.0, 0.5, 0.25])
                arcs.update((image, weight) for image in kept.orbit((source, target)))
        pairs = tuple(sorted((src, dst, weight) for (src, dst), weight in arcs.items()))
        demands.append(Demand(pairs, draw.choice([0.0, 1.0, 3.0]), draw.uniform(0.5, 4.0)))
    return demands


@pytest.mark.large
@pytest.mark.parametrize("seed", range(cases(24)))
@pytest.mark.parametrize("group", GROUPS)
def test_no_topology_of_four_ranks_is_below_the_bounds(group: str, seed: int) -> None:
    demands = drawn(random.Random(seed), group)  # noqa: S311 (a test's draws, not a secret)
    scope = Scope(4, 2, rank_group(group, 4))
    least_s = min(
        sum(seconds_on(topology, demand.arcs, demand.hop_s, demand.load_s) for demand in demands)
        for topology in ALL_OF_FOUR
    )
    bounds = [least_seconds(demands, scope, 2 * least_s, 60, kind) for kind in PROGRAMS]
    places_s = nearest_first_s(demands, scope)
    assert max(bounds) <= least_s * (1 + 1e-6)
    assert places_s <= least_s * (1 + 1e-9)
    # The tree holds the places.
    assert bounds[0] >= places_s * (1 - 1e-6)
    # No bound is above what is asked for, and nothing that takes that long is ruled out.
    assert least_seconds(demands, scope, least_s * 1.001, 60) <= least_s * (1 + 1e-6)


def shift(gpus: int, by: int) -> Arcs:
    return tuple((rank, (rank + by) % gpus, 1.0) for rank in range(gpus))


def test_closed_forms() -> None:
    eight = Scope(8, 1, rank_group(1, 8))
    one = Demand(shift(8, 3), 2.0, 5.0)
    assert least_seconds([one], eight, 100, 10) == pytest.approx(7.0, rel=1e-5)
    # On one port one of two shifts goes over two hops, and each of its circuits carries two transfers at least: the
    # second shift costs 3 + 1 and 2 · (2 + 1), the other way around 2 · (3 + 1) and 2 + 1.
    both = [Demand(shift(8, 1), 3.0, 1.0), Demand(shift(8, 2), 2.0, 1.0)]
    assert least_seconds(both, eight, 100, 10, PROGRAMS[0]) == pytest.approx(10.0, rel=1e-4)
    assert nearest_first_s(both, eight) == pytest.approx(10.0)
    # Every other rank of nine at one of two ports: places 2 · 1, 4 · 2 and 2 · 3 hops.
    everyone = [Demand(shift(9, by), 1.0, 0.0) for by in range(1, 9)]
    assert nearest_first_s(everyone, Scope(9, 2, rank_group(1, 9))) == pytest.approx(16.0)


def test_fractions_of_circuits_are_between_the_optimum_and_eight_per_cent_below() -> None:
    """Recursive doubling on 8 GPUs of two ports, hops free: the optimum of whole circuits is 0.75 (by SCIP)."""
    demands = [Demand(shift(8, by), 0.0, share) for by, share in ((1, 0.5), (2, 0.25), (4, 0.125))]
    bound = least_seconds(demands, Scope(8, 2, rank_group(1, 8)), 2.0, 60)
    assert 0.75 * 0.92 <= bound <= 0.75 * (1 + 1e-6)


@pytest.mark.large
@pytest.mark.parametrize(("initial", "delay"), [("free", "300ns"), ("ring", "1us"), ("repeated", "500ns")])
@pytest.mark.parametrize(("algorithm", "collective"), [("recursive-doubling", "all-reduce"), ("direct", "all-to-all")])
def test_the_best_of_every_topology_is_between_bound_and_plan(
    algorithm: str, collective: str, initial: str, delay: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "MOST_FLOWS", 0)
    fabric = ll.Fabric(gpus=4, ports=2, hop_delay="700ns", reconfiguration_delay=delay, initial=initial)
    plan = ll.exact_plan(collective, "256KiB", fabric=fabric, algorithm=algorithm, budget="20s")
    schedule = ll.Schedule.build(algorithm, collective, 4)
    costs = [
        [
            seconds_on(topology, arcs_of(schedule, step), 700e-9, share * 2**18 * 8 / 800e9)
            for step, share in enumerate(schedule.shares)
        ]
        for topology in ALL_OF_FOUR
    ]
    change_s = {"300ns": 300e-9, "500ns": 500e-9, "1us": 1e-6}[delay]
    ring = ll.Topology.named("ring", 4, (), 2).links.tolist()
    start = next(index for index, topology in enumerate(ALL_OF_FOUR) if topology.links.tolist() == ring)
    least_s = (
        least_repeated(costs, change_s)
        if initial == "repeated"
        else least_over_cuts(costs, change_s, start if initial == "ring" else None)
    )
    best_s = len(schedule.shares) * 500e-9 + least_s
    assert plan.lower_bound_s <= best_s * (1 + 1e-6)
    assert plan.total_s >= best_s * (1 - 1e-9)
    assert plan.lower_bound_s >= plan.total_s * 0.8
    assert all(check.passed for check in ll.verify(plan))


def test_sixteen_gpus_are_proved() -> None:
    """Circuits to the ranks 1 and 4 apart: steps of 1, 2, 1, 2 hops and as much load, there and back."""
    fabric = ll.Fabric(gpus=16, ports=2)
    plan = ll.exact_plan("all-reduce", "64KiB", fabric=fabric, algorithm="recursive-doubling", budget="100s")
    bytes_s = 2**16 * 8 / 800e9
    expected = 8 * 0.5e-6 + 2 * (6 * 0.5e-6 + bytes_s * (1 / 2 + 2 / 4 + 1 / 8 + 2 / 16))
    assert plan.total_s == pytest.approx(expected, rel=1e-9)
    assert "the optimum, proved" in plan.bound_class
    assert plan.lower_bound_s == pytest.approx(expected, rel=1e-4)


@pytest.mark.large
@pytest.mark.parametrize("gpus", [32, 64])
@pytest.mark.parametrize(
    ("algorithm", "collective"),
    [
        ("recursive-doubling", "all-reduce"),
        ("halving-doubling", "reduce-scatter"),
        ("swing", "all-gather"),
        ("bruck", "all-to-all"),
        ("direct", "all-to-all"),
    ],
)
def test_it_is_never_above_weave_or_harvest_of_the_same_steps(algorithm: str, collective: str, gpus: int) -> None:
    fabric = ll.Fabric(gpus=gpus, ports=2)
    plan = ll.exact_plan(collective, "1MiB", fabric=fabric, algorithm=algorithm, budget="500ms")
    assert plan.lower_bound_s <= plan.total_s * (1 + 1e-9)
    for planner in ("weave", "harvest"):
        other = ll.plan(collective, "1MiB", fabric=fabric, algorithm=algorithm, planner=planner)
        # `weave` joins steps of a direct All-to-All, which is another schedule.
        if len(other.steps) == len(plan.steps):
            assert plan.total_s <= other.total_s * (1 + 1e-12)


def test_shifts_of_a_group() -> None:
    steps = [Demand(shift(6, 1), 1.0, 1.0)]
    every = list(cayley_topologies(steps, Scope(6, 2, rank_group(1, 6))))
    pairs = itertools.combinations_with_replacement(range(1, 6), 2)
    expected = [sorted([src, (src + by) % 6, pair.count(by)] for src in range(6) for by in set(pair)) for pair in pairs]
    assert [topology.links.tolist() for topology in every] == expected
    assert not list(cayley_topologies(steps, Scope(6, 2, rank_group(2, 6))))
    many = list(cayley_topologies(steps, Scope(64, 4, rank_group("xor:1", 64))))
    assert math.comb(15 + 3, 4) > 3000 >= len(many) == math.comb(14 + 3, 4)
    priced = PricedTopology(many[0])
    assert sum(count for src, _, count in priced.links if src == 0) == 4


def test_the_largest_group_that_keeps_the_steps() -> None:
    xor = tuple((rank, rank ^ 1, 1.0) for rank in range(8))
    assert keeping_group(8, [shift(8, 1), shift(8, 2)]).name == "translations by 1"
    assert keeping_group(8, [xor]).name == "XOR with multiples of 1"
    assert len(keeping_group(8, [xor, shift(8, 1)]).elements) == 4
    assert len(keeping_group(8, [((0, 1, 1.0),)]).elements) == 1
    swing = ll.Schedule.build("swing", "all-gather", 16)
    turned = keeping_group(16, [arcs_of(swing, step) for step in range(4)])
    assert turned.representatives == [0]
    # A group that acts freely: closed, and only the identity leaves a rank where it is.
    assert {
        tuple(one[other[rank]] for rank in range(16)) for one in turned.elements for other in turned.elements
    } == set(turned.elements)
    assert sum(element[rank] == rank for element in turned.elements for rank in range(16)) == 16

"""Planner `exact`: against every topology there is, against circulants tried one by one, and its refusals."""

import itertools
import json
import math
import time
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import pytest

import lightloom as ll
from lightloom.exact.demands import Demand, PricedTopology
from lightloom.exact.groups import rank_group
from lightloom.exact.intervals import TOLERANCE, Costs, Intervals
from lightloom.exact.program import Scope
from lightloom.planning import FrontPoint
from tests.conftest import RunCli

pytestmark = pytest.mark.slow

Arcs = tuple[tuple[int, int, float], ...]


def every_topology(gpus: int, ports: int) -> list[ll.Topology]:
    """All directed multigraphs of at most that many circuits out of and into each GPU, by brute force."""
    rows = [row for row in itertools.product(range(ports + 1), repeat=gpus) if sum(row) <= ports]
    topologies = []
    for matrix in itertools.product(*([row for row in rows if row[gpu] == 0] for gpu in range(gpus))):
        if all(sum(column) <= ports for column in zip(*matrix, strict=True)) and sum(map(sum, matrix)) >= gpus:
            links = [(src, dst, count) for src, row in enumerate(matrix) for dst, count in enumerate(row) if count]
            topologies.append(ll.Topology.from_links("one", gpus, links))
    return topologies


@cache
def front(topology: ll.Topology, arcs: Arcs) -> list[FrontPoint]:
    return ll.profile(topology, arcs)


def seconds_on(topology: ll.Topology, arcs: Arcs, hop_s: float, load_s: float) -> float:
    points = front(topology, arcs)
    return min((hop_s * point.hops + load_s * point.load for point in points), default=math.inf)


def least_over_cuts(costs: Sequence[Sequence[float]], change_s: float, start: int | None) -> float:
    """The least time over all sequences of topologies; `costs[topology][step]`."""
    before = [0.0 if start is None or topology == start else change_s for topology in range(len(costs))]
    for step in range(len(costs[0])):
        if step > 0:
            before = [min(value, min(before) + change_s) for value in before]
        before = [value + costs[topology][step] for topology, value in enumerate(before)]
    return min(before)


def least_repeated(costs: Sequence[Sequence[float]], change_s: float) -> float:
    """The least time of one of many runs, each of which starts on the topology that the one before ended on."""
    steps = np.array(costs).T
    starts = len(costs)
    # By the topology that is in force before the first step, and the one that is now.
    spent = np.where(np.eye(starts, dtype=bool), 0.0, math.inf)
    for step in steps:
        np.minimum(spent, spent.min(axis=1, keepdims=True) + change_s, out=spent)
        spent += step
    return float(spent.diagonal().min())


def arcs_of(schedule: ll.Schedule, step: int) -> Arcs:
    transfers = schedule.transfers(step)
    most = max(len(chunks) for *_, chunks in transfers)
    return tuple(sorted((src, dst, len(chunks) / most) for src, dst, _, chunks in transfers))


ALL_OF_FOUR = every_topology(4, 2)


@pytest.mark.large
@pytest.mark.parametrize(
    ("delay", "initial"),
    [("100ns", "free"), ("3us", "ring"), ("1s", "free"), ("100ns", "repeated"), ("2us", "repeated")],
)
@pytest.mark.parametrize("hop_delay", ["0ns", "700ns"])
@pytest.mark.parametrize(
    ("algorithm", "collective"),
    [("recursive-doubling", "all-reduce"), ("halving-doubling", "reduce-scatter"), ("bruck", "all-to-all")],
)
def test_equals_the_best_of_every_topology(
    algorithm: str, collective: str, hop_delay: str, delay: str, initial: str
) -> None:
    fabric = ll.Fabric(gpus=4, ports=2, hop_delay=hop_delay, reconfiguration_delay=delay, initial=initial)
    plan = ll.plan(collective, "256KiB", fabric=fabric, algorithm=algorithm, planner="exact")
    schedule = ll.Schedule.build(algorithm, collective, 4)
    hop_s = {"0ns": 0.0, "700ns": 700e-9}[hop_delay]
    topologies = ALL_OF_FOUR
    start = None
    if initial == "ring":
        ring = ll.Topology.named("ring", 4, (), 2).links.tolist()
        start = next(index for index, topology in enumerate(topologies) if topology.links.tolist() == ring)
    costs = [
        [
            seconds_on(topology, arcs_of(schedule, step), hop_s, share * 2**18 * 8 / 800e9)
            for step, share in enumerate(schedule.shares)
        ]
        for topology in topologies
    ]
    change_s = {"100ns": 100e-9, "2us": 2e-6, "3us": 3e-6, "1s": 1.0}[delay]
    least_s = least_repeated(costs, change_s) if initial == "repeated" else least_over_cuts(costs, change_s, start)
    expected = len(schedule.shares) * 500e-9 + least_s
    assert plan.total_s == pytest.approx(expected, rel=TOLERANCE)
    assert plan.lower_bound_s <= expected * (1 + 1e-6)
    assert plan.lower_bound_s >= plan.total_s * (1 - TOLERANCE)
    assert plan.planner == "exact"
    assert "the optimum, proved" in plan.bound_class
    assert all(check.passed for check in ll.verify(plan))


@pytest.mark.large
@pytest.mark.parametrize("hop_delay", ["0ns", "500ns"])
@pytest.mark.parametrize(("algorithm", "gpus"), [("bruck", 5), ("direct", 5), ("swing", 4)])
def test_the_program_agrees_with_the_core_that_tries_every_topology_of_one_port(
    algorithm: str, gpus: int, hop_delay: str
) -> None:
    fabric = ll.Fabric(gpus=gpus, hop_delay=hop_delay, reconfiguration_delay="4us")
    collective = "all-gather" if algorithm == "swing" else "all-to-all"
    core = ll.plan(collective, "1MiB", fabric=fabric, algorithm=algorithm, planner="exact")
    problem = ll.Problem(collective, "1MiB", fabric=fabric, algorithm=algorithm)
    hop_s = {"0ns": 0.0, "500ns": 500e-9}[hop_delay]
    schedule = ll.Schedule.build(algorithm, collective, gpus)
    steps = [
        Demand(arcs_of(schedule, step), hop_s, share * 2**20 * 8 / 800e9) for step, share in enumerate(schedule.shares)
    ]
    scope = Scope(gpus, 1, rank_group(None, gpus))
    known = [PricedTopology(topology) for topology in problem.candidates[:1]]
    intervals = Intervals(steps, scope, Costs(4e-6, None), known)
    intervals.prove(time.monotonic() + 60, lambda _text: None, lambda: None)
    found = len(steps) * 500e-9 + intervals.cut(lower=False).total_s
    assert found == pytest.approx(core.total_s, rel=TOLERANCE)
    assert len(steps) * 500e-9 + intervals.cut(lower=True).total_s <= core.total_s * (1 + 1e-6)


def circulants(gpus: int) -> Iterable[ll.Topology]:
    for one, two in itertools.combinations_with_replacement(range(1, gpus), 2):
        links = [(rank, (rank + step) % gpus, 1 + (one == two)) for rank in range(gpus) for step in {one, two}]
        yield ll.Topology.from_links(f"circulant {one} {two}", gpus, links)


@pytest.mark.large
@pytest.mark.parametrize(
    ("algorithm", "collective"), [("recursive-doubling", "reduce-scatter"), ("bruck", "all-to-all")]
)
def test_invariant_under_all_translations_is_the_best_circulant(algorithm: str, collective: str) -> None:
    fabric = ll.Fabric(gpus=16, ports=2, hop_delay="0ns", reconfiguration_delay="1s")
    plan = ll.exact_plan(collective, "1MiB", fabric=fabric, algorithm=algorithm, invariant_under=1)
    schedule = ll.Schedule.build(algorithm, collective, 16)
    expected = min(
        sum(seconds_on(topology, arcs_of(schedule, step), 0.0, share) for step, share in enumerate(schedule.shares))
        for topology in circulants(16)
    )
    loads = sum(share * step.load for share, step in zip(schedule.shares, plan.steps, strict=True))
    assert loads == pytest.approx(expected, rel=TOLERANCE)
    assert "invariant under translations by 1" in plan.bound_class


@pytest.mark.large
def test_two_generators_beat_observation_4_with_two_ports() -> None:
    """Recursive doubling on 32 GPUs of two ports: {1, 2} has 1.1667, twice the ring of the first distance 1.25."""
    fabric = ll.Fabric(gpus=32, ports=2, hop_delay="0ns", reconfiguration_delay="1s")
    plan = ll.exact_plan("reduce-scatter", "1MiB", fabric=fabric, algorithm="recursive-doubling", invariant_under="1")
    assert sum(step.load * step.transfer_bytes for step in plan.steps) / 2**20 == pytest.approx(7 / 6, rel=1e-4)


def test_a_proof_that_has_no_time_says_what_it_has() -> None:
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="1s")
    plan = ll.exact_plan("all-to-all", "1MiB", fabric=fabric, algorithm="bruck", budget=1e-3)
    assert plan.lower_bound_s < plan.total_s
    assert "may not be the optimum" in plan.bound_class
    assert all(check.passed for check in ll.verify(plan))


def test_groups() -> None:
    translations, xor = rank_group(2, 8), rank_group("xor:4", 8)
    assert translations.representatives == [0, 1]
    assert xor.elements == (tuple(range(8)), (4, 5, 6, 7, 0, 1, 2, 3))
    assert translations.keeps([(rank, (rank + 3) % 8, 1.0) for rank in range(8)])
    assert not translations.keeps([(0, 1, 1.0)])
    assert rank_group(None, 6).representatives == list(range(6))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"invariant_under": 3}, "invariant_under"),
        ({"invariant_under": "8"}, "invariant_under"),
        ({"invariant_under": "xor:x"}, "invariant_under"),
        ({"invariant_under": 1, "algorithm": "swing"}, "invariant_under"),
        ({"budget": 0}, "budget"),
        ({"budget": "soon"}, "budget"),
        ({"candidates": "ring"}, "candidates"),
        ({"routing": "single-path"}, "routing"),
        ({"overlap": "pipelined"}, "overlap"),
        ({"planner": "harvest"}, "planner"),
        ({"algorithm": "auto"}, "algorithm"),
        ({"fabric": ll.Fabric(gpus=8, ports=2, reconfiguration_delay="20ns/port")}, "reconfiguration_delay"),
        ({"fabric": ll.Fabric(gpus=128, ports=2)}, "gpus"),
        ({"fabric": ll.Fabric(gpus=32, ports=2), "invariant_under": 16}, "invariant_under"),
    ],
)
def test_what_it_does_not_take_is_refused_by_name(arguments: dict[str, object], field: str) -> None:
    given: dict[str, object] = {"fabric": ll.Fabric(gpus=8, ports=2), "algorithm": "recursive-doubling", **arguments}
    with pytest.raises(ll.InputError, match=f"^{field}: "):
        ll.exact_plan("reduce-scatter", "1MiB", **given)  # type: ignore[arg-type]


def test_others_take_no_budget() -> None:
    with pytest.raises(ll.InputError, match=r"^budget: it is for planner weave or never-change or exact, not"):
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), budget="1s")
    with pytest.raises(ll.InputError, match=r"^invariant_under: it is for planner exact"):
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8), planner="harvest", invariant_under=2)


@pytest.mark.large
def test_command_line(cli: RunCli) -> None:
    problem = ("--collective", "reduce-scatter", "--size", "1MiB", "--algorithm", "swing", "--planner", "exact")
    ran = cli(
        "plan", *problem, "--gpus", 8, "--ports", 2, "--invariant-under", 2, "--budget", "60s", "--format", "json"
    )
    assert (ran.status, ran.err) == (0, "")
    plan = json.loads(ran.out)
    assert plan["planner"] == "exact"
    assert plan["total_s"] == pytest.approx(plan["lower_bound_s"], rel=TOLERANCE)
    ran = cli("plan", *problem, "--gpus", 8)
    assert ran.status == 0
    assert "all 40320 permutations tried" in " ".join(ran.out.split())
    ran = cli("plan", *problem, "--gpus", 16)
    assert ran.status == 2
    assert ran.err == (
        "error: gpus: 16 is not accepted; it takes at most 9 with planner exact and one port: it tries all n! "
        "topologies\n"
    )


def test_nothing_runs_it_unasked(cli: RunCli) -> None:
    ran = cli("compare", "--collective", "all-gather", "--size", "1MiB", "--gpus", 8, "--format", "json")
    assert "exact" not in {row["planner"] for row in json.loads(ran.out)["rows"]}
    named = cli(
        "compare", "--collective", "all-gather", "--size", "1MiB", "--gpus", 8, "--planner", "exact", "--format", "json"
    )
    assert {row["planner"] for row in json.loads(named.out)["rows"] if row["total_s"] is not None} == {"exact"}

"""All functions that state a plan's time agree with `plan`: the same time to the last bit, planner and algorithm.

Numbers of reconfigurations are not compared: where a change takes exactly as long as the hops that it saves, plans of
one time have different ones.
"""

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom import _core
from lightloom.sweeps.benchmark_runs import run_benchmark
from lightloom.sweeps.benchmarks import Benchmark, BenchmarkSeries
from lightloom_papers.figure import Setting
from lightloom_papers.measure import Case

pytestmark = pytest.mark.slow

REGISTRY = _core.registry()
PLANNERS = ["auto", "auto-given", *(entry["name"] for entry in REGISTRY["planners"])]
# Planners that choose among several; each row of `compare` is of one planner.
SEVERAL = ("auto", "auto-given")


class Asked(NamedTuple):
    """A problem, and the sizes and delays at which it is planned."""

    collective: str
    fabric: dict[str, Any]
    settings: dict[str, Any]
    sizes: tuple[int, ...]
    delays: tuple[float, ...]
    per_port: str

    def fabric_at(self, delay_s: float) -> ll.Fabric:
        """The fabric with that fixed delay."""
        return ll.Fabric(**self.fabric, reconfiguration_delay=f"{delay_s!r}s{self.per_port}")

    @property
    def points(self) -> list[tuple[int, float]]:
        """Sizes varying slowest."""
        return list(product(self.sizes, self.delays))


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """Round numbers, at which plans tie, and any others."""
    planner = draw(st.sampled_from(PLANNERS))
    collective = draw(st.sampled_from([entry["name"] for entry in REGISTRY["collectives"]]))
    gpus = draw(st.sampled_from([2, 3, 4, 5, 6] if planner == "exact" else [2, 3, 4, 5, 6, 8, 9, 12]))
    algorithms = [entry["name"] for entry in REGISTRY["algorithms"] if collective in entry["collectives"].split(", ")]
    if draw(st.booleans()):
        sizes = st.sampled_from([1, 1000, 1 << 10, 1 << 14, 1 << 20, 10**6, 1 << 26])
        delays = st.sampled_from([0.0, 1e-8, 1e-7, 1e-6, 2e-6, 1e-5, 1e-3])
        latency, rate = st.sampled_from([0.0, 500e-9, 1e-6]), st.sampled_from([1e11, 4e11, 8e11])
    else:
        sizes, delays = st.integers(1, 10**9), st.floats(1e-9, 1e-2)
        latency, rate = st.floats(1e-8, 1e-5), st.floats(1e10, 1e13)
    fabric = {
        "gpus": gpus,
        "ports": 1 if planner == "exact" else draw(st.integers(1, 3)),
        "initial": draw(st.sampled_from(["free", "free", "ring", "dark"])),
        "startup": draw(latency),
        "hop_delay": draw(latency),
        "bandwidth": draw(rate),
    }
    chosen = {
        "planner": planner,
        "algorithm": draw(st.sampled_from(["auto", "auto", *algorithms])),
        "routing": draw(st.sampled_from([None, None, "equal-split", "single-path"])),
        "overlap": draw(st.sampled_from([None, None, None, "pipelined"])),
    }
    given_settings = {key: value for key, value in chosen.items() if value is not None}
    least, most = 2, 6
    return Asked(
        collective,
        fabric,
        given_settings,
        tuple(draw(st.lists(sizes, min_size=least, max_size=most, unique=True))),
        tuple(draw(st.lists(delays, min_size=least, max_size=most, unique=True))),
        draw(st.sampled_from(["", "", "+20ns/port"])),
    )


def _said(plan: ll.Plan) -> tuple[float, str, str]:
    return plan.total_s, plan.planner, plan.algorithm


@pytest.mark.large
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(asked())
def test_every_evaluator_of_a_point_says_what_plan_says(of: Asked) -> None:
    points = [(size, of.fabric_at(delay_s)) for size, delay_s in of.points]
    try:
        plans = [ll.plan(of.collective, size, fabric=fabric, **of.settings) for size, fabric in points]
    except ll.InputError:
        assume(False)
    said = [_said(plan) for plan in plans]
    bounds_s = [plan.lower_bound_s for plan in plans]

    problem = ll.Problem(of.collective, fabric=of.fabric_at(of.delays[0]), **of.settings)
    sizes, delays_s = zip(*of.points, strict=True)
    swept = problem.sweep(list(sizes), list(delays_s), bound=True)
    assert swept.lower_bound_s is not None
    columns = swept.total_s, swept.planner, swept.algorithm
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == said
    assert swept.lower_bound_s.tolist() == bounds_s

    for delay_s in of.delays:
        sized = ll.plan_sizes(of.collective, list(of.sizes), fabric=of.fabric_at(delay_s), **of.settings)
        at_delay = [told for told, (_, delay) in zip(said, of.points, strict=True) if delay == delay_s]
        assert [(row.total_s, row.planner, row.algorithm) for row in sized.rows] == at_delay

    delays = [f"{delay_s!r}s{of.per_port}" for delay_s in of.delays]
    axes = {"size": list(of.sizes), "reconfiguration_delay": delays}
    described = {"collective": of.collective, **of.fabric, **of.settings}
    table = ll.sweep({"settings": described, "axes": axes, "metrics": ["time", "gap"]})
    rows = list(range(len(points)))
    if of.per_port:
        # Delays per port are problems of their own, and vary slowest.
        rows.sort(key=lambda row: of.delays.index(of.points[row][1]))
    names = ("total_s", "chosen_planner", "chosen_algorithm", "lower_bound_s")
    assert list(zip(*(table[name].tolist() for name in names), strict=True)) == [
        (*said[row], bounds_s[row]) for row in rows
    ]

    cases = [Case.of(of.collective, size, fabric, **of.settings) for size, fabric in points]
    assert [(one.total_s, one.planner, one.algorithm) for one in Setting().measure(cases)] == said

    size, fabric = points[0]
    compared = ll.compare(of.collective, size, fabric=fabric, **of.settings).rows
    served = [(row.total_s, row.planner, row.algorithm) for row in compared if row.total_s is not None]
    if of.settings["planner"] in SEVERAL:
        # The row of a planner that brings its own algorithm is of that one, where another is named, too.
        kept = of.settings["algorithm"]
        total_s, planner, _ = said[0]
        if all(row[2] == kept for row in served if row[1] == planner and kept != "auto"):
            served = [row for row in served if kept == "auto" or row[2] == kept]
            assert served[0] == said[0]
        else:
            assert next(row[0] for row in served if row[1] == planner) <= total_s
    else:
        assert said[0] in served


@pytest.mark.large
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(asked())
def test_a_benchmark_says_what_plan_says(of: Asked) -> None:
    sizes = tuple(f"{size}B" for size in of.sizes)
    delays = tuple(f"{delay_s!r}s" for delay_s in of.delays)
    series = BenchmarkSeries("one", of.collective, ll.Fabric(**of.fabric), sizes, delays)
    with TemporaryDirectory() as folder:
        points = run_benchmark(Benchmark("random", "random", "here", (series,)), Path(folder))
    assert [(point.size_bytes, point.reconfiguration_delay_s) for point in points] == of.points
    for point in points:
        fabric = (
            of.fabric_at(point.reconfiguration_delay_s)
            if not of.per_port
            else ll.Fabric(**of.fabric, reconfiguration_delay=point.reconfiguration_delay_s)
        )
        best = ll.plan(of.collective, point.size_bytes, fabric=fabric)
        assert (point.total_s, point.planner, point.algorithm) == _said(best)
        assert point.lower_bound_s == best.lower_bound_s
        papers = ll.plan(of.collective, point.size_bytes, fabric=fabric, planner="auto-given")
        assert (point.papers_s, point.papers_planner) == (papers.total_s, papers.planner)
        if point.papers_algorithm != papers.algorithm:
            # Plans that tie only at this point, to the last bit.
            named = ll.plan(
                of.collective,
                point.size_bytes,
                fabric=fabric,
                planner=papers.planner,
                algorithm=point.papers_algorithm,
            )
            assert named.total_s == papers.total_s

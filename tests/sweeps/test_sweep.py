"""Sweeps: every point equals a plan of its own, in the shape that NumPy broadcasts to."""

from dataclasses import replace

import numpy as np
import pytest

import lightloom as ll
from lightloom.inputs.options import Settings

FABRIC = ll.Fabric(gpus=16, ports=2)


def test_every_point_equals_its_plan() -> None:
    problem = ll.Problem("all-reduce", fabric=FABRIC, algorithm="swing", planner="harvest")
    sizes, delays = ["1KiB", "1MiB", "64MiB"], ["0s", "1us", "100us", "10ms"]
    swept = problem.sweep(np.array(sizes)[:, None], delays)
    assert swept.total_s.shape == swept.reconfigurations.shape == (3, 4)
    for row, size in enumerate(sizes):
        for column, delay in enumerate(delays):
            fabric = ll.Fabric(gpus=16, ports=2, reconfiguration_delay=delay)
            plan = ll.plan("all-reduce", size=size, fabric=fabric, algorithm="swing", planner="harvest")
            assert swept.total_s[row, column] == plan.total_s
            assert swept.reconfigurations[row, column] == plan.reconfigurations


def test_time_rises_with_size_and_delay_and_changes_fall_with_delay() -> None:
    problem = ll.Problem("all-to-all", fabric=FABRIC, algorithm="direct")
    swept = problem.sweep(np.logspace(3, 9, 25).round()[:, None], np.logspace(-8, -2, 25))
    assert np.all(np.diff(swept.total_s, axis=0) >= 0)
    assert np.all(np.diff(swept.total_s, axis=1) >= -1e-18)
    assert np.all(np.diff(swept.reconfigurations.astype(int), axis=1) <= 0)


def test_a_single_point_has_no_shape() -> None:
    problem = ll.Problem("all-gather", fabric=FABRIC, algorithm="ring")
    assert problem.sweep("1MiB", 1e-6).total_s.shape == ()
    assert problem.steps == 15
    assert problem.algorithm == "ring"
    assert all(topology.gpus == 16 for topology in problem.candidates)


@pytest.mark.parametrize(
    ("sizes", "delays", "field"),
    [
        ([1, 2], [1e-6, 1e-6, 1e-6], "sizes"),
        ([0], [1e-6], "sizes"),
        ([-1], [1e-6], "sizes"),
        (["1XB"], [1e-6], "sizes"),
        ([float("nan")], [1e-6], "sizes"),
        ([1], [float("inf")], "delays"),
        ([1], [-1e-6], "delays"),
        ([1], ["soon"], "delays"),
        ([[1, 2], [3]], [1e-6], "sizes"),
    ],
)
def test_wrong_points(sizes: list[object], delays: list[object], field: str) -> None:
    problem = ll.Problem("all-gather", fabric=FABRIC, algorithm="ring")
    with pytest.raises(ll.InputError) as raised:
        problem.sweep(sizes, delays)  # type: ignore[arg-type]
    assert raised.value.field == field
    assert str(raised.value).startswith(f"{field}: ")


@pytest.mark.parametrize("planner", ["static", "bvn", "short-circuit", "pccl"])
def test_a_named_planner_is_the_one_that_sweeps(planner: str) -> None:
    fabric = ll.Fabric(gpus=8, initial="ring")
    settings: Settings = {"algorithm": "recursive-doubling", "planner": planner}
    sizes, delays = [1024, 1 << 24], [1e-7, 1e-5]
    swept = ll.Problem("reduce-scatter", fabric=fabric, **settings).sweep(np.array(sizes)[:, None], delays)
    for row, size in enumerate(sizes):
        for column, delay_s in enumerate(delays):
            plan = ll.plan("reduce-scatter", size, fabric=replace(fabric, reconfiguration_delay=delay_s), **settings)
            assert swept.total_s[row, column] == plan.total_s
            assert swept.reconfigurations[row, column] == plan.reconfigurations


def test_points_may_differ_in_every_number_and_say_what_was_taken() -> None:
    problem = ll.Problem("all-to-all", fabric=ll.Fabric(gpus=8, initial="ring"))
    sizes: list[str | float] = ["1KiB/pair", 3 << 20]
    rates: list[str | float] = ["100Gbps", 8e11]
    startups, hop_delays = "2us", [0.0, 1e-6]
    swept = problem.sweep(
        sizes, ["10us", "1ms"], bandwidths=rates, startups=startups, hop_delays=hop_delays, bound=True
    )
    assert swept.lower_bound_s is not None
    for index, delay in enumerate(("10us", "1ms")):
        fabric = ll.Fabric(
            gpus=8,
            initial="ring",
            bandwidth=rates[index],
            startup=startups,
            hop_delay=hop_delays[index],
            reconfiguration_delay=delay,
        )
        plan = ll.plan("all-to-all", sizes[index], fabric=fabric)
        assert swept.total_s[index] == plan.total_s
        assert (swept.planner[index], swept.algorithm[index]) == (plan.planner, plan.algorithm)
        assert swept.lower_bound_s[index] == pytest.approx(plan.lower_bound_s, rel=1e-9)


def test_a_matrix_has_no_size_per_pair() -> None:
    problem = ll.Problem("all-to-all", fabric=ll.Fabric(gpus=4), matrix=np.ones((4, 4)) * 1024)
    with pytest.raises(ll.InputError, match=r"^sizes: `1KiB/pair` is not accepted with a matrix"):
        problem.sweep("1KiB/pair", 1e-6)


def test_an_open_algorithm_is_swept_and_has_no_steps() -> None:
    problem = ll.Problem("all-gather", fabric=ll.Fabric(gpus=4))
    assert problem.sweep("1MiB", 1e-6).planner.shape == ()
    with pytest.raises(ll.InputError, match=r"^algorithm: "):
        _ = problem.steps

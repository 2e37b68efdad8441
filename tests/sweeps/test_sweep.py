"""Sweeps: every point is what a plan of its own gives, in the shape that NumPy broadcasts to."""

from dataclasses import replace

import numpy as np
import pytest

import lightloom as ll
from lightloom.requests import Settings

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
            assert swept.total_s[row, column] == pytest.approx(plan.total_s, rel=1e-12)
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
            assert swept.total_s[row, column] == pytest.approx(plan.total_s, rel=1e-12)
            assert swept.reconfigurations[row, column] == plan.reconfigurations

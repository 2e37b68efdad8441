"""Timelines, traces and pictures of runs, checked by the moments that were measured."""

from __future__ import annotations

import dataclasses
import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

import lightloom as ll
from lightloom.running.measurement import Measurement
from lightloom.running.timeline import measured_steps, planned_steps, ranks_in_step, shown_run
from lightloom.views.pictures.run import COLOURS
from tests.conftest import RunCli
from tests.picture_checks import faults

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")
FABRIC = ll.Fabric(gpus=4, reconfiguration_delay="10us")


@pytest.fixture(scope="module")
def changing() -> Measurement:
    """Circuits change before a step."""
    plan = ll.plan("all-reduce", "8KiB", fabric=FABRIC, planner="bvn", algorithm="halving-doubling")
    return ll.run(plan, runs=3, warm_ups=0, dilation=100)


@pytest.fixture(scope="module")
def forwarding() -> Measurement:
    """Ranks pass on data of others."""
    plan = ll.plan("all-to-all", "8KiB", fabric=FABRIC, algorithm="direct", planner="static", topology="ring:one-way")
    return ll.run(plan, runs=1, warm_ups=0, dilation=100)


def test_the_shown_run_is_the_one_in_the_middle(changing: Measurement) -> None:
    assert changing.times.total_s[shown_run(changing)] == changing.measured.median


def test_planned_parts_are_the_terms_of_the_plan(changing: Measurement) -> None:
    steps = planned_steps(changing)
    assert steps[-1][-1].last_s == pytest.approx(changing.plan.total_s)
    for parts, step in zip(steps, changing.plan.steps, strict=True):
        lengths = {part.name: part.last_s - part.first_s for part in parts}
        terms = {"dark": step.reconfiguration_s, "startup": step.startup_s, "transmission": step.transmission_s}
        assert {name: lengths.get(name, 0.0) for name in terms} == pytest.approx(terms, abs=1e-15)
        assert [one.last_s for one, _ in pairwise(parts)] == [other.first_s for _, other in pairwise(parts)]


def test_a_transport_without_hop_delay_is_planned_without(forwarding: Measurement) -> None:
    settings = dataclasses.replace(forwarding.settings, transport="kernel")
    parts = (forwarding.times, forwarding.jitter, forwarding.arrays, forwarding.wrong, forwarding.windows_s)
    without = Measurement(forwarding.plan, settings, *parts)
    assert any(part.name == "propagation" for step in planned_steps(forwarding) for part in step)
    assert not any(part.name == "propagation" for step in planned_steps(without) for part in step)
    assert planned_steps(without)[-1][-1].last_s == pytest.approx(without.predicted_s)


def test_measured_parts_are_in_order_and_of_each_step(changing: Measurement) -> None:
    run = shown_run(changing)
    times = changing.times
    for index, parts in enumerate(measured_steps(changing, run)):
        assert all(part.last_s > part.first_s for part in parts)
        assert all(one.last_s <= other.first_s for one, other in pairwise(parts))
        assert (parts[0].name == "dark") == changing.plan.steps[index].reconfigured
        assert (parts[0].first_s, parts[-1].last_s) == (times.begun_s[run, index], times.end_s[run, index])
        for rank, of_rank in enumerate(ranks_in_step(changing, run, index)):
            assert (of_rank[0].first_s, of_rank[-1].last_s) == (times.start_s[run, index], times.end_s[run, index])
            waited_s = sum(part.last_s - part.first_s for part in of_rank if part.name == "waiting")
            assert waited_s == times.end_s[run, index] - times.arrived_s[run, index, rank]


def test_a_trace_shows_plan_run_ranks_and_circuits(changing: Measurement, in_tmp: Path) -> None:
    changing.trace("trace.json")
    trace = json.loads((in_tmp / "trace.json").read_text(encoding="utf-8"))
    named = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in trace["traceEvents"]
        if event["ph"] == "M" and event["name"].endswith("_name")
    }
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            rows.setdefault((named[event["pid"], 0], named[event["pid"], event["tid"]]), []).append(event)
    run, steps = shown_run(changing), len(changing.plan.steps)
    measured = f"measured, run {run + 1}"
    for group, total_s in (("planned", changing.predicted_s), (measured, changing.times.end_s[run, -1])):
        found = rows[group, "steps"]
        assert [event["name"].partition(":")[0] for event in found] == [f"step {n + 1}" for n in range(steps)]
        assert found[-1]["ts"] + found[-1]["dur"] == pytest.approx(total_s * 1e6, abs=2e-3)
        assert len(rows[group, "dark"]) == changing.plan.reconfigurations
    assert {row for group, row in rows if group == "ranks"} == {f"rank {rank}" for rank in range(4)}
    sent = sum(event["args"]["bytes"] for (group, _), row in rows.items() if group == "circuits" for event in row)
    assert sent == changing.times.circuit_bytes[run].sum()


def test_forwarded_bytes_are_those_of_the_paths(forwarding: Measurement) -> None:
    # On a ring one way, a block to the second next rank passes one, to the third next two.
    blocks = 4 * (1 + 2)
    assert sum(step.forwarded_bytes for step in forwarding.steps) == blocks * forwarding.plan.size_bytes // 4


def test_the_picture_shows_of_dark_time_what_computation_does_not_hide() -> None:
    fabric = ll.Fabric(gpus=4, reconfiguration_delay="30us", window="20us")
    plan = ll.plan("all-reduce", "8KiB", fabric=fabric, planner="bvn", algorithm="halving-doubling")
    assert plan.reconfigurations > 0
    above, _ = ll.run(plan, runs=1, warm_ups=0, dilation=100).plot().axes
    (collection,) = above.collections
    colours = np.asarray(collection.get_facecolor())
    corners = [np.asarray(path.vertices)[:, 0] for path in collection.get_paths()]
    dark = [
        np.ptp(found)
        for found, colour in zip(corners, colours, strict=True)
        if to_hex(colour).upper() == COLOURS["dark"]
    ]
    planned_s, measured_s = np.split(np.array(dark), 2)
    assert planned_s == pytest.approx([10e-6] * plan.reconfigurations)
    # Never less than it takes, whatever the machine does.
    assert measured_s.min() >= 10e-6 * (1 - 1e-3)


@pytest.mark.parametrize("which", ["changing", "forwarding"])
def test_pictures_show_every_moment_and_can_be_read(which: str, request: pytest.FixtureRequest) -> None:
    measurement = request.getfixturevalue(which)
    figure = measurement.plot()
    above, below = figure.axes
    run, ranks = shown_run(measurement), measurement.plan.gpus
    for axes, shown in (
        (above, planned_steps(measurement) + measured_steps(measurement, run)),
        (below, [part for step in range(len(measurement.steps)) for part in ranks_in_step(measurement, run, step)]),
    ):
        corners = [np.asarray(path.vertices)[:, 0] for path in axes.collections[0].get_paths()]
        boxes = {(float(found.min()), float(found.max())) for found in corners}
        assert {part[1:] for parts in shown for part in parts} <= boxes
    assert below.get_ylim() == (ranks - 0.5, -0.5)
    assert not faults(figure)


def test_every_part_has_a_colour_and_few_share_one() -> None:
    from lightloom.running.timeline import PARTS

    assert set(COLOURS) == set(PARTS)
    # The plan's transmission is measured as transfer.
    assert len(set(COLOURS.values())) == len(PARTS) - 1


def test_the_verb_writes_picture_and_trace(cli: RunCli, in_tmp: Path) -> None:
    ll.plan("all-gather", "4KiB", fabric=ll.Fabric(gpus=2)).save("plan.json")
    ran = cli(
        "run", "plan.json", "--runs", 1, "--warm-ups", 0, "--dilation", 100, "--plot", "t.svg", "--trace", "t.json.gz"
    )
    assert ran.status == 0, ran.err
    assert (in_tmp / "t.svg").read_bytes().startswith(b"<?xml")
    assert (in_tmp / "t.json.gz").read_bytes().startswith(b"\x1f\x8b")
    for option, name in (("--plot", "t.txt"), ("--trace", "t.txt")):
        assert cli("run", "plan.json", option, name).status == 2

"""Traces and pictures of simulations, checked by their data."""

import gzip
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.views.perfetto import simulation as tracing
from tests.conftest import RunCli
from tests.simulated_plans import reconfigured, ring, uneven

MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


def spans(trace: dict[str, Any]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Complete events by the names of their process and thread."""
    named: dict[tuple[int, int], str] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M" and event["name"].endswith("_name"):
            named[event["pid"], event["tid"]] = event["args"]["name"]
    found = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            found[named[event["pid"], 0], named[event["pid"], event["tid"]]].append(event)
    return found


@pytest.mark.parametrize("make", [ring, reconfigured, uneven])
@pytest.mark.parametrize("sync", ["barrier", "dataflow"])
def test_a_trace_shows_every_step_gpu_and_circuit(in_tmp: Path, make: Any, sync: str) -> None:
    simulation = ll.simulate(make(), sync=sync)
    simulation.trace(in_tmp / "trace.json.gz")
    trace = json.loads(gzip.decompress((in_tmp / "trace.json.gz").read_bytes()))
    assert trace["otherData"]["total_s"] == simulation.total_s
    rows = spans(trace)
    threads: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            assert event["dur"] >= 0
            start = round(event["ts"] * 1e3)
            threads[event["pid"], event["tid"]].append((start, start + round(event["dur"] * 1e3)))
    for intervals in threads.values():
        # In order; each after the one before, or within it.
        for (first, last), (start, end) in pairwise(intervals):
            assert start >= first
            assert start >= last or end <= last
    steps = sorted(rows["steps", "steps"], key=lambda event: event["ts"])
    assert [event["name"].partition(":")[0] for event in steps] == [f"step {n + 1}" for n in range(len(steps))]
    assert [(event["args"]["start_s"], event["args"]["end_s"]) for event in steps] == [
        (step.start_s, step.end_s) for step in simulation.steps
    ]
    assert max(event["ts"] + event["dur"] for event in steps) == pytest.approx(simulation.total_s * 1e6, abs=2e-3)
    changes = sum(step.reconfiguration_s > 0 for step in simulation.steps)
    assert len(rows.get(("steps", "reconfigurations"), [])) == changes
    assert {track for process, track in rows if process == "GPUs"} == {f"GPU {g}" for g in range(simulation.plan.gpus)}
    sent = sum(
        event["args"]["bytes"] for (process, _), track in rows.items() if process == "circuits" for event in track
    )
    assert sent == simulation.wire_bytes
    used = [event["args"]["utilisation"] for key, track in rows.items() if key[0] == "circuits" for event in track]
    assert 0 < min(used) <= max(used) <= 1


def test_a_large_trace_shows_one_of_each_orbit_or_the_steps(in_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = ll.simulate(ring())
    shown = {}
    for limit in (1000, 50, 5):
        monkeypatch.setattr(tracing, "MAX_INTERVALS", limit)
        simulation.trace(in_tmp / "trace.json")
        trace = json.loads((in_tmp / "trace.json").read_text())
        rows = spans(trace)
        shown[limit] = trace["otherData"]["shown"], sum(process.startswith("GPUs") for process, _ in rows)
        assert sum(len(track) for (process, _), track in rows.items() if process.startswith("steps")) == 6
    assert shown == {1000: (tracing.ALL, 8), 50: (tracing.SOME, 1), 5: (tracing.NONE, 0)}


@pytest.mark.parametrize("suffix", MAGIC)
def test_pictures_are_of_their_kind(cli: RunCli, plan_file: Path, suffix: str) -> None:
    before = set(plan_file.parent.iterdir())
    assert cli("simulate", plan_file, "--plot", f"plot{suffix}").status == 0
    (picture,) = set(plan_file.parent.iterdir()) - before
    assert picture.name == f"plot{suffix}"
    assert picture.read_bytes().startswith(MAGIC[suffix])


@pytest.mark.parametrize("sync", ["barrier", "dataflow"])
def test_bars_are_as_long_as_the_times(sync: str) -> None:
    simulation = ll.simulate(reconfigured(), sync=sync)
    above, below = simulation.plot().axes
    planned, _, found, _ = _boxes(above)
    assert [right - left for left, right in planned] == pytest.approx([step.predicted_s for step in simulation.steps])
    assert found == pytest.approx(np.array([(step.start_s, step.end_s) for step in simulation.steps]))
    sent, _, _ = _boxes(below)
    times = [step.gpus() for step in simulation.steps]
    expected = np.array([(t.first_send_s, t.last_sent_s) for t in times]).transpose(0, 2, 1).reshape(-1, 2)
    assert np.sort(sent, axis=0) == pytest.approx(np.sort(expected, axis=0))
    assert [np.asarray(line.get_xdata())[0] for line in (*above.lines, *below.lines)] == pytest.approx(
        [simulation.predicted_total_s] * 2
    )


def _boxes(axes: Any) -> list[np.ndarray]:
    """(left, right) of every box, by collection."""
    boxes = []
    for collection in axes.collections:
        corners = np.array([path.vertices for path in collection.get_paths()])
        boxes.append(
            np.stack([corners[..., 0].min(axis=1), corners[..., 0].max(axis=1)], axis=1) if len(corners) else corners
        )
    return boxes


def test_large_pictures_show_some_of_the_gpus() -> None:
    fabric = ll.Fabric(gpus=96)
    plan = ll.plan("all-gather", size="96KiB", fabric=fabric, algorithm="ring", planner="static")
    _, below = ll.simulate(plan).plot().axes
    assert max(int(label.get_text()) for label in below.get_yticklabels() if label.get_text()) == 95
    assert below.get_ylim()[0] == 63.5


def test_a_run_of_equal_steps_is_one_block() -> None:
    fabric = ll.Fabric(gpus=64)
    plan = ll.plan("all-gather", size="64KiB", fabric=fabric, algorithm="ring", planner="static", topology="ring")
    simulation = ll.simulate(plan)
    above, below = simulation.plot().axes
    assert {text.get_text() for text in above.texts} == {"1–63 (×63)"}
    planned, _, found, _ = _boxes(above)
    assert planned == pytest.approx(np.array([[0, simulation.predicted_total_s]]))
    assert found == pytest.approx(np.array([[0, simulation.total_s]]))
    assert len(_boxes(below)[0]) == 64

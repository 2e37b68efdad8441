"""Traces of jobs: iterations, and computation that is cut where a thread sleeps for a collective."""

from __future__ import annotations

import json
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from tests.torch.launch import check_all_well, ranks_of

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

from lightloom.torch.threads import awake_of_sleeper_ns
from lightloom.torch.trace import Trace

SLEPT_S = 0.2
# Two GPUs with hops of 20 ms: an AllReduce takes one at least.
FABRIC, DILATION, HOP_S = 'hop_delay = "20us"\n', "1000", 0.02


def computation(path: Path) -> list[tuple[float, float]]:
    events: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    return [(one["ts"], one["ts"] + one["dur"]) for one in events if one["name"] == "computation"]


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    made = Trace(tmp_path / "rank0.json", 0)
    made.group("0", [0])
    return made


def test_a_thread_that_sleeps_when_a_collective_ends_has_computed_nothing_meanwhile(
    trace: Trace, tmp_path: Path
) -> None:
    has_ended, threads = threading.Event(), []

    def program() -> None:
        trace.called()
        threads.append(threading.get_native_id())
        has_ended.wait()
        trace.called()

    runs = threading.Thread(target=program)
    runs.start()
    while not threads or awake_of_sleeper_ns(threads[0]) is None:
        time.sleep(0.001)
    time.sleep(SLEPT_S)
    trace.ended()
    has_ended.set()
    runs.join()
    trace.close()
    (_, ended_us), (goes_on_us, _) = computation(tmp_path / "rank0.json")
    assert goes_on_us - ended_us >= 0.99 * SLEPT_S * 1e6


def test_a_thread_that_is_awake_when_a_collective_ends_computes_on(trace: Trace, tmp_path: Path) -> None:
    trace.called()
    trace.ended()
    trace.called()
    trace.close()
    assert len(computation(tmp_path / "rank0.json")) == 1


def test_the_last_iteration_is_the_one_that_is_planned(tmp_path: Path) -> None:
    file, folder = tmp_path / "fabric.toml", tmp_path / "trace"
    file.write_text(FABRIC)
    settings = {"LIGHTLOOM_FABRIC": str(file), "LIGHTLOOM_DILATION": DILATION, "LIGHTLOOM_TRACE": str(folder)}
    check_all_well(ranks_of("iterations", "convolutional", "3", ranks=2, **settings))
    for rank in range(2):
        events = json.loads((folder / f"rank{rank}.json").read_text())["traceEvents"]
        steps = [one for one in events if one["name"].startswith("ProfilerStep#")]
        assert [one["name"] for one in steps] == [f"ProfilerStep#{number}" for number in (1, 2, 3)]
        for one, other in pairwise(steps):
            assert other["ts"] == pytest.approx(one["ts"] + one["dur"], abs=0.01)
        for step in steps:
            begin, end = step["ts"], step["ts"] + step["dur"]
            sums = [one for one in events if one["name"] == "lightloom all-reduce" and begin <= one["ts"] < end]
            assert sums
            # A collective takes no less than the fabric's delays.
            assert step["dur"] >= len(sums) * HOP_S * 1e6
    assert ll.Workload.read(folder).same_bits
    last = ll.train(folder)
    assert last.total_s == ll.train(folder, profile_step=3).total_s
    assert sum(one.kind == "collective" for one in last.events) == len(sums)


def test_circuits_that_change_hold_every_step_back(tmp_path: Path) -> None:
    file, folder = tmp_path / "fabric.toml", tmp_path / "trace"
    file.write_text('startup = "2us"\nhop_delay = "10us"\nreconfiguration_delay = "2us"\n')
    settings = {"LIGHTLOOM_FABRIC": str(file), "LIGHTLOOM_DILATION": DILATION, "LIGHTLOOM_TRACE": str(folder)}
    check_all_well(ranks_of("iterations", "convolutional", "2", ranks=4, **settings))
    events = json.loads((folder / "rank0.json").read_text())["traceEvents"]
    changes = 0
    for one in events:
        if one["name"] == "lightloom all-reduce":
            steps = one["args"]["lightloom"]["steps"]
            changes += sum(step["circuits_changed"] > 0 for step in steps)
            for step, after in pairwise(steps):
                least_us = (14 if step["circuits_changed"] else 12) * float(DILATION)
                assert after["after_us"] - step["after_us"] >= least_us * (1 - 1e-6)
    assert changes

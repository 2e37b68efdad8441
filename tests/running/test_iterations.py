"""Training iterations on processes: data as NumPy has them, bytes as planned, order, circuits, faults and refusals."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.running import data
from lightloom.running.controller import RunFailedError
from lightloom.running.data import data_type
from lightloom.running.iterations import executor as running
from lightloom.running.iterations.acts import course_of
from lightloom.running.iterations.measurement import IterationMeasurement
from lightloom.running.iterations.program import iteration_program, programs_of
from tests.running.iterations import (
    UNEVEN,
    collective,
    compute,
    data_parallel,
    send,
    stages,
    trained,
    two_axes,
    uneven_experts,
)
from tests.running.processes import all_ended, children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="iterations are run only on Linux")
ITERATIONS: dict[str, Callable[..., ll.Training]] = {
    "data-parallel": data_parallel,
    "8 ranks": lambda **fabric: data_parallel(8, **fabric),
    "two axes": two_axes,
    "stages": stages,
    "uneven experts": uneven_experts,
}
# Whole runs of some tenths of a second.
RUN_S = 0.05


def quick(training: ll.Training, **settings: Any) -> IterationMeasurement:
    given = {"iterations": 2, "warm_ups": 0, "dilation": max(1.0, RUN_S / training.total_s), **settings}
    return ll.run_iteration(training, **given)


@pytest.mark.large
@pytest.mark.parametrize("policy", ["joint", "per-collective"])
@pytest.mark.parametrize("name", ITERATIONS)
def test_data_are_numpys_and_bytes_the_plans(name: str, policy: str) -> None:
    training = ITERATIONS[name](policy=policy, reconfiguration_delay="100ns")
    measurement = quick(training)
    assert measurement.wrong == 0
    for index, event in enumerate(measurement.events):
        assert event.circuit_bytes == event.planned_circuit_bytes
        told = training.events[index]
        if told.kind == "compute":
            assert event.circuit_bytes == 0
        else:
            assert event.circuit_bytes >= least_bytes(training, index)


def least_bytes(training: ll.Training, index: int) -> float:
    """What has to cross circuits at least: one circuit for all that is another rank's in the end."""
    node, size_bytes, ranks = training.nodes[index], training.sizes_bytes[index], training.group_sizes[index]
    assert size_bytes is not None
    assert ranks is not None
    if "matrix" in node:
        return sum(map(sum, UNEVEN))
    if node["kind"] == "send":
        return len(training.members.pairs_of(node)) * size_bytes
    moved = {"all-reduce": 2 * (ranks - 1), "all-to-all": ranks - 1}.get(node["collective"], ranks - 1)
    return len(training.members.groups_of(node)) * moved * size_bytes


def test_data_that_differ_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    right = data.expected

    def off_by_one(*arguments: Any, **more: Any) -> Any:
        found = right(*arguments, **more)
        return found._replace(outputs=[output + 1 for output in found.outputs])

    monkeypatch.setattr(running, "expected", off_by_one)
    training = data_parallel()
    measurement = quick(training, iterations=1)
    elements = sum(size // 4 for size in training.sizes_bytes if size is not None)
    assert measurement.wrong == 4 * elements
    assert [event.wrong > 0 for event in measurement.events] == [e.kind != "compute" for e in training.events]


@pytest.mark.large
@pytest.mark.parametrize("name", ITERATIONS)
def test_nothing_begins_before_what_it_waits_for(name: str) -> None:
    training = ITERATIONS[name]()
    measurement = quick(training, iterations=3)
    places = {event.node: index for index, event in enumerate(training.events)}
    spans = [measurement.spans_s(index) for index in range(len(training.events))]
    for index, node in enumerate(training.nodes):
        for before in node["after"]:
            assert (spans[index][0] >= spans[places[before]][1]).all(), (node["id"], before)
    starts_s, ends_s = (np.array(column) for column in zip(*spans, strict=True))
    # An iteration begins when all of the one before has ended, and ends with its last event.
    assert (starts_s[:, 1:].min(axis=0) >= ends_s[:, :-1].max(axis=0)).all()
    assert measurement.iterations_s.sum() == pytest.approx(ends_s.max() - measurement.begins_s[0])
    # Computation is waiting: never less than planned.
    for index, event in enumerate(training.events):
        if event.kind == "compute":
            taken_s = spans[index][1] - spans[index][0]
            assert (taken_s >= (event.end_s - event.start_s) * (1 - 1e-6)).all()


def test_communications_are_under_way_together() -> None:
    # Both have ports of their own, and a byte takes so long that starts are no matter.
    nodes = [collective("t", "tp"), collective("d", "dp")]
    training = trained({"tp": 2, "dp": 2}, nodes, ports=2, policy="best-fixed-circuits")
    planned = training.events
    assert planned[0].end_s > planned[1].start_s, "the plan has them one after the other"
    measurement = quick(training)
    (first_s, first_end_s), (second_s, second_end_s) = (measurement.spans_s(index) for index in (0, 1))
    assert (np.minimum(first_end_s, second_end_s) > np.maximum(first_s, second_s)).all()


@pytest.mark.large
@pytest.mark.parametrize("name", ITERATIONS)
def test_circuits_change_after_their_users_and_before_those_that_need_them(name: str) -> None:
    training = ITERATIONS[name](policy="per-collective", reconfiguration_delay="100ns")
    measurement = quick(training)
    course, times = measurement.course, measurement.times
    assert len(times.asked_s) == len(course.changes) == 2 * (len(course.circuits.configurations) - 1)
    dark_s = training.fabric.reconfiguration.scalar_s
    assert dark_s is not None
    # A nanosecond of the machine is cut off.
    slack_s = 2e-9 / measurement.settings.dilation
    assert (times.acknowledged_s - times.asked_s >= dark_s - slack_s).all()
    for change, acts in enumerate(course.change_after):
        assert all(times.end_s[act] <= times.asked_s[change] for act in acts)
    for act, changes in enumerate(course.needs):
        assert all(times.acknowledged_s[change] <= times.start_s[act] for change in changes)


def test_a_port_that_went_dark_may_change_before_the_change_that_darkened_it_is_made() -> None:
    # Rank 1 leaves the ring of ranks 0 and 1 for its message, which darkens rank 0's port; rank 0 needs it at once.
    nodes = [
        collective("a", "tp"),
        compute("f", "a", ranks=[0]),
        send("s", [(1, 3)], "a"),
        send("t", [(0, 2), (2, 0)], "f"),
    ]
    training = trained({"tp": 2, "dp": 2}, nodes, ports=1, reconfiguration_delay="15us")
    course = course_of(training, 2)
    overlapping = [(one, other) for other, before in enumerate(course.follows) for one in before]
    assert overlapping, "no change is planned while another one of its ports is made"
    measurement = quick(training)
    assert measurement.wrong == 0
    for one, other in overlapping:
        assert measurement.times.asked_s[one] <= measurement.times.asked_s[other]
        assert measurement.times.asked_s[other] < measurement.times.acknowledged_s[one]


def test_changes_are_those_of_the_verb_circuits() -> None:
    training = two_axes(policy="per-collective", reconfiguration_delay="100ns")
    measurement = quick(training, iterations=1)
    told = ll.circuits(training, "crossbar").configurations[1:]
    assert told, "circuits do not change"
    found = [(change.configuration, change.planned_time_s) for change in measurement.changes]
    assert found == [(held.index, held.time_s) for held in told]


def test_a_scale_sends_as_many_times_less() -> None:
    training = data_parallel(policy="best-fixed-circuits")
    whole, part = (quick(training, scale=scale, iterations=1) for scale in (1, 16))
    assert whole.wrong == part.wrong == 0
    assert whole.moved_bytes == 16 * part.moved_bytes
    assert (whole.settings.scale, part.settings.scale) == (1, 16)


@pytest.mark.large
def test_a_scale_is_chosen_where_data_are_large() -> None:
    course = course_of(ll.train("bert-pccl", fabric=ll.Fabric(gpus=16), ranks=16), 2)
    from lightloom.running.iterations.pace import WORKSPACES_BYTES, scale_for

    scale = scale_for(course.training, 2, 4)
    programs = programs_of(course.training, 4, scale)
    program = iteration_program(course, programs)
    held = int(program.workspace_bytes.sum())
    assert held <= WORKSPACES_BYTES < 2 * held
    # By hand: 12 all-reduces of 64 MiB and 24 of 16 MiB, of 16 ranks, twice.
    assert held * scale == 2 * 16 * (12 * 64 + 24 * 16) << 20


@pytest.mark.large
@pytest.mark.parametrize("dtype", ["float64", "int32", "bfloat16"])
def test_every_type_is_carried(dtype: str) -> None:
    measurement = quick(two_axes(), dtype=dtype, reduction="max", iterations=1)
    assert measurement.wrong == 0
    assert measurement.settings.dtype == data_type(dtype).name


def test_a_rank_that_is_killed_ends_all() -> None:
    training = data_parallel()
    said: list[str] = []

    def carry_out() -> None:
        try:
            ll.run_iteration(training, iterations=1, warm_ups=0, dilation=20 / training.total_s)
        except RunFailedError as error:
            said.append(str(error))

    others = set(children(os.getpid()))
    thread = threading.Thread(target=carry_out)
    thread.start()
    processes: list[int] = []
    end = time.monotonic() + 20
    while len(processes) < training.ranks + 2 and time.monotonic() < end:
        time.sleep(0.01)
        started = sorted(set(children(os.getpid())) - others)
        processes = [*started[:1], *(child for one in started[:1] for child in children(one))]
    # Until the first computation has begun.
    time.sleep(0.5)
    os.kill(processes[4], signal.SIGKILL)
    thread.join(10)
    assert said == ["rank 2 ended in `f`, iteration 1: killed by signal 9; all others were ended"]
    assert all_ended(processes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"iterations": 0}, "iterations: `0` is not accepted; it takes a whole number from 1 to 1000"),
        ({"warm_ups": -1}, "warm_ups: `-1` is not accepted; it takes a whole number from 0 to 1000"),
        ({"scale": 0}, "scale: `0` is not accepted; it takes a whole number from 1 to 4294967295"),
        (
            {"scale": 1 << 14},
            "scale: `b` moves 32768 bytes; 1/16384 of that is less than an element of 4 bytes; it takes at most 8192",
        ),
        ({"dilation": 0.5}, "dilation: `0.5` is not accepted; it takes a number from 1 to 1e+09"),
        ({"dtype": "float8"}, "dtype: "),
        ({"reduction": "mean"}, "reduction: "),
        ({"real_time": 1}, "real_time: `1` is not accepted; it takes True or False"),
        (
            {"packet_size": 1},
            "packet_size: `1` is not accepted; it takes a size such as 4096B or 4KiB, 64 to 1048576 bytes",
        ),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ll.InputError) as caught:
        ll.run_iteration(data_parallel(), **settings)
    assert str(caught.value).startswith(said)


def test_iterations_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ll.InputError, match=re.escape("plan: the iteration has no communication; ")):
        ll.run_iteration(trained({"dp": 2}, [compute("f")]))
    from lightloom.running.iterations import preparation

    monkeypatch.setattr(preparation, "MOST_RANKS", 3)
    with pytest.raises(ll.InputError, match=r"^plan: an iteration on 4 ranks is not run; it takes at most 3 ranks$"):
        ll.run_iteration(data_parallel())
    monkeypatch.setattr(preparation, "MOST_RANKS", 4)
    monkeypatch.setattr(preparation, "MOST_ACTS", 10)
    with pytest.raises(
        ll.InputError, match=r"^iterations: 3 iterations of .* are not run; it takes at most 10 together$"
    ):
        ll.run_iteration(data_parallel())


def test_a_measurement_is_pickled_and_written(tmp_path: Path) -> None:
    measurement = quick(stages())
    copy = pickle.loads(pickle.dumps(measurement))  # noqa: S301 (made here)
    assert copy.to_json() == measurement.to_json()
    measurement.save(tmp_path / "measured.json")
    told = json.loads((tmp_path / "measured.json").read_text(encoding="utf-8"))
    assert told["measured_s"]["median"] == measurement.measured.median
    assert len(told["iterations_s"]) == 2
    assert sum(kind["count"] for kind in told["kinds"]) == len(told["events"]) == len(measurement.training.events)
    assert repr(measurement).startswith("IterationMeasurement(a workload, 8 ranks, ")


@pytest.mark.large
def test_the_picture_has_the_plan_above_what_was_measured(tmp_path: Path) -> None:
    measurement = quick(two_axes(policy="per-collective", reconfiguration_delay="100ns"))
    figure = measurement.plot(tmp_path / "measured.png")
    assert [axes.get_title() for axes in figure.axes] == ["plan", "measured"]
    rows = [[label.get_text() for label in axes.get_yticklabels()] for axes in figure.axes]
    assert rows == [["compute", "tp", "dp", "circuits change"]] * 2
    assert (tmp_path / "measured.png").stat().st_size > 1000

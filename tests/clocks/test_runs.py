"""Timelines on processes: bytes are NumPy's, nothing is sent over circuits that are not there, and refusals."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lightloom as ll
from lightloom.clocks.runs.contents import contents_of
from lightloom.clocks.runs.waiting import data_waits_of
from lightloom.running.controller import Controller, RunFailedError
from lightloom.running.data import DATA_TYPES, DrawnInputs, expected, wrong
from tests.clocks.problems import COLLECTIVES, drawn
from tests.refusals import assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom.clocks.runs.measurement import TimelineMeasurement
    from tests.conftest import RunCli

FLOATS = DATA_TYPES["float32"]


def small(collective: str, initial: str = "ring", delay: str = "10us") -> ll.Timeline:
    """Two ports of eight ranks, and a matrix where pairs are all that is sent."""
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay=delay, initial=initial)
    if collective == "all-to-all":
        return ll.timeline(size="64KiB/pair", matrix="zipf:0.4", fabric=fabric)
    return ll.timeline(collective, "256KiB", fabric=fabric)


def assert_circuits_are_there(ran: TimelineMeasurement) -> None:
    """By recorded moments: bits enter circuits after these are ready, and leave before their switch turns again."""
    times = ran.times
    slack_s = 2e-9  # moments are whole nanoseconds, dilated
    for place, (k, i) in enumerate(zip(times.switch.tolist(), times.configuration.tolist(), strict=True)):
        crossed = times.circuit_bytes[:, place] > 0
        started_s = times.start_s[:, times.transmission[place]]
        if (k, i) in times.changes:
            made_s = times.changes[k, i][1]
            assert (times.first_s[:, place] >= made_s - slack_s)[crossed].all()
            assert (started_s >= made_s + ran.timeline.plan.startup_s - slack_s).all()
        if (k, i + 1) in times.changes:
            assert (times.last_s[:, place] <= times.changes[k, i + 1][0] + slack_s)[crossed].all()
    for (k, i), (asked_s, made_s) in times.changes.items():
        turn_s = ran.timeline.parts.plan["fabric"]["reconfiguration_delay_s"]
        if i:
            assert (made_s - asked_s >= turn_s - slack_s).all(), (k, i)


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_each_collective_gives_what_numpy_gives_over_circuits_that_are_there(collective: str) -> None:
    found = small(collective)
    ran = ll.run_timeline(found, runs=2, warm_ups=0, seed=3)
    assert ran.wrong == 0
    assert_circuits_are_there(ran)
    planned = np.array([one.start_s for one in found.transmissions])
    assert (ran.times.start_s >= planned - 2e-9).all()
    # Every hop of every transmission: the bytes that crossed a circuit are those that were to.
    wanted = ran.times.size_bytes[ran.times.transmission]
    assert (ran.times.circuit_bytes == wanted).all()
    sizes = np.array([one.size_bytes for one in found.transmissions])
    assert (np.abs(ran.times.size_bytes - sizes) < 2 * FLOATS.size_bytes).all()
    assert [one.circuit_bytes for one in ran.configurations] == [
        one.planned_circuit_bytes for one in ran.configurations
    ]


@pytest.mark.slow
@pytest.mark.large
@pytest.mark.parametrize("seed", range(24))
def test_random_timelines_give_what_numpy_gives(seed: int) -> None:
    found = drawn(seed, 1 << 18)
    ran = ll.run_timeline(found, runs=1, warm_ups=0, seed=seed, dtype="int32", reduction="max" if seed % 2 else "sum")
    assert ran.wrong == 0
    assert_circuits_are_there(ran)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(40))
def test_transmissions_in_any_order_that_their_waits_allow_give_what_numpy_gives(seed: int) -> None:
    found = drawn(seed, 1 << 16)
    if seed % 5 == 0:
        # A rank keeps one part of some steps and adds another to it.
        found = ll.timeline("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, ports=2))
    contents = contents_of(found.parts, found.plan, FLOATS.size_bytes)
    program, waits = contents.program, data_waits_of(contents)
    inputs = list(DrawnInputs(program, FLOATS, "sum", seed))
    held = [FLOATS.unwritten(int(size) // 4) for size in program.workspace_bytes]
    for rank, source, destination, size in zip(
        *(column // (1, 4, 4, 4)[at] for at, column in enumerate(program.loads)), strict=True
    ):
        held[rank][destination : destination + size] = inputs[rank][source : source + size]
    rng = np.random.default_rng(seed)
    message_of = {step: message for message, step in enumerate(program.step.tolist())}
    # A transmission reads when it begins, and writes when it ends; between the two others may do either. A rank keeps
    # data after its sends, which are read by then, and after the data that it keeps before.
    ends = [one.path[-1][2] for one in found.transmissions]
    waiting, read, ended = set(range(program.steps)), dict[int, list[np.ndarray]](), set[int]()
    while waiting or read:
        begin = [one for one in waiting if waits.after[one] <= ended]
        sent = {one: ended | {other for other in read if ends[other] != ends[one]} for one in read}
        end = [one for one in read if waits.keeps_after[one] <= sent[one]]
        one = rng.choice(sorted(begin) + sorted(end))
        segments = range(0)
        if (message := message_of.get(int(one))) is not None:
            segments = range(*program.segment_offsets[message : message + 2].tolist())
            first = program.gpus[program.gpu_offsets[message]]
            last = program.gpus[program.gpu_offsets[message + 1] - 1]
        places = [
            (
                int(program.source_offset[at]) // 4,
                int(program.destination_offset[at]) // 4,
                int(program.size_bytes[at]) // 4,
            )
            for at in segments
        ]
        if one in waiting:
            waiting.remove(one)
            read[int(one)] = [held[first][source : source + size].copy() for source, _, size in places]
            continue
        for at, (_, destination, size), brought in zip(segments, places, read.pop(int(one)), strict=True):
            before = held[last][destination : destination + size]
            held[last][destination : destination + size] = before + brought if program.is_reduction[at] else brought
        ended.add(int(one))
    outputs = [np.zeros(int(size) // 4, dtype=np.float32) for size in program.output_bytes]
    for rank, source, destination, size in zip(
        *(column // (1, 4, 4, 4)[at] for at, column in enumerate(program.stores)), strict=True
    ):
        outputs[rank][destination : destination + size] = held[rank][source : source + size]
    assert wrong(outputs, expected(program, inputs, FLOATS), FLOATS) == 0


def test_own_data_are_sent_and_errors_are_counted(tmp_path: Path) -> None:
    found = ll.timeline("all-reduce", "64KiB", fabric=ll.Fabric(gpus=4, ports=2))
    arrays = [np.full(1 << 14, rank, dtype=np.float32) for rank in range(4)]
    found.save(tmp_path / "timeline.json")
    ran = ll.run_timeline(tmp_path / "timeline.json", arrays, runs=1, warm_ups=0)
    assert ran.wrong == 0
    assert all((one == 6.0).all() for one in ran.arrays)
    with pytest.raises(ll.InputError, match="data"):
        ll.run_timeline(found, arrays[:2])


def test_a_rank_that_is_late_is_told_with_its_transmission_and_a_dilation(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(_controller: Controller, _request: bytes, _workspaces: int, **_more: object) -> bytes:
        raise RunFailedError("rank 1 did not arrive within 5.000 s, at step 3; all processes were ended")

    monkeypatch.setattr(Controller, "run", late)
    found = ll.timeline("all-reduce", "64KiB", fabric=ll.Fabric(gpus=4))
    with pytest.raises(RunFailedError) as failed:
        ll.run_timeline(found, dilation=1000)
    advice = "4 ranks share .*, which may be busy with other work: --dilation 5000 gives them more time"
    said = "rank 1 did not arrive within 5.000 s, in transmission 3; all processes were ended"
    assert re.fullmatch(f"{said}; {advice}", str(failed.value))


@pytest.mark.large
def test_run_shows_a_timeline(cli: RunCli, tmp_path: Path) -> None:
    file, output = tmp_path / "timeline.json", tmp_path / "run.json"
    found = small("all-to-all")
    found.save(file)
    ran = cli("run", file, "--runs", "1", "--warm-ups", "0", "--output", output)
    assert ran.status == 0, ran.err
    assert "all 8 ranks match NumPy" in ran.out
    told = json.loads(output.read_text())
    assert told["planned_s"] == found.total_s
    assert told["ratio"] == told["measured_s"]["median"] / found.total_s
    rows = cli("run", file, "--runs", "1", "--warm-ups", "0", "--format", "csv").out.splitlines()
    assert len(rows) == 1 + sum(map(len, found.switches))


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("transport", ("--transport", "kernel")),
        ("transport", ("--transport", "mpi")),
        ("transport", ("--transport", "tcp")),
        ("switch", ("--switch", "scpi://192.0.2.7")),
        ("hosts", ("--hosts", "node1,node2")),
        ("trace", ("--trace", "trace.json")),
        ("plot", ("--plot", "plot.png")),
        ("scale", ("--scale", "2")),
        ("dilation", ("--dilation", "0")),
    ],
)
def test_a_run_of_a_timeline_refuses(cli: RunCli, tmp_path: Path, field: str, options: tuple[str, ...]) -> None:
    file = tmp_path / "timeline.json"
    ll.timeline("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4)).save(file)
    assert_refused(cli, tmp_path, "run", file, *options, field=field)


def test_what_is_too_large_is_refused() -> None:
    found = ll.timeline("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, ports=2))
    with pytest.raises(ll.InputError, match="transmissions"):
        ll.run_timeline(found, runs=100_000)

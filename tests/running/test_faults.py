"""Runs in which something fails: everybody ends, one line says who, and no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.running import controller, workspaces
from lightloom.running import preparation as prepared
from lightloom.running.controller import RunFailedError
from lightloom.switches.simulated import Faults, start_switch
from lightloom.switches.simulated.faults import MEANINGS
from tests.running.processes import all_ended, begun, children, dilation, plan_of
from tests.running.random_faults import random_faults

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")


def changing() -> ll.Plan:
    """A plan whose circuits change."""
    plan = plan_of(planner="bvn", algorithm="halving-doubling", gpus=8)
    assert plan.reconfigurations
    return plan


@pytest.fixture
def quick_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits end after 1.5 s, long before a step of `started` ends."""
    monkeypatch.setattr(prepared, "DEADLINE_FACTOR", 0.0)
    monkeypatch.setattr(prepared, "DEADLINE_FLOOR_S", 1.5)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ll.Executor, threading.Thread, list[str]]]:
    """A run of many seconds that has begun, and its message at its end."""
    monkeypatch.setattr(controller, "SILENT_S", 2.0)
    with begun(plan_of(algorithm="ring")) as run:
        yield run


@pytest.mark.parametrize(("place", "who"), [(0, "the switch process"), (3, "rank 2")])
def test_a_process_that_is_killed_ends_all(
    place: int, who: str, started: tuple[ll.Executor, threading.Thread, list[str]]
) -> None:
    executor, thread, said = started
    assert executor.controller is not None
    processes = [executor.controller, *children(executor.controller)]
    os.kill(processes[place + 1], signal.SIGKILL)
    thread.join(5)
    assert said == [f"{who} ended at step 1: killed by signal 9; all others were ended"]
    assert all_ended(processes)


def test_nothing_outlives_a_controller_that_is_killed(
    started: tuple[ll.Executor, threading.Thread, list[str]],
) -> None:
    executor, thread, said = started
    assert executor.controller is not None
    processes = [executor.controller, *children(executor.controller)]
    os.kill(processes[0], signal.SIGKILL)
    thread.join(5)
    assert said == ["the controller process ended: killed by signal 9 (SIGKILL); all processes were ended"]
    assert all_ended(processes)


@pytest.mark.large
@pytest.mark.usefixtures("quick_deadlines")
@pytest.mark.parametrize(("place", "who"), [(0, "the switch process"), (2, "rank 1")])
def test_a_process_that_is_stopped_is_named(
    place: int, who: str, started: tuple[ll.Executor, threading.Thread, list[str]]
) -> None:
    executor, thread, said = started
    assert executor.controller is not None
    processes = [executor.controller, *children(executor.controller)]
    os.kill(processes[place + 1], signal.SIGSTOP)
    thread.join(20)
    assert len(said) == 1
    assert said[0].startswith(f"{who} is stopped at step 1; nothing happened for ")
    assert all_ended(processes)


def test_a_controller_that_is_stopped_is_ended(started: tuple[ll.Executor, threading.Thread, list[str]]) -> None:
    executor, thread, said = started
    assert executor.controller is not None
    processes = [executor.controller, *children(executor.controller)]
    os.kill(processes[0], signal.SIGSTOP)
    thread.join(10)
    assert said == ["the controller process has said nothing for 2 s; all processes were ended"]
    assert all_ended(processes)


def test_a_switch_that_refuses_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = changing()
    switch = start_switch("scpi", 64, listen="127.0.0.1:0", faults=Faults.parse("faults", "refuse=1"))
    try:
        with pytest.raises(RunFailedError) as caught:
            ll.run(plan, runs=1, warm_ups=0, dilation=dilation(plan), switch=switch.address)
    finally:
        switch.close()
    assert str(caught.value).startswith("configuration 0 was not made, before the first step: switch crossbar: ")


def test_a_port_that_fails_in_the_middle_ends_the_run_and_the_next_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GPU 2 of a Broadcast from GPU 0 first sends in the second step; its transmitter is at ingress port 3."""
    monkeypatch.chdir(tmp_path)
    fabric = ll.Fabric(gpus=4, reconfiguration_delay="1us")
    plan = ll.plan("broadcast", "64KiB", fabric=fabric, algorithm="binomial-tree", planner="bvn")
    fallbacks = ll.fallbacks("broadcast", "64KiB", "any-port", fabric=fabric)
    first = ll.circuits(plan).configurations[0].switches[0].connections
    assert 3 not in first[:, 0].tolist()
    switch = start_switch("scpi", 64, listen="127.0.0.1:0", faults=Faults.parse("faults", "refuse=3"))
    try:
        with pytest.raises(RunFailedError) as caught:
            ll.run(plan, runs=1, warm_ups=0, dilation=dilation(plan), switch=switch.address)
        # The switch still refuses the port.
        again = fallbacks.plan("port:2.0")
        measured = ll.run(again, runs=1, warm_ups=0, dilation=dilation(again), switch=switch.address)
    finally:
        switch.close()
    said = str(caught.value)
    assert "\n" not in said
    assert "configuration 1" in said
    assert "step 1" in said
    assert measured.wrong == 0


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", sorted(name for name, (value, _) in MEANINGS.items() if value == "the number of a change")
)
def test_a_run_on_a_switch_with_a_fault_is_right_or_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Whatever change it is, and the next run on the same switch is right."""
    monkeypatch.chdir(tmp_path)
    plan = changing()
    for change in (2, 3, 4):
        faults = Faults.parse("faults", f"{fault}={change}")
        switch = start_switch("scpi", 64, listen="127.0.0.1:0", faults=faults)
        try:
            for may_fail in (True, False):
                try:
                    measured = ll.run(plan, runs=1, warm_ups=0, dilation=dilation(plan), switch=switch.address)
                except RunFailedError as error:
                    assert may_fail, error
                    assert "\n" not in str(error)
                    assert "configuration" in str(error)
                else:
                    assert measured.wrong == 0
        finally:
            switch.close()


def test_a_switch_outside_makes_every_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan = changing()
    switch = start_switch("scpi", 64, listen="127.0.0.1:0")
    try:
        measurement = ll.run(plan, runs=1, warm_ups=0, dilation=dilation(plan), switch=switch.address)
        last = ll.circuits(plan).configurations[-1].switches[0].connections
        assert switch.crossbar.circuits == {tuple(pair) for pair in last.tolist()}
    finally:
        switch.close()
    assert measurement.wrong == 0


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspaces, "free_memory", lambda: 1 << 16)
    with pytest.raises(RunFailedError) as caught:
        ll.run(plan_of(size="64KiB"))
    assert str(caught.value) == (
        "memory: the run needs 1.2 MiB for workspaces and what ranks begin and end with, and 0.1 MiB are free"
    )


@pytest.mark.large
def test_faults_at_random_moments_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "DEADLINE_FACTOR", prepared.DEADLINE_FACTOR)
    monkeypatch.setattr(prepared, "DEADLINE_FLOOR_S", prepared.DEADLINE_FLOOR_S)
    assert random_faults(6, seed=3).total() == 6


def test_an_interrupt_ends_all(tmp_path: Path) -> None:
    plan = plan_of()
    plan.save(tmp_path / "plan.json")
    command = [sys.executable, "-m", "lightloom", "run", "plan.json", "--dilation", str(dilation(plan, 30.0))]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        processes: list[int] = []
        end = time.monotonic() + 20
        while len(processes) < plan.gpus + 2 and time.monotonic() < end:
            time.sleep(0.05)
            controllers = children(process.pid)
            processes = [*controllers, *(one for number in controllers for one in children(number))]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (1, b"", b"")
    assert len(processes) == plan.gpus + 2
    assert all_ended(processes)

"""Runs whose packets the kernel carries: right results, one line for what fails, and no namespace that is left."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.running import namespaces
from lightloom.running import preparation as prepared
from lightloom.running.data import DATA_TYPES, DrawnInputs
from lightloom.running.interpreter import interpret
from lightloom.running.namespaces import FOLDER, KernelNetwork, reason_against, remove_left
from lightloom.running.program import program_of
from tests.conftest import RunCli
from tests.running.processes import all_ended, begun, children, dilation, plan_of, run_once
from tests.running.programs import small_plan


@cache
def reason_to_skip() -> str | None:
    reason = reason_against()
    if reason is None:
        try:
            with KernelNetwork(os.getpid(), ranks=2, ports=1, packet_bytes=1024, rate_bps=1e6):
                pass
        except InputError as error:
            reason = str(error)
    return reason


needs_the_kernel = pytest.mark.skipif(
    reason_to_skip() is not None, reason=f"the kernel carries no packets here: {reason_to_skip()}"
)


def say(program: str, *words: str) -> None:
    subprocess.run([f"{shutil.which(program)}", *words], check="-force" not in words, stderr=subprocess.DEVNULL)


def packets_sent(host: str) -> int:
    """Packets that left the port of a rank's namespace."""
    words = [f"{shutil.which('ip')}", "-n", host, "-json", "-statistics", "link", "show", "dev", "p0"]
    shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return int(json.loads(shown)[0]["stats64"]["tx"]["packets"])


def of_process(process: int) -> list[str]:
    """Names of the namespaces of a controller process."""
    return sorted(path.name for path in FOLDER.glob(f"lightloom-{process}-*"))


def named(process: int, started: int, place: str = "switch") -> str:
    return f"lightloom-{process}-{started}-{Path('/proc/self/ns/pid').stat().st_ino}-{place}"


@pytest.mark.large
@needs_the_kernel
@pytest.mark.parametrize("index", range(16))
def test_random_plans_give_what_they_mean(index: int) -> None:
    plan = small_plan(index)
    if plan is None:
        return
    try:
        measurement = run_once(plan, seed=index, transport="kernel")
    except InputError as error:
        assert "background" in str(error)
        return
    kind = DATA_TYPES["float32"]
    program = program_of(plan, kind.size_bytes)
    wanted = interpret(program, DrawnInputs(program, kind, seed=index), kind)
    assert measurement.wrong == 0
    assert all(np.array_equal(one, other) for one, other in zip(measurement.arrays, wanted, strict=True))


@needs_the_kernel
def test_circuits_that_change_are_dark_and_then_lead_elsewhere() -> None:
    plan = plan_of(gpus=8, planner="bvn", algorithm="halving-doubling")
    assert plan.reconfigurations
    measurement = ll.run(plan, runs=2, warm_ups=0, dilation=1000, transport="kernel")
    assert measurement.wrong == 0
    for step, planned in zip(measurement.steps, plan.steps, strict=True):
        assert step.dark_s >= planned.reconfiguration_s - 1e-9
        assert step.measured_s >= planned.startup_s + planned.reconfiguration_s - 1e-9
    crossed = sum(
        round(path.size_bytes) * (len(path.gpus) - 1) for step in range(len(plan.steps)) for path in plan.routes(step)
    )
    assert measurement.times.circuit_bytes.sum() == 2 * crossed


@needs_the_kernel
def test_ranks_pass_on_and_ports_share() -> None:
    fabric = ll.Fabric(gpus=8, ports=2, bandwidth="100Gbps", hop_delay="1us")
    plan = ll.plan("all-reduce", size="16KiB", fabric=fabric, algorithm="recursive-doubling", planner="static")
    measurement = run_once(plan, transport="kernel", packet_size="256B")
    assert measurement.wrong == 0
    assert sum(step.forwarded_bytes for step in measurement.steps) > 0
    # There is no hop delay in the kernel, and measurements are compared with a prediction without it.
    without = ll.Fabric(gpus=8, ports=2, bandwidth="100Gbps", hop_delay="0s")
    again = ll.plan("all-reduce", size="16KiB", fabric=without, algorithm="recursive-doubling", planner="static")
    assert measurement.predicted_s == pytest.approx(again.total_s)
    assert [step.predicted_s for step in measurement.steps] == pytest.approx([step.total_s for step in again.steps])


@needs_the_kernel
def test_an_executor_leaves_no_namespace_between_plans() -> None:
    plan, other = plan_of(), plan_of("all-to-all", gpus=5)
    with ll.Executor(runs=1, warm_ups=0, dilation=dilation(plan), transport="kernel") as executor:
        for one in (plan, other, plan):
            assert executor.run(one).wrong == 0
            assert executor.controller is not None
            assert of_process(executor.controller) == []


@pytest.fixture
def quick_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits end after 3 s, before a step of `started` ends."""
    monkeypatch.setattr(prepared, "DEADLINE_FACTOR", 0.0)
    monkeypatch.setattr(prepared, "DEADLINE_FLOOR_S", 3.0)


@pytest.fixture
def started() -> Iterator[tuple[ll.Executor, threading.Thread, list[str]]]:
    """A run of many seconds that has begun, and its message at its end."""
    with begun(plan_of(algorithm="ring", size="64KiB"), "kernel", 0.7) as run:
        yield run


@needs_the_kernel
@pytest.mark.parametrize(
    ("place", "what"),
    [
        (0, "the controller process ended: killed by signal 9 (SIGKILL); all processes were ended"),
        (1, "the switch process ended at step 1: killed by signal 9; all others were ended"),
        (4, "rank 2 ended at step 1: killed by signal 9; all others were ended"),
    ],
)
def test_a_process_that_is_killed_ends_all(
    place: int, what: str, started: tuple[ll.Executor, threading.Thread, list[str]]
) -> None:
    executor, thread, said = started
    assert executor.controller is not None
    processes = [executor.controller, *children(executor.controller)]
    assert len(of_process(processes[0])) == 5
    os.kill(processes[place], signal.SIGKILL)
    thread.join(5)
    assert said == [what]
    assert all_ended(processes)
    assert of_process(processes[0]) == []


@needs_the_kernel
def test_packets_on_a_port_without_a_circuit_are_reported(
    started: tuple[ll.Executor, threading.Thread, list[str]],
) -> None:
    executor, thread, said = started
    assert executor.controller is not None
    switch = next(name for name in of_process(executor.controller) if name.endswith("-switch"))
    say("tc", "-n", switch, "filter", "del", "dev", "r2p0", "parent", "ffff:")
    thread.join(10)
    assert len(said) == 1
    assert said[0].startswith("rank 2 sent on port 0, at step 1: the port has no circuit")
    assert of_process(executor.controller) == []


@pytest.mark.large
@needs_the_kernel
def test_packets_that_are_lost_are_reported(started: tuple[ll.Executor, threading.Thread, list[str]]) -> None:
    executor, thread, said = started
    assert executor.controller is not None
    host = next(name for name in of_process(executor.controller) if name.endswith("-rank-2"))
    # Startup, dilated, and the bucket's head start take two seconds at least; then a packet comes every fifth of one.
    time.sleep(2.0)
    before, end = packets_sent(host), time.monotonic() + 10
    while packets_sent(host) < before + 2 and time.monotonic() < end:
        time.sleep(0.05)
    say("ip", "-n", host, "link", "set", "dev", "p0", "down")
    time.sleep(0.6)
    # The run may have ended by now, and its namespaces with it.
    with contextlib.suppress(subprocess.CalledProcessError):
        say("ip", "-n", host, "link", "set", "dev", "p0", "up")
    thread.join(10)
    assert len(said) == 1
    assert re.fullmatch(
        r"rank [23] failed at step \d: (packet \d+|\d+ packets) of port 0 of rank [12]"
        r"(, the first of them number \d+,)? w(as|ere) lost on (its|their) way to port 0; "
        r"the receiving host (dropped none|counts .*); all processes were ended",
        said[0],
    )


@pytest.mark.large
@needs_the_kernel
@pytest.mark.usefixtures("quick_deadlines")
def test_of_ranks_that_wait_too_long_the_missing_bytes_are_said(
    started: tuple[ll.Executor, threading.Thread, list[str]],
) -> None:
    _, thread, said = started
    thread.join(10)
    assert len(said) == 1
    assert re.fullmatch(
        r"4 ranks, the first of them rank 0, did not get more than \d+ of 16384 bytes within 3\.\d+ s, at step 1; .*",
        said[0],
    )


COMMAND = (sys.executable, "-m", "lightloom", "run", "plan.json", "--transport", "kernel", "--runs", "1")


@pytest.fixture
def from_command_line(in_tmp: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, str], list[int]]]:
    """A run of many seconds of three ranks, its environment, and its controller with what that started."""
    plan = plan_of(gpus=3)
    plan.save("plan.json")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or str(in_tmp) for path in sys.path)}
    slow = [*COMMAND, "--warm-ups", "0", "--dilation", str(dilation(plan, 30.0))]
    running = subprocess.Popen(slow, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end, controller = time.monotonic() + 30, 0
    while time.monotonic() < end and len(children(controller)) < plan.gpus + 1:
        time.sleep(0.02)
        controller = next(iter(children(running.pid)), 0)
    assert len(of_process(controller)) == plan.gpus + 1
    yield running, environment, [controller, *children(controller)]
    running.kill()
    running.wait()


@needs_the_kernel
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_leaves_nothing(
    how: signal.Signals, from_command_line: tuple[subprocess.Popen[bytes], dict[str, str], list[int]]
) -> None:
    running, _, processes = from_command_line
    running.send_signal(how)
    assert running.wait(10) == 1
    assert of_process(processes[0]) == []
    assert all_ended(processes)


@pytest.mark.large
@needs_the_kernel
def test_the_next_run_removes_what_a_killed_one_left(
    from_command_line: tuple[subprocess.Popen[bytes], dict[str, str], list[int]],
) -> None:
    running, environment, processes = from_command_line
    running.kill()
    running.wait()
    assert all_ended(processes)
    assert len(of_process(processes[0])) == 4
    quick = [*COMMAND, "--dilation", str(dilation(ll.Plan.load("plan.json"))), "--format", "json"]
    done = subprocess.run(quick, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["wrong"]) == (0, 0)
    # Other tests begin runs at the same time, and the first to begin removes them: who says so is not known.
    assert of_process(processes[0]) == []


@needs_the_kernel
def test_what_is_removed_of_killed_runs_is_said(cli: RunCli, plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(gpus=3)
    plan.save(plan_file)
    monkeypatch.setattr(namespaces, "remove_left", lambda: 4)
    words = ["--transport", "kernel", "--runs", 1, "--dilation", dilation(plan)]
    ran = cli("run", plan_file, *words)
    assert (ran.status, ran.err) == (0, "removed 4 network namespaces of runs that were killed\n")


@needs_the_kernel
def test_only_what_is_provably_left_is_removed() -> None:
    started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    of_another_machine = f"lightloom-{os.getpid()}-{started + 1}-1-switch"
    alive, left = named(os.getpid(), started), named(os.getpid(), started + 1, "rank-3")
    for name in (alive, left, of_another_machine):
        say("ip", "netns", "add", name)
    try:
        assert remove_left() >= 1
        assert of_process(os.getpid()) == sorted([alive, of_another_machine])
    finally:
        for name in (alive, left, of_another_machine):
            say("ip", "-force", "netns", "del", name)


@needs_the_kernel
def test_a_network_that_cannot_be_made_leaves_nothing() -> None:
    with (
        pytest.raises(InputError, match=r"^transport: `kernel` is not accepted here: `ip` says: "),
        KernelNetwork(os.getpid(), ranks=2, ports=1, packet_bytes=-100, rate_bps=1e6),
    ):
        pass
    assert of_process(os.getpid()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")
@pytest.mark.parametrize(
    ("lacks", "reason"),
    [("root", "it takes root to make network namespaces"), ("tc", "there is no `tc`, which is part of iproute2")],
)
def test_where_it_cannot_be_the_reason_is_said(lacks: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000 if lacks == "root" else 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == lacks else f"/sbin/{name}")
    assert namespaces.reason_against() == reason
    with pytest.raises(InputError) as refused:
        run_once(plan_of(), transport="kernel")
    assert str(refused.value) == f"transport: `kernel` is not accepted here: {reason}"


@needs_the_kernel
def test_packets_that_are_no_datagrams_are_refused() -> None:
    with pytest.raises(InputError, match=r"^packet_size: `65536`"):
        run_once(plan_of(), transport="kernel", packet_size="64KiB")

"""Runs on hosts that are network namespaces, over a switch that passes frames only where a circuit is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.running.controller import RunFailedError
from lightloom.running.hosts import agents as agents_of_command
from lightloom.running.hosts import course
from lightloom.running.hosts.secret import SECRET
from lightloom.switches.simulated import Faults, SimulatedSwitch
from tests.running.host_agents import SECRET_OF_TESTS
from tests.running.lab import Lab, made, reason_to_skip
from tests.running.random_host_faults import random_faults

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(reason_to_skip() is not None, reason=f"no network namespaces here: {reason_to_skip()}"),
]
FABRIC = ll.Fabric(gpus=8, reconfiguration_delay="10us")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Four hosts with two ranks each."""
    monkeypatch.setenv(SECRET, SECRET_OF_TESTS)
    monkeypatch.chdir(tmp_path)
    with made(tmp_path) as lab:
        yield lab


def executor(lab: Lab, switch: SimulatedSwitch, runs: int = 2) -> ll.Executor:
    told = {"hosts": str(lab.file), "launch": "none", "switch": switch.address}
    return ll.Executor(transport="tcp", runs=runs, warm_ups=0, **told)  # type: ignore[arg-type]


def sent_bytes(plan: ll.Plan) -> list[float]:
    """Bytes that every rank sends and passes on, by the plan's paths."""
    sent = [0.0] * plan.gpus
    for step in range(len(plan.steps)):
        for path in plan.routes(step):
            for sender, _ in pairwise(path.gpus):
                sent[sender] += path.size_bytes
    return sent


def reconfigured() -> list[ll.Plan]:
    """Three plans whose circuits change, one of them between steps of different collectives' patterns."""
    asked = (("all-reduce", "recursive-doubling"), ("reduce-scatter", "halving-doubling"), ("all-gather", None))
    plans = []
    for collective, algorithm in asked:
        told = {"algorithm": algorithm or "recursive-doubling", "planner": "bvn"}
        plan = ll.plan(collective, "256KiB", fabric=FABRIC, **told)  # type: ignore[arg-type]
        assert plan.reconfigurations
        plans.append(plan)
    return plans


def test_frames_cross_only_circuits_that_are_lit(lab: Lab) -> None:
    runs = 2
    with lab.agents(), lab.switch() as switch, executor(lab, switch, runs) as run:
        for plan in reconfigured():
            before, changes = lab.passed_bytes, switch.crossbar.changes
            found = run.run(plan)
            assert found.wrong == 0
            assert switch.crossbar.changes - changes >= runs * plan.reconfigurations
            assert lab.dark == 0
            # Data, and little more: heads of frames and messages, beginnings and ends of connections.
            crossed = [after - one for after, one in zip(lab.passed_bytes, before, strict=True)]
            for found_bytes, planned in zip(crossed, sent_bytes(plan), strict=True):
                assert runs * planned <= found_bytes <= 1.1 * runs * planned + 4096 * runs * len(plan.steps)


def test_a_ring_one_way_through_two_ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing comes back through a circuit; of two ports each takes a part of what goes to a neighbour."""
    monkeypatch.setenv(SECRET, SECRET_OF_TESTS)
    monkeypatch.chdir(tmp_path)
    fabric = ll.Fabric(gpus=4, ports=2)
    plan = ll.plan("all-gather", "64KiB", fabric=fabric, algorithm="ring", planner="static", topology="ring")
    with made(tmp_path, hosts=2, ports=2) as lab, lab.agents(), lab.switch() as switch, executor(lab, switch) as run:
        found = run.run(plan)
        assert found.wrong == 0
        assert lab.dark == 0
        assert min(lab.passed_bytes) > 0
        used = found.times.circuit_bytes.sum(axis=(0, 1)).reshape(4, 2)
        assert used.sum(axis=1).tolist() == [2 * size for size in sent_bytes(plan)]


def failing(lab: Lab, switch: SimulatedSwitch, plan: ll.Plan) -> tuple[threading.Thread, list[str]]:
    """A run that is under way, and what it says at its end."""
    said: list[str] = []

    def carry_out() -> None:
        with executor(lab, switch) as run:
            try:
                run.run(plan)
            except RunFailedError as error:
                said.append(str(error))

    thread = threading.Thread(target=carry_out)
    thread.start()
    return thread, said


def test_a_host_that_dies_or_loses_its_power(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents_of_command, "SILENT_S", 2.0)
    plan = reconfigured()[0]
    with lab.agents() as agents, lab.switch() as switch:
        switch.crossbar.faults = Faults(slow_s=0.3)
        for host, end in ((2, agents[2].kill), (3, lambda: lab.cut_off(3))):
            thread, said = failing(lab, switch, plan)
            time.sleep(1.5)
            end()
            thread.join(60)
            assert len(said) == 1
            assert said[0].startswith(f"host {lab.names[host]} was lost ")
            assert said[0].endswith("; all hosts were told to stop")
            if host == 2:
                agents[2].wait()
                agents[2] = lab.agent(2)
                time.sleep(2.0)
        lab.cut_off(3, again=True)
        switch.crossbar.faults = Faults()
        with executor(lab, switch) as run:
            assert run.run(plan).wrong == 0
        assert lab.dark == 0


def test_a_switch_that_lies(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that it holds a circuit, and no light passes."""
    monkeypatch.setattr(course, "OPENING_S", 1.0)
    plan = reconfigured()[0]
    with lab.agents(), lab.switch() as switch:
        pass_on = lab.light
        monkeypatch.setattr(lab, "light", lambda circuits: pass_on({one for one in circuits if one[0] != 3}))
        with executor(lab, switch) as run, pytest.raises(RunFailedError) as caught:
            run.run(plan)
        line = str(caught.value)
        assert "the circuit from rank 2 to rank 3 leads nowhere: no connection within 1 s" in line
        assert line.endswith("; all hosts were told to stop")
        # What tells of it are frames on the dark port.
        assert lab.dark > 0


def test_a_switch_that_fails_between_steps(lab: Lab) -> None:
    plan = reconfigured()[0]
    with lab.agents(), lab.switch() as switch:
        # The first change makes the first step's circuits.
        switch.crossbar.faults = Faults(refuse_change=frozenset({2, 3, 4}))
        with (
            executor(lab, switch) as run,
            pytest.raises(RunFailedError, match=r"^configuration 1 was not made before s"),
        ):
            run.run(plan)
        switch.crossbar.faults = Faults()
        with executor(lab, switch) as run:
            assert run.run(plan).wrong == 0
        assert lab.dark == 0


def test_random_faults_end_runs_with_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, SECRET_OF_TESTS)
    monkeypatch.chdir(tmp_path)
    for module, name in ((agents_of_command, "SILENT_S"), (course, "OPENING_S")):
        monkeypatch.setattr(module, name, getattr(module, name))
    assert random_faults(4, seed=3).total() == 4

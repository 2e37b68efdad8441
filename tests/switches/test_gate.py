"""The gate of a job: circuits change when all ranks are done, and ranks go on when the switch holds their circuits."""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from threading import Thread
from time import sleep

import pytest

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import FailedError
from lightloom.switches import Connections, Switches
from lightloom.switches.gate import LostRankError, configurations_by_step, serve_gate
from lightloom.switches.simulated import SimulatedSwitch
from tests.conftest import ROOT, RunCli
from tests.refusals import assert_refused
from tests.switches.conftest import StartSwitch, address

GPUS = 8


@pytest.fixture
def plan(in_own_folder: Path) -> ll.Plan:
    """A plan whose circuits change several times."""
    fabric = ll.Fabric(gpus=GPUS, reconfiguration_delay="1us")
    made = ll.plan("all-reduce", "16MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    assert made.reconfigurations >= 2
    made.save(in_own_folder / "plan.json")
    return made


def ranks_of(gate: Path, switch: SimulatedSwitch, runs: int) -> tuple[list[Thread], list[list[Connections]]]:
    """A thread for each rank, and by rank the circuits that the switch held while the rank was in each step."""
    seen: list[list[Connections]] = [[] for _ in range(GPUS)]

    def follow(rank: int) -> None:
        opened = _core.GateRank(gate, rank, 30.0)
        for step in range(runs * opened.steps):
            assert opened.wait_for(step, 30.0) == "done"
            seen[rank].append(switch.crossbar.circuits)
            assert opened.done(step) == "done"
        opened.close()

    threads = [Thread(target=follow, args=(rank,), daemon=True) for rank in range(GPUS)]
    for thread in threads:
        thread.start()
    return threads, seen


@pytest.mark.parametrize("runs", [None, 3])
def test_every_rank_is_in_every_step_on_its_circuits(
    cli: RunCli, start: StartSwitch, plan: ll.Plan, in_own_folder: Path, runs: int | None
) -> None:
    switch = start("scpi")
    threads, seen = ranks_of(in_own_folder / "gate", switch, 3)
    ran = cli(
        "circuits",
        "plan.json",
        "--send",
        address(switch),
        "--gate",
        "gate",
        *([] if runs is None else ["--runs", runs]),
    )
    for thread in threads:
        thread.join(30)
    assert (ran.status, ran.err) == (0, "")
    assert not (in_own_folder / "gate").exists()
    # A GPU of one port is at the port of its own number, counted from 1.
    topologies = [{(a + 1, b + 1) for a, b in ll.to_networkx(one).edges()} for one in plan.topologies]
    wanted = [topologies[step.topology_index] for step in plan.steps] * 3
    assert seen == [wanted] * GPUS
    assert f"open for ranks 0 to {GPUS - 1}, {len(plan.steps)} steps a run" in ran.out
    assert ran.out.endswith(f"the gate is closed: all ranks have done {3 * len(plan.steps)} steps\n")


def test_a_switch_that_refuses_is_told_to_the_ranks(start: StartSwitch, plan: ll.Plan, in_own_folder: Path) -> None:
    switch = start("scpi", faults="refuse=3")
    circuits = ll.circuits(plan)
    gate = in_own_folder / "gate"
    said: list[str] = []

    def wait(rank: int) -> None:
        opened = _core.GateRank(gate, rank, 30.0)
        said.append(opened.wait_for(0, 30.0))

    threads = [Thread(target=wait, args=(rank,), daemon=True) for rank in range(GPUS)]

    configurations = configurations_by_step(circuits)
    served = _core.Gate(gate, GPUS, len(configurations))
    for thread in threads:
        thread.start()
    sleep(0.1)
    with (
        Switches.of(circuits, address(switch)) as switches,
        pytest.raises(FailedError, match="was rejected"),
    ):
        serve_gate(switches, served, configurations)
    for thread in threads:
        thread.join(30)
    assert said == ["switch-failed"] * GPUS


@pytest.mark.large
def test_the_example_in_c_follows_a_plan_on_a_simulated_switch(
    cli: RunCli, start: StartSwitch, plan: ll.Plan, in_own_folder: Path
) -> None:
    if shutil.which("cc") is None:
        pytest.skip("there is no cc")
    told = ["--package", "lightloom-gate", "--locked", "--offline", "--message-format", "json"]
    # Cargo's own files are in the home of the person who runs the tests.
    home = {**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir}
    command = ["cargo", "build", *told]
    built = subprocess.run(command, cwd=ROOT, env=home, capture_output=True, text=True, check=True)
    files = [file for line in built.stdout.splitlines() for file in json.loads(line).get("filenames", [])]
    library = next(Path(file) for file in files if file.endswith("liblightloom_gate.so"))
    (in_own_folder / "liblightloom_gate.so.1").symlink_to(library)
    header, source = ROOT / "crates" / "gate" / "include", ROOT / "examples" / "c" / "gate.c"
    linked = ["-L", str(library.parent), "-llightloom_gate", f"-Wl,-rpath,{in_own_folder}"]
    subprocess.run(["cc", "-I", str(header), str(source), "-o", "ranks", *linked], check=True)  # noqa: S607
    switch, runs = start("scpi"), 5
    with subprocess.Popen(["./ranks", "gate", str(GPUS), str(runs)], stdout=subprocess.PIPE, text=True) as ranks:
        ran = cli("circuits", "plan.json", "--send", address(switch), "--gate", "gate", "--runs", runs)
        said = ranks.communicate(timeout=60)[0]
    steps = runs * len(plan.steps)
    assert (ran.status, ranks.returncode) == (0, 0)
    assert sorted(said.splitlines()) == [f"rank {rank}: {steps} steps, each on its circuits" for rank in range(GPUS)]
    # Each run goes through all configurations anew.
    configurations = configurations_by_step(ll.circuits(plan))
    assert ran.out.count("acknowledged in") == runs * (1 + sum(one != other for one, other in pairwise(configurations)))


RANK = """
import sys
from lightloom import _core
from lightloom.base.errors import FailedError
gate = _core.GateRank(sys.argv[1], int(sys.argv[2]), 30.0)
assert gate.wait_for(0, 30.0) == "done"
print("in step 0", flush=True)
{then}
"""


def test_a_rank_that_is_killed_ends_the_others(start: StartSwitch, plan: ll.Plan, in_own_folder: Path) -> None:
    switch = start("scpi")
    gate = in_own_folder / "gate"
    then = "gate.done(0); last = gate.steps; print([gate.wait_for(step, 30.0) for step in (0, last)][1], gate.lost)"
    circuits = ll.circuits(plan)
    configurations = configurations_by_step(circuits)
    # The gate waits for the last step that the first circuits are for; steps count from 0.
    waited = next(step for step, one in enumerate(configurations) if one != configurations[0]) - 1
    served = _core.Gate(gate, GPUS, len(configurations))
    ranks: list[subprocess.Popen[str]] = []
    for rank in range(GPUS):
        text = RANK.format(then="import time; time.sleep(60)" if rank == 3 else then)
        command = [sys.executable, "-c", text, str(gate), str(rank)]
        ranks.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))

    def kill() -> None:
        assert all(one.stdout is not None and one.stdout.readline() == "in step 0\n" for one in ranks)
        os.kill(ranks[3].pid, signal.SIGKILL)

    Thread(target=kill, daemon=True).start()
    lost = rf"rank 3 ended.*had not all done step {waited} of the gate"
    with Switches.of(circuits, address(switch)) as switches, pytest.raises(LostRankError, match=lost):
        serve_gate(switches, served, configurations)
    said = [one.communicate(timeout=30)[0] for one in ranks]
    assert said == ["" if rank == 3 else "rank-lost 3\n" for rank in range(GPUS)]


def test_a_controller_that_is_killed_is_noticed(in_own_folder: Path) -> None:
    gate = in_own_folder / "gate"
    text = (
        "import sys, time; from lightloom import _core; g = _core.Gate(sys.argv[1], 1, 1); g.publish(1); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", text, str(gate)]) as controller:
        rank = _core.GateRank(gate, 0, 30.0)
        assert rank.wait_for(0, 30.0) == "done"
        controller.kill()
        controller.wait()
    assert rank.wait_for(1, 30.0) == "controller-lost"
    # Another controller takes the place of the gate that is left.
    _core.Gate(gate, 1, 1).close()
    assert not gate.exists()


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (["--gate", "gate", "--configuration", "1"], "configuration: it cannot be combined with --gate"),
        (["--gate", "gate", "--follow"], "gate: it cannot be combined with --follow"),
        (["--ranks", "8"], "ranks: it is used only together with --send and --gate"),
        (["--runs", "8"], "runs: it is used only together with --send and --gate"),
        (["--gate", "plan.json"], "gate: `plan.json`: the file that is there is no gate"),
        (["--gate", "nowhere/gate"], "gate: `nowhere/gate`: No such file"),
        (["--gate", "gate", "--ranks", "70000"], "ranks: `70000` is not accepted"),
    ],
)
def test_wrong_options_are_refused(
    cli: RunCli, start: StartSwitch, plan: ll.Plan, in_own_folder: Path, given: list[str], refusal: str
) -> None:
    assert plan.gpus == GPUS
    ran = cli("circuits", "plan.json", "--send", address(start("scpi")), "--output", "circuits.json", *given)
    assert ran.status == 2
    assert re.match(f"error: {re.escape(refusal)}", ran.err), ran.err
    assert [file.name for file in in_own_folder.iterdir()] == ["plan.json"]


@pytest.mark.large
def test_circuits_without_a_plan_need_ranks_and_those_without_steps_are_refused(
    cli: RunCli, start: StartSwitch, plan: ll.Plan, in_own_folder: Path
) -> None:
    ll.circuits(plan).save(in_own_folder / "circuits.json")
    sent = ["circuits", "circuits.json", "--send", address(start("scpi")), "--gate", "gate"]
    assert_refused(cli, in_own_folder, *sent, field="ranks")
    trained, timed = ll.train("bert-pccl", ranks=8), ll.timeline("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4))
    for circuits in (ll.circuits(trained), timed.circuits()):
        with pytest.raises(ll.InputError, match="gate: the circuits are those of a timeline or a training iteration"):
            configurations_by_step(circuits)

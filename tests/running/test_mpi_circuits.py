"""Runs by MPI whose circuits are on a switch: simulated, slow, and failing in every way that it has."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import FailedError, InputError
from lightloom.running import mpi_processes
from lightloom.running.mpi_circuits import planned_changes
from lightloom.running.mpi_memory import FOLDER, NAMES
from lightloom.switches.simulated import Faults, SimulatedSwitch, start_switch
from tests.conftest import RunCli
from tests.running.test_mpi import MPIEXEC, ranks
from tests.running.test_mpi import pytestmark as needs_mpi
from tests.running.test_mpi_processes import ranks_of

pytestmark = needs_mpi


@pytest.fixture
def switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedSwitch]:
    """A switch of 4 by 4 ports; files of runs, and its former circuits, go to a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with start_switch("scpi", 4, listen="127.0.0.1:0") as switch:
        yield switch


def doubling(gpus: int = 4, **told: Any) -> ll.Plan:
    """Recursive doubling over 1, 2, 2 and 1 ranks' distance: circuits change before the second and fourth step."""
    fabric = ll.Fabric(gpus=gpus, **told)
    plan = ll.plan("all-reduce", "64KiB", fabric=fabric, algorithm="recursive-doubling", planner="bvn")
    if gpus == 4:
        assert [step.reconfigured for step in plan.steps] == [False, True, False, True]
    return plan


def failed(plan: ll.Plan, address: str) -> tuple[int, list[str]]:
    """The exit status of 4 ranks that mpiexec starts, and their own lines; none writes to standard output."""
    plan.save("plan.json")
    began_s = time.time()
    ran = ranks(
        4,
        "-m",
        "lightloom",
        "run",
        Path("plan.json").resolve(),
        "--transport",
        "mpi",
        "--switch",
        address,
        folder=Path.cwd(),
    )
    assert ran.stdout.count("match NumPy") == 0
    assert named_since(began_s) == []
    return ran.returncode, [line for line in ran.stderr.splitlines() if line.startswith("error: ")]


def named_since(began_s: float) -> list[str]:
    """Names of memory of an MPI's ranks that have come since, and are still there."""
    files = [path for path in FOLDER.iterdir() if NAMES.fullmatch(path.name)]
    return [path.name for path in files if path.stat().st_ctime >= began_s]


@pytest.mark.large
def test_steps_wait_for_their_circuits_and_circuits_for_steps(tmp_path: Path) -> None:
    """No rank begins a step before its circuits are acknowledged, nor are these asked for while one is in the last."""
    code = (
        "import json, pathlib, sys, time\n"
        "import lightloom as ll\n"
        "from lightloom.running import data, mpi, program\n"
        "plan = ll.plan('all-reduce', '4KiB', fabric=ll.Fabric(gpus=4), algorithm='ring', planner='static')\n"
        "ready, kind = program.program_of(plan, 4), data.data_type('float32')\n"
        "rank, log = mpi.MpiRank(ready, kind), []\n"
        "class Changes:\n"
        "    steps, longest_s = (0, 2, 3), 1.0\n"
        "    def make(self, step):\n"
        "        log.append(['change', step, time.monotonic(), time.sleep(0.03) or time.monotonic()])\n"
        "        return 0.01\n"
        "def timed(index, part, exchange=rank._exchange):\n"
        "    began_s, found = time.monotonic(), exchange(index, part)\n"
        "    log.append(['step', index, began_s, time.monotonic()])\n"
        "    return found\n"
        "rank._exchange = timed\n"
        "rank.run(data.DrawnInputs(ready, kind)[rank.rank], changes=Changes())\n"
        "pathlib.Path(sys.argv[1], str(rank.rank)).write_text(json.dumps(log))\n"
    )
    ran = ranks(4, "-c", code, tmp_path)
    assert ran.returncode == 0, ran.stderr
    # The clock is that of the machine, the same for all its processes.
    logs = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(4)]
    changes = {step: (asked_s, made_s) for kind, step, asked_s, made_s in logs[0] if kind == "change"}
    assert sorted(changes) == [0, 2, 3]
    spans = [[(begin, end) for kind, _, begin, end in log if kind == "step"] for log in logs]
    assert {len(span) for span in spans} == {6}
    for step, (asked_s, made_s) in changes.items():
        assert made_s <= min(span[step][0] for span in spans)
        assert step == 0 or max(span[step - 1][1] for span in spans) <= asked_s


@pytest.mark.large
def test_what_a_slow_switch_costs(switch: SimulatedSwitch) -> None:
    """A switch that takes 60 ms for a change, and 10 ms for each answer."""
    switch.crossbar.faults = Faults(slow_s=0.06, late_s=0.01)
    plan = doubling()
    found = ll.run(plan, transport="mpi", runs=2, warm_ups=0, switch=switch.address)
    assert found.wrong == 0
    assert planned_changes(plan, switch.address).configurations == {1: 1, 3: 2}
    for step in found.steps:
        if not step.reconfigured:
            # Circuits of the first step are there when a run begins, as in the plan.
            assert (step.dark_s, step.switch_s) == (0.0, 0.0)
            continue
        assert step.switch_s is not None
        # Read before, make, and read back: three late answers at least.
        assert 0.06 <= step.switch_s <= step.dark_s - 0.02 + 1e-9
        assert step.predicted_dark_s == plan.steps[step.index].reconfiguration_s
    times = found.times
    parts_s = [
        times.asked_s - times.begun_s,
        times.acknowledged_s - times.asked_s,
        times.released_s.max(axis=2) - times.acknowledged_s,
        times.end_s - times.released_s.max(axis=2),
    ]
    # Ranks of one machine have one clock: nothing ends before it begins.
    assert min(part.min() for part in parts_s) >= 0.0
    assert np.sum(parts_s, axis=0) == pytest.approx(times.end_s - times.begun_s)
    for step, planned in zip(found.steps, plan.steps, strict=True):
        predicted_s = step.predicted_barrier_s + step.predicted_dark_s + step.predicted_transfer_s
        assert predicted_s == pytest.approx(planned.total_s)
        assert step.barrier_s == pytest.approx(np.median(parts_s[0][:, step.index]))
        assert step.release_s == pytest.approx(np.median(parts_s[2][:, step.index]))
        assert step.transfer_s == pytest.approx(np.median(parts_s[3][:, step.index]))
    # The last circuits stay; all data of the last step have one, from port to port as from rank to rank.
    used = {(begin + 1, end + 1) for path in plan.routes(3) for begin, end in pairwise(path.gpus)}
    assert used
    assert used <= switch.crossbar.circuits


@pytest.mark.large
def test_circuits_change_while_ranks_compute(switch: SimulatedSwitch) -> None:
    """Behind a computation of 100 ms a change of 60 ms costs nothing but the release."""
    switch.crossbar.faults = Faults(slow_s=0.06)
    plan = doubling(window="100ms")
    found = ll.run(plan, transport="mpi", runs=1, warm_ups=0, switch=switch.address)
    assert found.wrong == 0
    for step in (found.steps[1], found.steps[3]):
        assert step.dark_s >= 0.06
        assert step.measured_s < step.barrier_s + step.dark_s + step.release_s + step.transfer_s


@pytest.mark.large
def test_eight_ranks_that_mpiexec_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    doubling(8).save("plan.json")
    run = ("-m", "lightloom", "run", tmp_path / "plan.json", "--transport", "mpi", "--runs", "1", "--switch")
    with start_switch("restconf", 8, listen="127.0.0.1:0") as switch:
        ran = ranks(8, *run, switch.address, "--output", tmp_path / "run.json", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "all 8 ranks match NumPy" in ran.stdout
    assert re.search(r"^ +step +barrier +planned +dark +switch +planned +release +transfer +planned$", ran.stdout, re.M)
    steps = json.loads(Path("run.json").read_text())["steps"]
    assert [step["dark_s"] > 0 for step in steps] == [step["reconfigured"] for step in steps]
    assert {step["switch_s"] is None for step in steps} == {False}


def test_the_same_columns_in_shared_memory(switch: SimulatedSwitch) -> None:
    """An outside switch that answers after 20 ms; changes of the emulated one take longer when dilated."""
    switch.crossbar.faults = Faults(slow_s=0.02)
    plan = doubling(reconfiguration_delay="50us")
    found = ll.run(plan, runs=2, dilation=1000, switch=switch.address)
    for step in found.steps:
        assert step.switch_s is not None
        assert step.switch_s == 0.0 if not step.reconfigured else 20e-6 <= step.switch_s <= step.dark_s
    assert {step.switch_s for step in ll.run(plan, runs=1, dilation=1000).steps} == {None}


@pytest.mark.large
@pytest.mark.parametrize(
    ("faults", "setting", "said"),
    [
        # Ingress port 3 cannot be connected anew: the first circuits already.
        (
            "refuse=3",
            "",
            r"configuration 0 was not made, before the first step: switch crossbar: circuit 3 -> 4 was rej",
        ),
        ("late=2s", "?timeout=200ms", r"switch crossbar: no answer from .* within 0.2 s; nothing was changed"),
        ("slow=2s", "?timeout=200ms&settle=200ms", r"configuration 0 was not made, before the first step: switch"),
    ],
)
def test_a_switch_that_fails_ends_all_ranks(faults: str, setting: str, said: str, switch: SimulatedSwitch) -> None:
    switch.crossbar.faults = Faults.parse("faults", faults)
    status, lines = failed(doubling(), switch.address + setting)
    assert (status, len(lines)) == (1, 1), lines
    assert re.match(f"error: {said}", lines[0])


def test_a_switch_that_is_gone(switch: SimulatedSwitch) -> None:
    address = switch.address
    switch.close()
    status, lines = failed(doubling(), address)
    assert (status, len(lines)) == (1, 1)
    assert re.match(
        r"error: switch crossbar: cannot be reached at .*: Connection refused; nothing was changed", lines[0]
    )
    with pytest.raises(FailedError, match=r"^switch crossbar: cannot be reached at "):
        ll.run(doubling(), transport="mpi", switch=address)


@pytest.mark.large
def test_a_switch_that_fails_between_steps(switch: SimulatedSwitch) -> None:
    """The circuits of the first step are there; of those of the second, that from port 1 to port 3 is refused."""
    switch.crossbar.circuits = {(1, 2), (2, 3), (3, 4), (4, 1)}
    switch.crossbar.faults = Faults(refuse=frozenset({1}))
    status, lines = failed(doubling(), switch.address)
    assert (status, len(lines)) == (1, 1)
    assert re.match(
        r"error: configuration 1 was not made, before step 2: switch crossbar: circuit 1 -> 3 was rejected", lines[0]
    )
    switch.crossbar.circuits = {(1, 2), (2, 3), (3, 4), (4, 1)}
    with pytest.raises(FailedError, match=r"^configuration 1 was not made, before step 2: switch crossbar: circuit 1 "):
        ll.run(doubling(), transport="mpi", switch=switch.address)


@pytest.mark.large
def test_what_cannot_be_set_is_refused_by_all_ranks(switch: SimulatedSwitch) -> None:
    status, lines = failed(doubling(), "nonsense://host")
    assert (status, lines) == (2, ["error: switch: unknown name `nonsense`; one of scpi, restconf, sonic"])
    with start_switch("scpi", 3, listen="127.0.0.1:0") as small:
        status, lines = failed(doubling(), small.address)
    assert (status, len(lines)) == (2, 1)
    assert re.match(r"error: switch: switch crossbar .* has 3 ingress ports; the plan's need 4", lines[0])
    # Its former circuits have to be kept before anything changes.
    Path("out").write_text("in the way")
    status, lines = failed(doubling(), switch.address)
    assert (status, len(lines)) == (2, 1)
    assert lines[0].startswith("error: switch: ")


def test_plans_whose_changes_no_run_makes_are_refused() -> None:
    fabric = ll.Fabric(gpus=8, ports=3, reconfiguration_delay="1us", background_reconfiguration=True)
    candidates = ["circulant:1,2", "circulant:1,4", "circulant:2,4"]
    told: dict[str, Any] = {"algorithm": "recursive-doubling", "planner": "harvest", "candidates": candidates}
    plan = ll.plan("all-gather", "1MiB", fabric=fabric, **told)
    with pytest.raises(InputError, match=r"^plan: the circuits of the plan change in the background before step 2"):
        ll.run(plan, transport="mpi", switch="scpi://127.0.0.1")
    plan = ll.plan("all-reduce", "64KiB", fabric=ll.Fabric(gpus=4, ports=2, optics="parallel"), algorithm="ring")
    with pytest.raises(InputError, match=r"^switch: the plan has 2 switches, port-0, port-1; a run sets one$"):
        ll.run(plan, transport="mpi", switch="scpi://127.0.0.1")


@pytest.mark.large
def test_a_rank_that_is_late_for_the_release_ends_all(switch: SimulatedSwitch) -> None:
    doubling().save("plan.json")
    code = (
        "import time, sys\n"
        "from lightloom.cli import program\n"
        "from lightloom.running import mpi, mpi_circuits, mpi_runs\n"
        "mpi.PATIENCE_S, mpi_circuits.CALLS = 0.5, 1\n"
        "if mpi_runs.rank_told() == 1:\n"
        "    barrier = mpi.MpiRank._barrier\n"
        "    mpi.MpiRank._barrier = lambda self, late, longest_s: (\n"
        "        time.sleep(60) if 'released' in late else barrier(self, late, longest_s))\n"
        "sys.argv[0] = 'lightloom'\n"
        "program()\n"
    )
    began_s = time.monotonic()
    run = ("run", Path("plan.json").resolve(), "--transport", "mpi", "--switch")
    ran = ranks(4, "-c", code, *run, f"{switch.address}?timeout=500ms&settle=500ms", folder=Path.cwd())
    assert ran.returncode == 1
    assert "step 1: not all ranks were released in time" in ran.stderr
    assert time.monotonic() - began_s < 30


@pytest.mark.large
def test_a_rank_that_dies_while_circuits_change(switch: SimulatedSwitch, tmp_path: Path) -> None:
    """The others, which wait for the switch, are ended by mpiexec, and no memory of theirs is left."""
    switch.crossbar.faults = Faults(slow_s=30.0)
    doubling().save("plan.json")
    assert MPIEXEC is not None
    began_s = time.time()
    run = ["-m", "lightloom", "run", str(tmp_path / "plan.json"), "--transport", "mpi", "--switch"]
    process = subprocess.Popen(
        [MPIEXEC, "-n", "4", sys.executable, *run, f"{switch.address}?timeout=60s"],
        env=os.environ | mpi_processes.ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while switch.crossbar.changes == 0:
        assert time.time() - began_s < 60, "the switch is not asked"
        time.sleep(0.05)
    found = ranks_of(tmp_path)
    os.kill(found[2], signal.SIGKILL)
    assert process.wait(30) != 0
    assert named_since(began_s) == []


@pytest.mark.large
def test_the_verb_starts_ranks_with_a_switch(cli: RunCli, switch: SimulatedSwitch) -> None:
    doubling().save("plan.json")
    ran = cli("run", "plan.json", "--transport", "mpi", "--runs", 1, "--switch", switch.address, "--format", "csv")
    assert ran.status == 0, ran.err
    header, *rows = ran.out.splitlines()
    assert header.split(",")[7:12] == ["barrier_s", "dark_s", "switch_s", "release_s", "transfer_s"]
    assert len(rows) == 4

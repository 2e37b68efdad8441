"""Runs by ranks that mpiexec starts: their measurements, and how they end where something fails."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import FailedError, InputError
from lightloom.running import mpi_processes
from lightloom.running.data import DATA_TYPES, DrawnInputs
from lightloom.running.mpi_processes import run_by_mpiexec
from lightloom.running.mpi_runs import MpiOptions
from lightloom.running.program import program_of
from tests.conftest import ROOT, RunCli
from tests.running.test_mpi import pytestmark as needs_mpi
from tests.running.test_mpi import ranks

FLOAT32 = DATA_TYPES["float32"]
# Runs for longer than any test.
ENDLESS = """
import lightloom as ll
from lightloom.running.data import DATA_TYPES, DrawnInputs
from lightloom.running.mpi_processes import run_by_mpiexec
from lightloom.running.mpi_runs import MpiOptions
from lightloom.running.program import program_of
plan = ll.plan("all-reduce", "64KiB", fabric=ll.Fabric(gpus=4))
kind = DATA_TYPES["float32"]
try:
    run_by_mpiexec(plan, DrawnInputs(program_of(plan, 4), kind), MpiOptions(kind, "sum", 10**9, 0, None))
except ll.errors.FailedError as error:
    print(error)
"""


def options(**told: Any) -> MpiOptions:
    return MpiOptions(FLOAT32, "sum", 2, 1, None)._replace(**told)


def inputs_of(plan: ll.Plan) -> DrawnInputs:
    return DrawnInputs(program_of(plan, 4), FLOAT32)


@pytest.fixture
def in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of runs, and a switch's former circuits, go to a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.fixture
def endless(tmp_path: Path) -> tuple[subprocess.Popen[str], dict[int, int]]:
    """A process that runs a plan on 4 ranks for ever, and the process of each rank."""
    environment = os.environ | {"TMPDIR": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while len(ranks := ranks_of(tmp_path)) < 4:
        assert time.monotonic() < deadline, "ranks do not begin"
        time.sleep(0.05)
    # The memory that they share has no name once they run, so that nothing of it outlives them, however they end.
    while not any(tmp_path.glob("lightloom-*/begun")) or any(map(has_named, ranks.values())):
        assert time.monotonic() < deadline, "ranks do not begin, or share what has a name"
        time.sleep(0.05)
    time.sleep(0.5)
    return process, ranks


def has_named(process: int) -> bool:
    """Whether a process shares memory with others that stays where all of them are ended."""
    held = Path(f"/proc/{process}/maps").read_text().splitlines()
    return any("mpich_shm" in line and not line.endswith("(deleted)") for line in held)


def ranks_of(folder: Path) -> dict[int, int]:
    """The processes of ranks of a run whose files are in the folder, by what mpiexec told them."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder) in (process / "cmdline").read_text():
                told = re.search(r"(?:^|\0)PMIX?_RANK=(\d+)", (process / "environ").read_text())
                if told is not None:
                    found[int(told[1])] = int(process.name)
    return found


def is_running(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def all_end(ranks: dict[int, int], folder: Path) -> bool:
    """Whether no rank and no file of the run is left, within some seconds."""
    deadline = time.monotonic() + 30
    while any(map(is_running, ranks.values())) or any(folder.glob("lightloom-*")):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.large
@needs_mpi
def test_what_is_measured(in_own_folder: Path) -> None:
    """A recursive doubling over a ring one way: of 3 steps on 8 ranks, the second and third are passed on."""
    fabric = ll.Fabric(gpus=8)
    plan = ll.plan(
        "reduce-scatter", "64KiB", fabric=fabric, algorithm="recursive-doubling", planner="static", topology="ring"
    )
    inputs = inputs_of(plan)
    found = run_by_mpiexec(plan, inputs, options(runs=3))
    assert found.wrong == 0
    whole = np.sum(inputs, axis=0)
    assert [array.tolist() for array in found.arrays] == [part.tolist() for part in np.split(whole, 8)]
    assert (found.settings.transport, found.settings.dilation, found.settings.runs) == ("mpi", 1.0, 3)
    assert found.times.total_s.shape == (3,)
    assert found.measured.min <= found.measured.median <= found.measured.max
    assert sum(step.measured_s for step in found.steps) == pytest.approx(found.measured.median, rel=1)
    forwarded = [
        sum(path.size_bytes * (len(path.gpus) - 2) for path in plan.routes(index)) for index in range(len(plan.steps))
    ]
    assert max(forwarded) > 0
    assert [step.forwarded_bytes for step in found.steps] == forwarded
    assert found.times.arrived_s.shape == (3, 3, 8)
    assert found.jitter.probe.sleeps == 8 * 100
    assert list(in_own_folder.glob("lightloom-*")) == []


@pytest.mark.large
@needs_mpi
def test_a_rank_that_dies_ends_all(endless: tuple[subprocess.Popen[str], dict[int, int]], tmp_path: Path) -> None:
    process, ranks = endless
    os.kill(ranks[2], signal.SIGKILL)
    said, _ = process.communicate(timeout=60)
    # MPICH's mpiexec does not know which rank it was.
    assert re.fullmatch(r"transport: mpi: (rank 2|a rank) was ended by a signal, and all others with it\n", said), said
    assert all_end(ranks, tmp_path)


@pytest.mark.large
@needs_mpi
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_run_whose_asker_is_ended(
    endless: tuple[subprocess.Popen[str], dict[int, int]], tmp_path: Path, number: signal.Signals
) -> None:
    process, ranks = endless
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert all_end(ranks, tmp_path)


@needs_mpi
def test_an_mpiexec_that_hangs_is_ended(in_own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = in_own_folder / "mpiexec"
    hangs.write_text("#!/bin/sh\ntrap '' TERM\nsleep 600 &\necho $! > child\nsleep 600\n")
    hangs.chmod(0o755)
    monkeypatch.setattr(mpi_processes, "_mpiexec", lambda: str(hangs))
    for name, seconds in (("START_S", 0.5), ("START_RANK_S", 0.0), ("ENDING_S", 0.2)):
        monkeypatch.setattr(mpi_processes, name, seconds)
    plan = ll.plan("all-reduce", "1KiB", fabric=ll.Fabric(gpus=2))
    with pytest.raises(FailedError, match=r"^transport: mpi: not all of 2 ranks have begun within 0.5 s; all were"):
        run_by_mpiexec(plan, inputs_of(plan), options())
    assert all_end({0: int(Path("child").read_text())}, in_own_folder)


@needs_mpi
def test_without_mpiexec_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ll.plan("all-reduce", "1KiB", fabric=ll.Fabric(gpus=2))
    monkeypatch.setattr("shutil.which", lambda *_args, **_names: None)
    with pytest.raises(InputError, match=r"^transport: mpi needs `mpiexec`, .* pip install mpich$"):
        run_by_mpiexec(plan, inputs_of(plan), options())


def test_without_mpi4py_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = ll.plan("all-reduce", "1KiB", fabric=ll.Fabric(gpus=2))
    monkeypatch.setattr(mpi_processes, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match=r"^transport: mpi needs the package `mpi4py`: pip install"):
        run_by_mpiexec(plan, inputs_of(plan), options())


@pytest.mark.large
@needs_mpi
def test_runs_of_the_package_take_mpi(in_own_folder: Path) -> None:
    plan = ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=2))
    arrays = [np.arange(128, dtype=np.int32), np.arange(128, 256, dtype=np.int32)]
    found = ll.run(plan, arrays, transport="mpi", dtype="int32", runs=1)
    assert found.wrong == 0
    assert [array.tolist() for array in found.arrays] == [list(range(256))] * 2
    plan.save(in_own_folder / "plan.json")
    again = ll.run(in_own_folder / "plan.json", transport="mpi", runs=1, warm_ups=0)
    assert (again.wrong, again.settings.transport) == (0, "mpi")
    with pytest.raises(InputError, match=r"^data\[0\]: int32 of shape \(128,\) is not accepted"):
        ll.run(plan, arrays, transport="mpi")


def test_messages_of_mpi_take_the_time_that_they_take() -> None:
    with pytest.raises(InputError, match=r"^dilation: `10` is not accepted: MPI sends at its own speed"):
        ll.Executor(transport="mpi", dilation=10)
    with pytest.raises(InputError, match=r"^packet_size: `4KiB` is not accepted"):
        ll.Executor(transport="mpi", packet_size="4KiB")


@pytest.mark.large
@needs_mpi
def test_ranks_that_others_started_measure_together(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys\n"
        "import lightloom as ll\n"
        "from lightloom.running import mpi_runs\n"
        "plan = ll.plan('all-gather', '64KiB', fabric=ll.Fabric(gpus=3))\n"
        "found = ll.run(plan, transport='mpi', dtype='int32', runs=3, seed=5)\n"
        "said = f'{found.wrong} {len(found.arrays)} {len(found.arrays[0])} {found.measured}\\n'\n"
        "try:\n"
        "    ll.run('plan of rank 1.json' if mpi_runs.rank_told() == 1 else plan, transport='mpi')\n"
        "except ll.InputError as error:\n"
        "    said += str(error)\n"
        "pathlib.Path(sys.argv[1], str(mpi_runs.rank_told())).write_text(said)\n"
    )
    ran = ranks(3, "-c", code, tmp_path)
    assert ran.returncode == 0, ran.stderr
    # All know the same, and have an output each; if one cannot run, no rank does.
    first, *others = [(tmp_path / str(rank)).read_text() for rank in range(3)]
    assert others == [first, first]
    measured, refused = first.splitlines()
    assert measured.startswith("0 1 16384 Spread(")
    assert refused.startswith("plan: ")


@pytest.mark.large
@needs_mpi
@pytest.mark.usefixtures("in_own_folder")
def test_the_verb_run_starts_its_ranks(cli: RunCli) -> None:
    ll.plan("all-reduce", "64KiB", fabric=ll.Fabric(gpus=3)).save("plan.json")
    ran = cli("run", "plan.json", "--transport", "mpi", "--runs", 2, "--format", "json")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    assert (told["transport"], told["wrong"], told["gpus"], len(told["runs_s"])) == ("mpi", 0, 3, 2)
    table = cli("run", "plan.json", "--transport", "mpi")
    assert table.out.splitlines()[1] == "mpi, 5 runs after 1 warm-up"


@pytest.mark.large
@needs_mpi
def test_of_ranks_that_mpiexec_started_one_speaks(in_own_folder: Path) -> None:
    ll.plan("all-reduce", "64KiB", fabric=ll.Fabric(gpus=3)).save("plan.json")
    run = ("-m", "lightloom", "run", in_own_folder / "plan.json", "--transport", "mpi", "--output")
    ran = ranks(3, *run, in_own_folder / "run.json")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("all 3 ranks match NumPy") == 1
    assert json.loads(Path("run.json").read_text())["wrong"] == 0
    ran = ranks(2, *run, in_own_folder / "other.json")
    assert ran.returncode == 2
    assert ran.stderr.count("runs 2 ranks; the plan needs 3") == 1
    assert not Path("other.json").exists()


@pytest.mark.large
@needs_mpi
@pytest.mark.parametrize(
    ("late", "said"),
    [
        ("MpiRank._exchange", "were neither received nor sent in time"),
        ("RankMemory.keep", "not all ranks ended it in time"),
    ],
)
def test_ranks_that_wait_in_vain_end_all(late: str, said: str, in_own_folder: Path) -> None:
    ll.plan("all-reduce", "64KiB", fabric=ll.Fabric(gpus=3)).save("plan.json")
    code = (
        "import time, sys\n"
        "from lightloom.cli import program\n"
        "from lightloom.running import mpi, mpi_runs\n"
        "mpi.PATIENCE_S = 0.5\n"
        "if mpi_runs.rank_told() == 1:\n"
        f"    mpi.{late} = lambda *_: time.sleep(60)\n"
        "sys.argv[0] = 'lightloom'\n"
        "program()\n"
    )
    began = time.monotonic()
    ran = ranks(3, "-c", code, "run", in_own_folder / "plan.json", "--transport", "mpi")
    assert ran.returncode == 1
    assert "step 0: " in ran.stderr
    assert said in ran.stderr
    assert time.monotonic() - began < 30

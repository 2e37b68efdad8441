"""Programs by MPI: processes that mpiexec starts get what NumPy says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from lightloom.running.mpi_processes import ENVIRONMENT
from tests.conftest import ROOT
from tests.names import names

MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))

pytestmark = pytest.mark.skipif(
    MPIEXEC is None or find_spec("mpi4py") is None, reason="no MPI: pip install mpi4py mpich"
)


def ranks(count: int, *arguments: object, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    assert MPIEXEC is not None
    command = [MPIEXEC, "-n", str(count), sys.executable, *map(str, arguments)]
    environment = os.environ | ENVIRONMENT
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.large
@pytest.mark.parametrize("gpus", [2, 5, *(pytest.param(gpus, marks=pytest.mark.slow) for gpus in (8, 16))])
def test_every_algorithm_gives_what_numpy_says(gpus: int) -> None:
    ran = ranks(gpus, "-m", "tests.running.mpi_ranks")
    assert ran.returncode == 0, ran.stderr
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert {line[0] for line in lines} == {*names("collectives")}
    assert [line for line in lines if line[-1] != "0"] == []
    assert len(lines) >= 30


def test_another_number_of_processes_is_refused(tmp_path: Path) -> None:
    # Every rank writes a file of its own: output of several may be mixed up.
    code = (
        "import pathlib, sys\n"
        "import lightloom as ll\n"
        "from lightloom.running import data, mpi, mpi_runs, program\n"
        "plan = ll.plan('all-reduce', '1KiB', fabric=ll.Fabric(gpus=4))\n"
        "try:\n"
        "    mpi.MpiRank(program.program_of(plan, 4), data.data_type('float32'))\n"
        "except ll.InputError as error:\n"
        "    pathlib.Path(sys.argv[1], str(mpi_runs.rank_told())).write_text(str(error))\n"
    )
    ran = ranks(2, "-c", code, tmp_path)
    assert ran.returncode == 0, ran.stderr
    for rank in range(2):
        said = (tmp_path / str(rank)).read_text()
        assert re.match(r"transport: mpi: .+ runs 2 ranks; the plan needs 4, started by the mpiexec of the same", said)

"""Surroundings of commands: files without an end, folders that are gone, wrong settings of libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line.test_outputs import device
from tests.conftest import ROOT, RunCli

COMMAND = [sys.executable, "-m", "lightloom"]
PLAN = ["plan", "--collective", "all-gather", "--size", "1MiB", "--gpus", "4", "--algorithm", "ring"]
TIMES = ROOT / "examples" / "single_hop_times.csv"
# The kernel's own log: a regular file by its mode, whose reader waits for the next line.
LOG = Path("/proc/kmsg")


def run(*arguments: object, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **paths, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.large
@pytest.mark.skipif(not os.access(LOG, os.R_OK), reason="the kernel's log is root's")
@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", LOG),
        ("verify", LOG),
        ("calibrate", LOG),
        ("sweep", LOG),
        ("circuits", LOG),
        ("train", LOG),
        (*PLAN, "--fabric", LOG),
        (*PLAN[:1], "--collective", "all-to-all", "--matrix", LOG),
        (*PLAN, "--topology", LOG),
    ],
)
def test_a_file_that_has_to_be_waited_for_is_refused(arguments: tuple[object, ...]) -> None:
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stderr
    assert str(LOG) in ran.stderr


@pytest.mark.large
@pytest.mark.parametrize("backend", ["nonsense", "module://no.such.module", "qtagg"])
def test_pictures_need_no_backend_of_windows(tmp_path: Path, backend: str) -> None:
    ran = run(*PLAN, "--plot", tmp_path / "plan.png", MPLBACKEND=backend)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.large
def test_a_folder_that_matplotlib_cannot_use_is_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "file" / "folder"
    (tmp_path / "file").touch()
    ran = run(*PLAN, "--plot", tmp_path / "plan.png", MPLCONFIGDIR=str(missing))
    assert ran.returncode == 0
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith(f"warning: MPLCONFIGDIR: `{missing}` cannot be written to; ")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    # It is of no concern where nothing is drawn.
    assert run(*PLAN, MPLCONFIGDIR=str(missing)).stderr == ""


@pytest.mark.parametrize("output", ["--output=plan.json", "--plot=plan.png"])
def test_a_working_folder_that_was_deleted_is_one_line(tmp_path: Path, output: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = " ".join(map(str, [*COMMAND, *PLAN, output]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    script = f'rmdir "{gone}"; exec {words}'
    shell = ["/bin/sh", "-c", script]
    ran = subprocess.run(shell, cwd=gone, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert (
        ran.stderr
        == "error: working folder: it does not exist any more; change to one that exists, or give absolute paths\n"
    )


@pytest.mark.large
def test_calibrate_writes_both_or_none(cli: RunCli, tmp_path: Path) -> None:
    fabric, picture = tmp_path / "fabric.toml", tmp_path / "fit.png"
    fabric.write_text("# before\n")
    # A picture that finds no room.
    device(picture, 7)
    ran = cli("calibrate", TIMES, "--output", fabric, "--plot", picture)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: plot: ")
    assert fabric.read_text() == "# before\n"
    picture.unlink()
    fabric.unlink()
    device(fabric, 7)
    ran = cli("calibrate", TIMES, "--output", fabric, "--plot", picture)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: output: ")
    assert not picture.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["fabric.toml"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
@pytest.mark.parametrize("asked", ["10000", "1", "many"])
def test_threads_are_no_more_than_cores(asked: str) -> None:
    program = (
        "import os, lightloom as ll\n"
        "ll.compare('all-reduce', '1MiB', fabric=ll.Fabric(gpus=12))\n"
        "print(len(os.listdir('/proc/self/task')), len(os.sched_getaffinity(0)))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "RAYON_NUM_THREADS": asked, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    threads, cores = map(int, ran.stdout.split())
    # The interpreter's own thread is one more.
    assert threads <= cores + 1 if asked != "1" else threads <= 2

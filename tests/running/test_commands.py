"""Programs with a deadline: they end by it, with their children; and memory that ranks of an MPI left."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lightloom.base.errors import InputError
from lightloom.running import mpi_memory, namespaces
from lightloom.running.commands import carried_out
from lightloom.running.mpi_memory import Removed, remove_left, take_names

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
# It goes on in a process of its own, which holds all that it was given.
STUBBORN = "echo said; sleep 600 & echo $! > {0}; trap '' TERM; sleep 600"


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def ended(process: int) -> bool:
    """Whether it ends, within some seconds."""
    deadline = time.monotonic() + 10
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_running(process)


@linux
def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        carried_out(["sh", "-c", STUBBORN.format(tmp_path / "child")], limit_s=0.5)
    assert ended(int((tmp_path / "child").read_text()))


def test_what_a_program_is_given_and_says() -> None:
    ran = carried_out(["sh", "-c", "cat; echo wrong >&2; exit 3"], b"given", limit_s=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, b"given", b"wrong\n")
    # One that goes on in the background is not waited for.
    ran = carried_out(["sh", "-c", "sleep 5 & echo said"], limit_s=60)
    assert (ran.returncode, ran.stdout) == (0, b"said\n")


@linux
@pytest.mark.parametrize("program", ["ip", "tc"])
def test_a_tool_of_the_kernel_that_hangs_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    """A run's network is made by such tools: one that hangs ends the run by its limit, and its network is removed."""
    for name in ("ip", "tc"):
        tool = tmp_path / name
        tool.write_text("#!/bin/sh\n" + (STUBBORN.format(tmp_path / "child") if name == program else "exit 0") + "\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(namespaces, "COMMAND_S", 0.3)
    network = namespaces.KernelNetwork(os.getpid(), ranks=2, ports=1, packet_bytes=1024, rate_bps=1e6)
    with pytest.raises(InputError) as raised, network:
        pass
    assert str(raised.value) == f"transport: `kernel` is not accepted here: `{program}` did not end within 0.3 s"
    assert ended(int((tmp_path / "child").read_text()))


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own in place of the system's."""
    monkeypatch.setattr(mpi_memory, "FOLDER", tmp_path)
    return tmp_path


def segment(folder: Path, name: str, age_s: float = 1000.0) -> Path:
    file = folder / name
    file.write_bytes(bytes(1 << 16))
    os.utime(file, (time.time() - age_s, time.time() - age_s))
    return file


@linux
def test_memory_that_nobody_has_is_removed(shared: Path) -> None:
    left = [segment(shared, name) for name in ("mpich_shm_81370db1_0", "vader_segment.host.0.1", "ucx_shm_posix_5a")]
    others = [segment(shared, name) for name in ("mpich", "sem.mpich_shm_1", "data.npy")]
    young = segment(shared, "mpich_shm_1_0", age_s=0.0)
    mapped, opened = segment(shared, "mpich_shm_2_0"), segment(shared, "mpich_shm_3_0")
    with opened.open("rb"):
        with mapped.open("r+b") as stream:
            memory = mmap.mmap(stream.fileno(), 0)
        assert remove_left() == Removed(3, 3 << 16)
        memory.close()
    assert not any(file.exists() for file in left)
    assert all(file.exists() for file in (*others, young, mapped, opened))
    # Young ones are those of the run where no rank of it is left.
    assert remove_left(since_s=time.time() + 60).files == 2
    assert remove_left(since_s=young.stat().st_ctime).files == 1
    assert sorted(shared.iterdir()) == sorted(others)


@linux
def test_ranks_take_the_names_of_what_they_share(shared: Path) -> None:
    own, other = segment(shared, "mpich_shm_1_0"), segment(shared, "mpich_shm_2_0")
    with own.open("r+b") as stream:
        memory = mmap.mmap(stream.fileno(), 0)
    take_names()
    assert (own.exists(), other.exists()) == (False, True)
    memory[0] = 7
    assert memory[0] == 7
    memory.close()


def test_nothing_is_removed_where_there_is_no_such_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_memory, "FOLDER", tmp_path / "none")
    take_names()
    assert remove_left() == Removed(0, 0)

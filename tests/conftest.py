"""The command line, run in this process: its output and its exit status."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from lightloom.cli import main
from tests.data import FOLDER
from tests.simulated_plans import ring

ROOT = Path(__file__).resolve().parent.parent
MSCCL = FOLDER / "msccl"

# A shell's background jobs may ignore interrupts, and so would every process that a test starts and ends.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Ran(NamedTuple):
    """Exit status, standard output and standard error of a command."""

    status: int
    out: str
    err: str


RunCli = Callable[..., Ran]


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> RunCli:
    """`cli("plan", "--gpus", 8)` runs `lightloom plan --gpus 8`."""

    def run(*arguments: object) -> Ran:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        return Ran(status, *capfd.readouterr())

    return run


@pytest.fixture
def in_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def plan_file(in_tmp: Path) -> Path:
    """The plan of a one-way ring."""
    ring().save(in_tmp / "plan.json")
    return in_tmp / "plan.json"

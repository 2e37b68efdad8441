"""Standard output that is full or closed, and arguments that are no text: at most one line, never a traceback."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from lightloom import _core
from tests.command_line.test_outputs import device
from tests.conftest import ROOT, RunCli
from tests.refusals import assert_refused

COMMAND = [sys.executable, "-m", "lightloom"]
PROBLEM = ["--collective", "all-gather", "--size", "1MiB", "--gpus", "4", "--algorithm", "ring"]
# Something that each verb does.
VERBS = {
    "help": ["--help"],
    "version": ["--version"],
    "plan": ["plan", *PROBLEM],
    "compare": ["compare", *PROBLEM, "--format", "json"],
    "bound": ["bound", *PROBLEM],
    "verify": ["verify", "plan.json"],
    "simulate": ["simulate", "plan.json", "--format", "json"],
    "calibrate": ["calibrate", str(ROOT / "examples" / "single_hop_times.csv")],
    "reproduce": ["reproduce", "bridge-table-1"],
    "sweep": ["sweep", "sweep.toml"],
    "list": ["list", "planners"],
}
SWEEP = "[settings]\ncollective = 'all-gather'\ngpus = 4\nalgorithm = 'ring'\n[axes]\nsize = [1024]\n"


@pytest.fixture
def folder(plan_file: Path) -> Path:
    (plan_file.parent / "sweep.toml").write_text(SWEEP + "[[plots]]\nkind = 'bars'\nx = 'size'\nvalue = 'time'\n")
    return plan_file.parent


def test_a_full_standard_output_is_one_line(folder: Path) -> None:
    device(folder / "full", 7)
    for name in ("plan", "help"):
        with (folder / "full").open("wb") as full:
            ran = subprocess.run([*COMMAND, *VERBS[name]], stdout=full, stderr=subprocess.PIPE, check=False)
        assert (ran.returncode, ran.stderr) == (1, b"error: standard output: No space left on device\n")


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "reproduce"])
def test_a_full_standard_output_of_every_verb(cli: RunCli, folder: Path, verb: str) -> None:
    device(folder / "full", 7)
    full = (folder / "full").open("w", buffering=1)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("sys.stdout", full)
        changed.setattr("os.dup2", lambda *_: None)  # the tests' own standard output stays
        ran = cli(*VERBS[verb])
    with suppress(OSError):
        full.close()
    assert (ran.status, ran.err) == (1, "error: standard output: No space left on device\n")


@pytest.mark.parametrize(
    ("closed", "said"), [(">&-", b"error: standard output is closed\n"), (">&- 2>&-", b""), ("2>&- >&- <&-", b"")]
)
def test_a_closed_standard_output_is_a_line(folder: Path, closed: str, said: bytes) -> None:
    command = " ".join(f"'{word}'" for word in [*COMMAND, *VERBS["plan"], "--output", "out.json"])
    ran = subprocess.run(["sh", "-c", f"{command} {closed}"], capture_output=True, check=False)  # noqa: S607
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, b"", said)
    # The file opened next did not get the number of a closed stream.
    assert (folder / "out.json").read_bytes().startswith(b"{")


def test_a_closed_standard_error_keeps_the_status(folder: Path) -> None:
    command = " ".join(f"'{word}'" for word in [*COMMAND, "plan", "--gpus", "x"])
    ran = subprocess.run(["sh", "-c", f"{command} 2>&-"], capture_output=True, check=False, cwd=folder)  # noqa: S607
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, b"", b"")


@pytest.mark.parametrize("wrong", ["\udcff\udcfe", "a\x1b[31mb", "n" * 300, "9" * 5000, "a\nb", "\u202e", "\x9b31m"])
@pytest.mark.usefixtures("folder")
def test_arguments_that_are_no_names_are_one_printable_line(cli: RunCli, wrong: str) -> None:
    commands = [
        [wrong],
        ["list", wrong],
        ["reproduce", wrong],
        [*VERBS["plan"], f"--{wrong}"],
        *(["plan", *PROBLEM, option, wrong] for option in ("--collective", "--size", "--gpus", "--dims", "--window")),
        *(["plan", *PROBLEM, option, wrong] for option in ("--planner", "--algorithm", "--candidates", "--initial")),
        *(["plan", *PROBLEM, option, f"{wrong}.csv"] for option in ("--matrix", "--schedule", "--initial")),
        ["plan", *PROBLEM, "--fabric", wrong],
        ["plan", *PROBLEM, "--fabric", f"{wrong}.toml"],
        ["plan", *PROBLEM, "--plot", wrong],
        ["list", "algorithms", "--gpus", "4", "--collective", wrong],
        *([verb, wrong] for verb in ("verify", "simulate", "calibrate", "sweep")),
        ["simulate", "plan.json", "--level", wrong],
        ["calibrate", VERBS["calibrate"][1], "--errors", wrong],
        ["sweep", "sweep.toml", "--engine", wrong],
        ["compare", "--benchmark", wrong],
    ]
    for command in commands:
        ran = cli(*command)
        assert (ran.status, ran.out) == (2, ""), command
        assert ran.err.startswith("error: "), command
        assert ran.err[:-1].isprintable(), command
        assert len(ran.err) < 2000, command


def test_names_of_files_are_shown_and_not_obeyed(cli: RunCli, folder: Path) -> None:
    name = "a\x1b[31m\nb\x9b$\\frac.json"
    assert cli("plan", *PROBLEM, "--output", name).status == 0
    shown = cli("verify", name)
    assert shown.status == 0
    assert r"a\x1b[31m\nb\x9b$\frac.json (plan)" in shown.out
    (folder / f"{name}.csv").write_text("0 1\n1 0\n")
    planned = cli(
        "plan",
        "--collective",
        "all-gather",
        "--size",
        "1KiB",
        "--gpus",
        2,
        "--topology",
        f"{name}.csv",
        "--planner",
        "static",
        "--plot",
        "x.svg",
        "--output",
        "x.json",
    )
    assert planned.status == 0, planned.err
    simulated = cli("simulate", "x.json", "--plot", "y.svg")
    assert simulated.status == 0, simulated.err
    for out in (shown.out, planned.out, simulated.out):
        assert "".join(out.split("\n")).isprintable()


LEFT_AT_WORK = """
import atexit, os, sys, threading, time
from pathlib import Path
import lightloom.cli.entry as entry
from lightloom.base.temporary_files import unfinished_file

began = threading.Event()

def work():
    with unfinished_file(Path("result").absolute(), None):
        began.set()
        time.sleep(60)

def interrupted():
    threading.Thread(target=work, daemon=True).start()
    began.wait()
    print("so far")
    return 1

atexit.register(lambda: print("Python took itself apart"))
entry.main = interrupted
entry.program()
"""


def test_an_interrupt_does_not_take_python_apart_under_a_thread_at_work(tmp_path: Path) -> None:
    # Compiled code of the thread would crash meanwhile, now and then: with it, the status and the leftovers.
    program = [sys.executable, "-c", LEFT_AT_WORK]
    ran = subprocess.run(program, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=50)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "so far\n", "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["compare", "--benchmark", "bridge"], ["reproduce", "bridge-table-1"]])
def test_folders_that_are_no_names_are_refused(cli: RunCli, in_tmp: Path, arguments: list[str]) -> None:
    assert_refused(cli, in_tmp, *arguments, "--output", "a\0b", field="output")


def test_faults_of_ours_are_one_line(cli: RunCli, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_arguments: object) -> None:
        raise KeyError("what nobody foresaw")

    monkeypatch.setattr(_core, "registry", faulty)
    ran = cli("list", "planners")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: KeyError: 'what nobody foresaw' (test_streams.py, line ")
    assert ran.err.count("\n") == 1

"""How the command line behaves: help, streams, pipes, interrupts, and how little it imports."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lightloom.cli.registry import VERBS
from tests.conftest import ROOT, RunCli
from tests.printed_tables import covered_steps

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "lightloom"]
PLAN = ["plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", "8"]
EXAMPLE = re.compile(r"^ +lightloom (.+)$", re.MULTILINE)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )


# `serve` goes on until it is told to end: tests/page has it.
@pytest.mark.large
@pytest.mark.parametrize("verb", [verb.name for verb in VERBS if verb.name != "serve"])
def test_help_has_examples_that_work(cli: RunCli, in_tmp: Path, verb: str) -> None:
    ran = cli(verb, "--help")
    assert ran.status == 0
    examples = EXAMPLE.findall(ran.out)
    assert examples
    (in_tmp / "examples").symlink_to(ROOT / "examples")
    for example in examples:
        assert cli(*example.split()).status == 0, example


def test_every_option_of_plan_says_its_default(cli: RunCli) -> None:
    text = " ".join(cli("plan", "--help").out.partition("Problem:")[2].split())
    for option, default in {
        "--ports": "1",
        "--bandwidth": "800Gbps",
        "--startup": "500ns",
        "--hop-delay": "500ns",
        "--reconfiguration-delay": "10us",
        "--initial": "free",
        "--algorithm": "auto",
        "--planner": "auto",
        "--format": "table",
    }.items():
        _, _, help_of_option = text.partition(f" {option} ")
        assert f"[default: {default}" in help_of_option.split(" --")[0], option


def test_without_a_verb_the_verbs_are_shown(cli: RunCli) -> None:
    ran = cli()
    assert ran.status == 0
    assert all(verb.name in ran.out for verb in VERBS)
    assert re.fullmatch(r"lightloom \d+\.\d+\.\d+\S*\n", cli("--version").out)


def test_a_pipe_gets_no_escape_codes_and_whole_rows() -> None:
    ran = run(*PLAN, COLUMNS="40", TERM="xterm-256color")
    assert ran.returncode == 0
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""
    # Rows that were cut would lose their last column, the share of the time.
    shares = [int(share) for share in re.findall(r" (\d+)%$", ran.stdout, re.MULTILINE)]
    assert shares
    assert abs(sum(shares) - 100) <= len(shares)
    assert max(map(len, ran.stdout.splitlines())) <= 180


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_is_enough(encoding: str) -> None:
    ran = subprocess.run(
        [*COMMAND, *PLAN], capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=False
    )
    assert ran.returncode == 0, ran.stderr
    # Click writes UTF-8 where it takes a stream's encoding for a mistake.
    assert "busbw" in ran.stdout.decode("utf-8" if encoding == "ascii" else encoding)


def test_json_is_the_only_thing_on_standard_output() -> None:
    ran = run(*PLAN, "--format", "json")
    assert json.loads(ran.stdout)["gpus"] == 8
    assert ran.stderr == ""


def test_threads_and_hash_seeds_do_not_change_the_plan() -> None:
    problem = [
        "plan",
        "--collective",
        "all-reduce",
        "--size",
        "1MiB",
        "--gpus",
        "32",
        "--ports",
        "4",
        "--format",
        "json",
    ]
    alone = run(*problem, RAYON_NUM_THREADS="1", PYTHONHASHSEED="1")
    together = run(*problem, RAYON_NUM_THREADS="4", PYTHONHASHSEED="2")
    assert alone.returncode == 0
    assert alone.stdout == together.stdout


def test_wrong_input_in_a_process_of_its_own() -> None:
    ran = run("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", "zero")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(r"error: gpus: .+\n", ran.stderr)


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    # Enough output for any pipe's buffer: 511 topologies of 512 links.
    problem = ["--collective", "all-to-all", "--algorithm", "direct", "--planner", "bvn", "--size", "1MiB"]
    process = subprocess.Popen(
        [*COMMAND, "plan", *problem, "--gpus", "512", "--no-baselines", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": ""},  # unbuffered streams lose what a pipe did not take, silently
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    # On a busy machine it says now and then that it is at work.
    said = process.stderr.read().decode().splitlines()
    assert all(re.fullmatch(r"(planning|comparing), \d+ s", line) for line in said), said
    process.stderr.close()
    assert process.wait(timeout=60) == 1


def test_an_interrupt_is_exit_status_1(cli: RunCli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lightloom.planning.plan", interrupted)
    ran = cli(*PLAN, "--format", "json")
    assert (ran.status, ran.out, ran.err.strip()) == (1, "", "")


@pytest.mark.parametrize("module", ["click", "lightloom.base.errors", "lightloom.cli.registry"])
def test_an_interrupt_while_it_is_loaded_ends_it_without_a_word(module: str) -> None:
    # And once more at its end.
    code = (
        "import atexit, os, signal, sys\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from lightloom.cli import program\n"
        "program()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", "")


def test_an_interrupt_while_another_is_dealt_with_says_nothing() -> None:
    code = (
        "from lightloom.cli import entry\n"
        "def interrupted(): raise KeyboardInterrupt\n"
        "entry.main = interrupted\n"
        "entry.program()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", "")


@pytest.mark.parametrize("arguments", [["--help"], ["plan", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from lightloom.cli import main; status = main(sys.argv[1:]); "
        "heavy = {'networkx', 'matplotlib', 'rich', 'numpy', 'scipy'} & set(sys.modules); "
        "print('heavy:', sorted(heavy)); sys.exit(status)"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1] == "heavy: []"


# Modules that take long to import, and the ones that a kind of `list` or a verb needs.
HEAVY = {
    *("asyncio", "dask", "highspy", "matplotlib", "networkx", "numpy", "pandas", "pyarrow", "rich", "scipy"),
    *("lightloom.sweeps.benchmarks", "lightloom.inputs.workloads", "lightloom.running"),
    *("lightloom.simulation.simulator", "lightloom.sweeps", "lightloom.switches", "lightloom_papers"),
}

SMALL_PLAN = ["plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", "4"]


@pytest.mark.parametrize(
    ("arguments", "takes"),
    [
        (["--version"], []),
        (SMALL_PLAN, ["rich"]),
        ([*SMALL_PLAN, "--format", "json"], []),
        (["compare", *SMALL_PLAN[1:], "--format", "json"], []),
        (["list", "planners"], ["rich"]),
        (["list", "algorithms", "--format", "json"], []),
    ],
)
def test_short_commands_import_what_they_use(arguments: list[str], takes: list[str]) -> None:
    code = (
        "import sys; from lightloom.cli import main; status = main(sys.argv[1:]); "
        f"print('\\nimported:', sorted({HEAVY} & set(sys.modules))); sys.exit(status)"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == f"imported: {takes}"


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, lightloom; print(sorted(name for name in sys.modules if 'lightloom' in name))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # The finders of modules under their old names and of views of results: a millisecond.
    light = ["lightloom", "lightloom.base", "lightloom.base.old_names", "lightloom.base.views"]
    assert ran.stdout.strip() == str(light)


def test_verify_accepts_what_plan_wrote_and_refuses_what_was_changed(cli: RunCli, in_tmp: Path) -> None:
    assert cli(*PLAN, "--algorithm", "recursive-doubling", "--output", "plan.json").status == 0
    ran = cli("verify", "plan.json", "plan.json", "--format", "json")
    assert ran.status == 0
    report = json.loads(ran.out)
    assert report["passed"]
    assert [file["kind"] for file in report["files"]] == ["plan", "plan"]
    assert "all" in cli("verify", "plan.json").out

    plan = json.loads((in_tmp / "plan.json").read_text())
    plan["steps"][0]["hops"] += 1
    (in_tmp / "wrong.json").write_text(json.dumps(plan))
    ran = cli("verify", "plan.json", "wrong.json")
    assert ran.status == 1
    assert "FAILED" in ran.out
    failed = json.loads(cli("verify", "wrong.json", "--format", "json").out)
    assert not failed["passed"]


@pytest.mark.large
def test_long_plans_fold_into_forty_rows_without_losing_a_step(cli: RunCli) -> None:
    problem = ["--collective", "all-to-all", "--algorithm", "direct", "--size", "1MiB", "--gpus", 128]
    for extra in (["--planner", "harvest"], ["--planner", "static", "--topology", "ring"]):
        ran = cli("plan", *problem, *extra)
        assert ran.status == 0, ran.err
        rows = [line for line in ran.out.splitlines() if line.endswith("%")]
        assert len(rows) <= 40
        assert covered_steps("\n".join(rows)) == list(range(1, 128))

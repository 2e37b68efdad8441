"""The verb `run` of a training iteration: its table, its documents, its exit status, and what it refuses."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.running.iterations import executor as running
from tests.conftest import RunCli
from tests.refusals import assert_refused
from tests.running.iterations import stages

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="iterations are run only on Linux")
QUICK = ("--warm-ups", 0, "--dilation", 500)


@pytest.fixture
def iteration(in_tmp: Path) -> Path:
    stages(policy="per-collective").save("iteration.json")
    return in_tmp / "iteration.json"


def test_the_table_has_events_changes_and_the_machine(cli: RunCli, iteration: Path) -> None:
    ran = cli("run", iteration, *QUICK, "--iterations", 3)
    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0].startswith("an iteration on 8 ranks: measured ")
    assert lines[1].startswith("shared-memory, slowed down 500 times, 3 iterations, packets of ")
    assert lines[2].startswith("every byte is sent: ")
    rows = {tuple(line.split()[:2]) for line in lines}
    assert {("compute", "2"), ("all-reduce", "dp"), ("sends", "2"), ("iteration", "median")} <= rows
    changes = len(ll.circuits(ll.train(workload_of(iteration), policy="per-collective")).configurations) - 1
    assert any(line.startswith(f"{changes} changes in an iteration, dark for ") for line in lines)
    assert "results     all 3 collectives and sends of 3 iterations match NumPy, on all ranks" in lines
    assert lines[-1].startswith("verdict     ")


def workload_of(iteration: Path) -> ll.Workload:
    """The workload of an iteration's file."""
    return ll.Workload.from_json(json.dumps(json.loads(iteration.read_text(encoding="utf-8"))["workload"]))


def test_documents_say_the_same(cli: RunCli, iteration: Path) -> None:
    ran = cli("run", iteration, *QUICK, "--format", "json", "--output", "measured.json", "--plot", "measured.svg")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    assert json.loads(Path("measured.json").read_text(encoding="utf-8")) == told
    planned = ll.Training.load(iteration)
    assert (told["schema"], told["ranks"], told["wrong"]) == ("lightloom.iteration-run/1", 8, 0)
    assert told["planned_s"] == planned.total_s
    assert told["ratio"] == pytest.approx(told["measured_s"]["median"] / planned.total_s)
    assert [event["node"] for event in told["events"]] == [event.node for event in planned.events]
    assert all(event["circuit_bytes"] == event["planned_circuit_bytes"] for event in told["events"])
    assert Path("measured.svg").read_text(encoding="utf-8").startswith("<?xml")
    ran = cli("run", iteration, *QUICK, "--iterations", 1, "--format", "csv")
    rows = list(csv.DictReader(ran.out.splitlines()))
    assert [row["node"] for row in rows] == [event.node for event in planned.events]


def test_wrong_elements_are_a_failure(cli: RunCli, iteration: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "wrong", lambda *_: 1)
    ran = cli("run", iteration, *QUICK, "--iterations", 1)
    assert ran.status == 1
    # One of each of four messages there, four back, and two groups' collectives.
    assert "results     10 elements wrong" in ran.out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--runs", "3"], "runs: it cannot be combined with a training iteration; --iterations says how many"),
        (["--switch", "scpi://192.0.2.7"], "switch: it cannot be combined with a training iteration"),
        (["--trace", "trace.json"], "trace: it cannot be combined with a training iteration"),
        (["--calibrate", "times.csv"], "calibrate: it cannot be combined with a training iteration"),
        (["--rounds", "10"], "rounds: it is used only together with --barriers"),
        (["--transport", "mpi"], "transport: `mpi` carries no training iteration; it takes shared-memory"),
        (["--transport", "kernel"], "transport: `kernel` carries no training iteration; it takes shared-memory"),
        (["--iterations", "0"], "iterations: `0` is not accepted; it takes a whole number from 1 to 1000"),
        (["--scale", "100000"], "scale: `s` moves 65536 bytes; 1/100000 of that is less than an element of 4 bytes; "),
        (["--plot", "picture.txt"], "plot: "),
    ],
)
def test_what_does_not_go_with_an_iteration_is_refused(
    cli: RunCli, iteration: Path, arguments: list[str], message: str
) -> None:
    assert_refused(cli, iteration.parent, "run", iteration, *arguments, field=message)


@pytest.mark.parametrize("option", ["iterations", "scale"])
def test_a_plan_has_no_iterations(cli: RunCli, in_tmp: Path, option: str) -> None:
    ll.plan("all-reduce", "8KiB", fabric=ll.Fabric(gpus=4)).save("plan.json")
    said = assert_refused(cli, in_tmp, "run", "plan.json", f"--{option}", "2", field=option)
    assert said == f"error: {option}: it is used only with a training iteration, and PLAN is not one\n"


def test_an_iteration_that_does_not_hold_is_refused(cli: RunCli, iteration: Path) -> None:
    told = json.loads(iteration.read_text(encoding="utf-8"))
    told["events"][1]["end_s"] *= 0.5
    iteration.write_text(json.dumps(told), encoding="utf-8")
    assert_refused(cli, iteration.parent, "run", iteration, field="training")


@pytest.mark.usefixtures("in_tmp")
def test_an_iteration_that_is_not_there_is_named(cli: RunCli) -> None:
    ran = cli("run", "iteration.json", "--iterations", 3)
    assert (ran.status, ran.err) == (2, "error: plan: no such file: `iteration.json`\n")

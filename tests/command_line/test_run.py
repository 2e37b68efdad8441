"""The verb `run`: its table and JSON, and its exit status."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.inputs.options import RUNNING, by_name
from lightloom.running import preparation as prepared
from lightloom.running.data import DATA_TYPES, REDUCTIONS
from lightloom.running.executor import TRANSPORTS
from lightloom.running.program import Program, program_of
from tests.conftest import RunCli
from tests.refusals import assert_refused

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")
QUICK = ("--runs", 2, "--warm-ups", 0, "--dilation", 100)


@pytest.fixture
def plan(in_tmp: Path) -> Path:
    fabric = ll.Fabric(gpus=4, reconfiguration_delay="10us")
    ll.plan("all-reduce", "8KiB", fabric=fabric, planner="bvn", algorithm="halving-doubling").save("plan.json")
    return in_tmp / "plan.json"


def test_json_has_what_the_contract_says(cli: RunCli, plan: Path) -> None:
    ran = cli("run", plan, *QUICK, "--format", "json", "--output", "run.json")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    assert json.loads(Path("run.json").read_text(encoding="utf-8")) == told
    planned = ll.Plan.load(plan)
    assert told["predicted_s"] == planned.total_s
    measured = told["measured_s"]
    assert measured["min"] <= measured["median"] <= measured["max"]
    assert sorted(told["runs_s"]) == [measured["min"], measured["max"]]
    assert told["ratio"] == pytest.approx(measured["median"] / planned.total_s)
    assert (told["wrong"], told["dilation"], told["transport"]) == (0, 100, "shared-memory")
    assert told["verdict"] in {"conclusive", "inconclusive"}
    assert [step["predicted_s"] for step in told["steps"]] == [step.total_s for step in planned.steps]
    assert sum(step["measured_s"] for step in told["steps"]) == pytest.approx(measured["median"], rel=0.5)


def test_the_table_has_the_columns_of_nccl(cli: RunCli, plan: Path) -> None:
    ran = cli("run", plan, *QUICK, "--dtype", "int32", "--reduction", "max")
    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0].startswith("all-reduce of 8 KiB on 4 GPUs (halving-doubling, bvn): measured ")
    assert lines[1].startswith("shared-memory, slowed down 100 times, 2 runs, packets of ")
    header = next(line.split() for line in lines if "#wrong" in line)
    assert header == ["size", "count", "type", "redop", "time", "algbw", "busbw", "#wrong"]
    median = next(line.split() for line in lines if line.strip().startswith("median"))
    assert median[1:6] == ["8", "KiB", "2,048", "int32", "max"]
    assert median[-1] == "0"
    assert "results     all 4 ranks match NumPy" in lines


def test_wrong_elements_are_a_failure(cli: RunCli, plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def corrupted(of: ll.Plan, element_bytes: int) -> Program:
        program = program_of(of, element_bytes)
        return dataclasses.replace(program, is_reduction=program.is_reduction & False)

    monkeypatch.setattr(prepared, "program_of", corrupted)
    ran = cli("run", plan, *QUICK)
    assert ran.status == 1
    # Nobody adds anything: only a rank's own element can be right, where it is the sum.
    assert "results     8192 elements wrong" in ran.out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dilation", "0.5"], "dilation: `0.5` is not accepted; it takes a number from 1 to 1e+09"),
        (
            ["--packet-size", "8B"],
            "packet_size: `8B` is not accepted; it takes a size such as 4096B or 4KiB, 64 to 1048576 bytes",
        ),
        (["--switch", "nowhere"], "switch: "),
    ],
)
def test_wrong_values_are_named(cli: RunCli, plan: Path, arguments: list[str], message: str) -> None:
    assert_refused(cli, plan.parent, "run", plan, *arguments, field=message)


def test_options_offer_what_there_is() -> None:
    options = by_name(RUNNING)
    assert options["transport"].choices == TRANSPORTS
    assert options["dtype"].choices == tuple(DATA_TYPES)
    assert options["reduction"].choices == REDUCTIONS

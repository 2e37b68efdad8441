"""The verb `train`: its formats, its files, and refusals."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.formats.workload_options import COMM_SIZES, TIME_UNITS
from lightloom.inputs.options import TRAINING, by_name
from lightloom.inputs.workloads.model import presets
from lightloom.training.result import Training
from tests.conftest import ROOT, RunCli
from tests.refusals import assert_refused
from tests.training.iterations import workload


@pytest.fixture
def file(in_tmp: Path) -> Path:
    """A workload of two axes, computation and messages."""
    (in_tmp / "workload.json").write_text(json.dumps(workload(2)))
    return in_tmp / "workload.json"


def test_json_is_the_iteration_that_python_plans(cli: RunCli, file: Path) -> None:
    ran = cli("train", file, "--ports", 2, "--format", "json", "--output", "training.json")
    assert ran.status == 0, ran.err
    planned = ll.train(file, fabric=ll.Fabric(ports=2))
    assert json.loads(ran.out) == json.loads(planned.to_json())
    assert Training.load("training.json").policies == planned.policies
    assert planned.policies["carry"] == pytest.approx(planned.total_s)
    # Computation by itself takes 150 µs a layer.
    assert planned.compute_s == pytest.approx(300e-6)
    assert planned.total_s >= planned.lower_bound_s >= planned.compute_s


@pytest.mark.large
def test_policies_are_called_by_their_titles_too(cli: RunCli, file: Path) -> None:
    rows = json.loads(cli("list", "policies", "--format", "json").out)["policies"]
    for row in rows:
        called = [cli("train", file, "--ports", 2, "--policy", policy) for policy in (row["name"], _word(row["title"]))]
        assert called[0] == called[1]
        if called[0].status == 0:
            assert f"({row['title']}" in called[0].out.partition("\n")[0]


def _word(title: str) -> str:
    return title.lower().replace(" ", "-")


@pytest.mark.large
def test_every_policy_can_be_chosen(cli: RunCli, file: Path) -> None:
    choices = [row["name"] for row in json.loads(cli("list", "policies", "--format", "json").out)["policies"]]
    # An ideal is shown with them, and cannot be chosen.
    assert {"carry", "alone", "pccl", "one-shot", "static"} == set(choices)
    found = ll.train(file, fabric=ll.Fabric(ports=2)).policies
    for policy in choices:
        ran = cli("train", file, "--ports", 2, "--policy", policy, "--format", "json")
        if found[policy] is None:
            assert (ran.status, ran.err.count("\n")) == (2, 1)
        else:
            told = json.loads(ran.out)
            assert (told["policy"], told["total_s"]) == (policy, pytest.approx(found[policy]))


def test_choices_are_those_of_the_readers() -> None:
    options = by_name(TRAINING)
    assert options["comm_size"].choices == COMM_SIZES
    assert options["time_unit"].choices == tuple(TIME_UNITS)


def test_a_bare_name_was_meant_for_a_model(cli: RunCli, in_tmp: Path) -> None:
    message = assert_refused(cli, in_tmp, "train", "gpt", field="workload")
    assert "did you mean `gpt-3`" in message
    for model in presets():
        assert model in message
    assert "nowhere.json" in assert_refused(cli, in_tmp, "train", "nowhere.json", field="workload")


def test_rows_for_spreadsheets_are_events(cli: RunCli, file: Path) -> None:
    ran = cli("train", file, "--ports", 2, "--format", "csv")
    rows = list(csv.DictReader(ran.out.splitlines()))
    assert [row["node"] for row in rows] == [node["id"] for node in workload(2)["nodes"]]
    assert {row["label"] for row in rows} == {"compute", "tp", "dp", "sends"}


@pytest.mark.large
def test_pictures_and_traces_are_written(cli: RunCli, file: Path) -> None:
    outputs = ("--plot", "a.png", "--trace", "a.json", "--break-even", "b.svg", "--delays", "1us,1ms")
    ran = cli("train", file, "--ports", 2, *outputs)
    assert ran.status == 0, ran.err
    assert all(Path(name).stat().st_size > 1000 for name in ("a.png", "a.json", "b.svg"))
    lines = ran.out.splitlines()
    assert lines[0].startswith("two axes on 8 ranks (tp 4 · dp 2): ")
    place = lines.index("iteration time by reconfiguration delay; other policies as multiples of the time of joint")
    assert [line.split()[:2] for line in lines[place + 4 : place + 6]] == [["1", "µs"], ["1", "ms"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "packet-switch"], "policy: "),
        (["--plot", "a.txt"], "plot: "),
        (["--break-even", "a.json"], "break_even: "),
        (["--delays", "1us,1ms"], "delays: it is used only together with --break-even FILE"),
        (["--break-even", "a.png", "--delays", "1us"], "delays: "),
        (["--comm-size", "input"], "comm_size: "),
        (["--reconfiguration-delay", "20ns/port"], "reconfiguration_delay: "),
        (["--initial", "nowhere"], "initial: "),
        (["--trace", "workload.json"], "trace: "),
    ],
)
def test_wrong_values_are_named(cli: RunCli, file: Path, arguments: list[str], message: str) -> None:
    assert_refused(cli, file.parent, "train", file, *arguments, field=message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pytorch", "--profile-step", "9"], "profile_step: 9 is not a step in which "),
        (["pytorch", "--compute-time", "1ms"], "compute_time: it is not used for a workload of format kineto; "),
        (["pytorch/rank0.pt.trace.json"], "ranks: "),
        (["nccl.log"], "compute_time: it is missing: the log has no times; it takes "),
        (["nccl.log", "--compute-time", "-1ms"], "compute_time: "),
    ],
)
def test_facts_that_a_profile_leaves_open_are_named(
    cli: RunCli, in_tmp: Path, arguments: list[str], message: str
) -> None:
    path = ROOT / "examples" / "profiles" / arguments[0]
    assert_refused(cli, in_tmp, "train", path, *arguments[1:], field=message)


def test_a_name_that_is_no_model_and_no_file_is_refused(cli: RunCli, in_tmp: Path) -> None:
    assert_refused(cli, in_tmp, "train", "llama-4", field="workload: ")


def test_gpus_are_ranks_here(cli: RunCli, tmp_path: Path) -> None:
    assert "--ranks" in assert_refused(cli, tmp_path, "train", "bert-pccl", "--gpus", 64, field="--gpus")

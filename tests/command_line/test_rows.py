"""Rows as tables, JSON and CSV say the same; what tables leave out, programs get."""

import csv
import io
import json

import pytest

from tests.conftest import RunCli
from tests.printed_tables import covered_steps

PROBLEM = ["--collective", "all-reduce", "--size", "1MiB", "--gpus", "8"]
SIZES = ["plan", "--collective", "all-reduce", "--sizes", "1KiB:1MiB:32", "--gpus", "8"]


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.large
def test_sizes_are_the_same_in_every_format(cli: RunCli) -> None:
    document = json.loads(cli(*SIZES, "--format", "json").out)
    assert (document["schema"], document["collective"], document["gpus"]) == ("lightloom.sizes/1", "all-reduce", 8)
    assert [row["size_bytes"] for row in document["rows"]] == [1 << 10, 1 << 15, 1 << 20]
    lines = rows_of(cli(*SIZES, "--format", "csv").out)
    assert [{key: str(value) for key, value in row.items()} for row in document["rows"]] == lines
    alone = json.loads(cli("plan", *PROBLEM, "--format", "json").out)
    assert document["rows"][-1]["total_s"] == pytest.approx(alone["total_s"], rel=1e-12)
    printed = [line.split() for line in cli(*SIZES).out.splitlines() if "iB " in line]
    assert [(cells[-3], cells[-2], cells[-1]) for cells in printed] == [
        (row["algorithm"], row["planner"], str(row["reconfigurations"])) for row in document["rows"]
    ]


@pytest.mark.parametrize(
    ("extra", "field"),
    [(["--size", "1KiB"], "size"), (["--plot", "plan.png"], "plot"), (["--all-steps"], "all_steps")],
)
def test_what_is_of_one_plan_does_not_go_with_sizes(cli: RunCli, extra: list[str], field: str) -> None:
    ran = cli(*SIZES, *extra)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"error: {field}: it applies to a single plan; it cannot be combined with --sizes\n"


@pytest.mark.large
def test_comparisons_have_all_rows_for_programs(cli: RunCli) -> None:
    document = json.loads(cli("compare", *PROBLEM, "--format", "json").out)
    assert document == json.loads(cli("compare", *PROBLEM, "--format", "json", "--all").out)
    lines = rows_of(cli("compare", *PROBLEM, "--format", "csv").out)
    served = [line for line in lines if line["total_s"]]
    assert [(line["planner"], line["algorithm"]) for line in served] == [
        (row["planner"], row["algorithm"]) for row in document["rows"]
    ]
    assert [float(line["total_s"]) for line in served] == [row["total_s"] for row in document["rows"]]
    assert len(lines) - len(served) == len(document["not_applicable"])


def test_every_step_where_it_is_asked_for(cli: RunCli) -> None:
    ring = [*PROBLEM, "--algorithm", "ring", "--planner", "static", "--no-baselines"]
    folded, every = cli("plan", *ring).out, cli("plan", *ring, "--all-steps").out
    assert covered_steps(folded) == covered_steps(every) == list(range(1, 15))
    assert sum(line.endswith("%") for line in folded.splitlines()) == 1
    assert sum(line.endswith("%") for line in every.splitlines()) == 14
    assert [line["index"] for line in rows_of(cli("plan", *ring, "--format", "csv").out)] == [str(i) for i in range(14)]


def test_lists_are_rows_too(cli: RunCli) -> None:
    listed = json.loads(cli("list", "planners", "--format", "json").out)["planners"]
    lines = rows_of(cli("list", "planners", "--format", "csv").out)
    assert [(line["kind"], line["name"], line["summary"]) for line in lines] == [
        ("planners", entry["name"], entry["summary"]) for entry in listed
    ]

"""Plans as JSON: the contract's keys, sums to the last bit, round trips, determinism, all-or-nothing files."""

import json
import pickle
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from tests.conftest import RunCli

PROBLEMS: list[dict[str, Any]] = [
    {"collective": "all-reduce", "size": "1MiB", "fabric": ll.Fabric(gpus=16)},
    {"collective": "all-to-all", "size": "4KiB/pair", "fabric": ll.Fabric(gpus=12, ports=2)},
    {
        "collective": "all-gather",
        "size": "10MB",
        "fabric": ll.Fabric(gpus=9, initial="ring"),
        "algorithm": "bruck",
        "radix": 3,
    },
    {"collective": "all-reduce", "size": "1GiB", "fabric": ll.Fabric(dims="4x4", ports=4), "algorithm": "swing"},
    {"collective": "broadcast", "size": "1B", "fabric": ll.Fabric(gpus=7, reconfiguration_delay="5us+20ns/port")},
    {
        "collective": "all-gather",
        "size": "1MiB",
        "fabric": ll.Fabric(gpus=8, ports=2, reconfiguration_delay=["100ns", "1us"]),
        "algorithm": "recursive-doubling",
        "candidates": ["circulant:1,1", "circulant:1,2", "circulant:4,4"],
    },
    {"matrix": np.arange(25.0).reshape(5, 5) * 1000, "fabric": ll.Fabric(reconfiguration_delay="1us")},
    {"collective": "all-reduce", "size": 1000, "fabric": ll.Fabric(gpus=8), "convention": "harvest-published"},
]
KEYS = {
    *("schema", "collective", "algorithm", "planner", "gpus", "size_bytes", "fabric", "total_s", "reconfigurations"),
    *("lower_bound_s", "bound_class", "topologies", "steps"),
}
FABRIC_KEYS = {"ports", "bandwidth_bps", "startup_s", "hop_delay_s", "reconfiguration_delay_s", "initial"}
TERMS = ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s")
STEP_KEYS = {"index", "topology", "reconfigured", "transfer_bytes", "hops", "load", *TERMS}


@pytest.fixture(
    scope="module", params=PROBLEMS, ids=lambda problem: str(problem.get("algorithm", problem.get("collective")))
)
def plan(request: pytest.FixtureRequest) -> ll.Plan:
    return ll.plan(**request.param)


def test_the_contract_of_plan_json(plan: ll.Plan) -> None:
    read = json.loads(plan.to_json())
    assert read.keys() >= KEYS
    assert read["schema"] == "lightloom.plan/1"
    assert read["fabric"].keys() >= FABRIC_KEYS
    assert [topology["id"] for topology in read["topologies"]] == list(range(len(read["topologies"])))
    for topology in read["topologies"]:
        assert topology.keys() >= {"id", "name", "links"}
        out = dict.fromkeys(range(read["gpus"]), 0)
        for src, dst, count in topology["links"]:
            assert src != dst
            assert 0 <= dst < read["gpus"]
            out[src] += count
        assert max(out.values()) <= read["fabric"]["ports"]
    for index, step in enumerate(read["steps"]):
        assert step.keys() >= STEP_KEYS
        assert step["index"] == index
        assert step["reconfigured"] or step["reconfiguration_s"] == 0
    assert read["reconfigurations"] == sum(step["reconfigured"] for step in read["steps"])
    assert read["lower_bound_s"] <= read["total_s"] * (1 + 1e-12)
    assert isinstance(read["bound_class"], str)


def test_the_terms_add_up_to_the_total(plan: ll.Plan) -> None:
    read = json.loads(plan.to_json())
    assert fsum(step[term] for step in read["steps"] for term in TERMS) == read["total_s"]
    assert read["total_s"] == plan.total_s
    assert plan.algbw == pytest.approx(plan.size_bytes / plan.total_s)


def test_reading_back_gives_the_same_plan(plan: ll.Plan) -> None:
    again = ll.Plan.from_json(plan.to_json())
    assert again == plan
    assert again.to_json() == plan.to_json()
    assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301
    assert all(check.passed for check in ll.verify(again))


@pytest.mark.parametrize(
    "problem", PROBLEMS, ids=lambda problem: str(problem.get("algorithm", problem.get("collective")))
)
def test_planning_twice_gives_the_same_text(problem: dict[str, Any]) -> None:
    assert ll.plan(**problem).to_json() == ll.plan(**problem).to_json()


def test_output_is_what_json_prints(cli: RunCli, in_tmp: Path) -> None:
    ran = cli(
        *("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", 8, "--format", "json"),
        *("--no-baselines", "--output", "plan.json"),
    )
    assert ran.status == 0
    printed = json.loads(ran.out)
    assert printed.pop("traffic_bytes") is None
    assert printed.pop("repeated_s") == ll.Plan.load("plan.json").repeated_s
    assert printed == json.loads((in_tmp / "plan.json").read_text())
    assert ll.Plan.load("plan.json").to_json() == ll.Plan.from_json(ran.out).to_json()
    assert [file.name for file in in_tmp.iterdir()] == ["plan.json"], "a temporary file is left"


def test_json_holds_the_baselines_of_the_comparison_and_reads_as_a_plan(cli: RunCli, in_tmp: Path) -> None:
    problem = ("--collective", "all-gather", "--size", "1MiB", "--gpus", 8, "--ports", 2, "--format", "json")
    ran, compared = cli("plan", *problem), cli("compare", *problem)
    assert ran.status == compared.status == 0
    first: dict[str, Any] = {}
    for row in json.loads(compared.out)["rows"]:
        first.setdefault(row["planner"], {key: row[key] for key in ("planner", "algorithm", "topology", "total_s")})
    baselines = [
        {key: row[key] for key in ("planner", "algorithm", "topology", "total_s")}
        for row in json.loads(ran.out)["baselines"]
    ]
    assert baselines == list(first.values())
    assert len(baselines) > 5
    assert json.loads(ran.out)["total_s"] == baselines[0]["total_s"]
    (in_tmp / "printed.json").write_text(ran.out)
    assert cli("verify", "printed.json").status == 0


def test_a_failing_plan_leaves_the_old_file(cli: RunCli, in_tmp: Path) -> None:
    (in_tmp / "plan.json").write_text("old")
    ran = cli("plan", "--collective", "all-reduce", "--size", "0B", "--gpus", 8, "--output", "plan.json")
    assert ran.status == 2
    assert (in_tmp / "plan.json").read_text() == "old"
    assert [file.name for file in in_tmp.iterdir()] == ["plan.json"]

"""The verifier of circuits: it passes what `circuits` makes, and finds each thing that is made wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from tests.conftest import RunCli


def made() -> ll.Plan:
    return ll.plan(
        "all-reduce",
        "1MiB",
        fabric=ll.Fabric(gpus=8, ports=2, initial="ring", reconfiguration_delay="100ns"),
        algorithm="recursive-doubling",
        planner="harvest",
        candidates=["circulant:1,2", "circulant:1,4", "circulant:4,4"],
    )


def resettled(document: dict[str, Any]) -> None:
    """Changes that go with the connections, so that only the verifier sees changes in these."""
    before: list[list[list[int]]] = [[] for _ in document["switches"]]
    for configuration in document["configurations"]:
        for place, switch in enumerate(configuration["switches"]):
            switch["connect"] = [pair for pair in switch["connections"] if pair not in before[place]]
            switch["disconnect"] = [pair for pair in before[place] if pair not in switch["connections"]]
        before = [switch["connections"] for switch in configuration["switches"]]


def _drop(document: dict[str, Any]) -> None:
    document["configurations"][1]["switches"][0]["connections"].pop()


def _cross(document: dict[str, Any]) -> None:
    pairs = document["configurations"][1]["switches"][0]["connections"]
    pairs[0][1], pairs[2][1] = pairs[2][1], pairs[0][1]


def _other_topology(document: dict[str, Any]) -> None:
    document["configurations"][1]["topology"] = document["configurations"][0]["topology"]


def _no_topology(document: dict[str, Any]) -> None:
    document["configurations"][1]["topology"] = 99


def _late(document: dict[str, Any]) -> None:
    document["configurations"][-1]["time_s"] *= 1.01


def _step_is_missing(document: dict[str, Any]) -> None:
    document["configurations"][-1]["steps"].pop()


def _step_is_early(document: dict[str, Any]) -> None:
    step = document["configurations"][2]["steps"].pop(0)
    document["configurations"][1]["steps"].append(step)


@pytest.mark.parametrize("optics", ["crossbar", "parallel"])
@pytest.mark.parametrize(
    ("change", "failed"),
    [
        (_drop, {"circuits"}),
        (_cross, {"circuits"}),
        (_other_topology, {"circuits", "steps"}),
        (_no_topology, {"circuits", "steps"}),
        (_late, {"times"}),
        (_step_is_missing, {"steps"}),
        (_step_is_early, {"steps", "times"}),
    ],
)
def test_what_is_wrong_fails_its_check(change: Callable[[dict[str, Any]], None], failed: set[str], optics: str) -> None:
    plan = made()
    circuits = ll.circuits(plan, optics)
    assert len(circuits.configurations) > 2
    assert [check.name for check in ll.verify(circuits) if not check.passed] == []
    document = json.loads(circuits.to_json())
    change(document)
    resettled(document)
    checks = ll.verify(ll.Circuits.from_json(json.dumps(document)), plan=plan)
    found = {check.name for check in checks if not check.passed}
    assert failed <= found
    assert found <= failed | {"steps", "times"}


def test_circuits_of_another_plan_or_on_other_switches_fail() -> None:
    plan = made()
    other = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=16, ports=2))
    circuits = ll.Circuits.from_json(ll.circuits(plan).to_json())
    assert "switches" in {check.name for check in ll.verify(circuits, plan=other) if not check.passed}
    for optics in ("parallel", "islands:4x2"):
        assert not all(check.passed for check in ll.verify(circuits, plan=plan, optics=optics))


def test_the_command_judges_files(cli: RunCli, in_tmp: Path) -> None:
    plan = made()
    plan.save(in_tmp / "plan.json")
    assert cli("circuits", "plan.json", "--optics", "parallel", "--output", "circuits.json").status == 0
    judged = cli("verify", "circuits.json", "--plan", "plan.json")
    assert judged.status == 0
    assert "circuits.json (circuits): all 5 checks passed" in judged.out
    text = Path("circuits.json").read_text("utf-8")
    document = json.loads(text)
    _cross(document)
    resettled(document)
    Path("circuits.json").write_text(json.dumps(document), "utf-8")
    judged = cli("verify", "circuits.json", "--plan", "plan.json", "--format", "json")
    assert judged.status == 1
    (told,) = json.loads(judged.out)["files"]
    assert [check["name"] for check in told["checks"] if not check["passed"]] == ["circuits"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("circuits.json",), "error: plan: plan: missing"),
        (("circuits.json", "--plan", "nowhere.json"), "error: plan: no such file: `nowhere.json`"),
        (("circuits.json", "--plan", "plan.json", "--optics", "rings"), "error: optics: `rings` is not accepted"),
        (("plan.json", "--plan", "plan.json"), "error: plan: it is used only with a file that the verb circuits wrote"),
        (
            ("plan.json", "--optics", "crossbar"),
            "error: optics: it is used only with a file that the verb circuits wrote",
        ),
    ],
)
def test_what_the_judge_lacks_is_one_line(cli: RunCli, in_tmp: Path, arguments: tuple[str, ...], line: str) -> None:
    plan = made()
    plan.save(in_tmp / "plan.json")
    ll.circuits(plan).save(in_tmp / "circuits.json")
    refused = cli("verify", *arguments)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith(line.replace("plan: plan:", "plan:"))
    assert refused.err.count("\n") == 1

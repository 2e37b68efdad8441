"""Planned iterations under the verifier, by the verb and in Python: changes by hand are shown, not refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.training.result import Training
from tests.conftest import RunCli
from tests.training.iterations import workload


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """An iteration of two layers on two ports."""
    training = ll.train(ll.Workload.of(workload(2)), fabric=ll.Fabric(ports=2))
    return dict(json.loads(training.to_json()))


def test_what_train_wrote_passes(cli: RunCli, in_tmp: Path, told: dict[str, Any]) -> None:
    (in_tmp / "training.json").write_text(json.dumps(told))
    ran = cli("verify", "training.json", "--format", "json")
    assert ran.status == 0, ran.err
    (file,) = json.loads(ran.out)["files"]
    assert (file["kind"], file["passed"]) == ("training iteration", True)
    checks = ll.verify(Training.load("training.json"))
    assert [check._asdict() for check in checks] == file["checks"]
    assert {"plans", "held-ports", "circuits", "total"} <= {check.name for check in checks}


def _later(told: dict[str, Any]) -> None:
    told["events"][-1]["start_s"] += 1e-6
    told["events"][-1]["end_s"] += 1e-6


def _quicker(told: dict[str, Any]) -> None:
    told["total_s"] *= 0.9
    told["exposed_communication_s"] = told["total_s"] - told["compute_s"]


def _port_taken(told: dict[str, Any]) -> None:
    for event in told["events"]:
        event["ports"] = event["ports"][:1]


@pytest.mark.parametrize(
    ("change", "check", "names"), [(_later, "waits", "d1"), (_quicker, "total", ""), (_port_taken, "plans", "")]
)
def test_what_is_wrong_is_shown(
    cli: RunCli,
    in_tmp: Path,
    told: dict[str, Any],
    change: Callable[[dict[str, Any]], None],
    check: str,
    names: str,
) -> None:
    changed = json.loads(json.dumps(told))
    change(changed)
    (in_tmp / "training.json").write_text(json.dumps(changed))
    ran = cli("verify", "training.json")
    assert ran.status == 1
    (line,) = (line for line in ran.out.splitlines() if line.split()[:2] == [check, "FAILED"])
    assert names in line
    training = Training.unjudged(json.dumps(changed))
    failed = {one.name for one in ll.verify(training) if not one.passed}
    assert check in failed
    # Other readers of iterations refuse one that fails.
    with pytest.raises(InputError, match=r"^training: check "):
        Training.load("training.json")


def test_what_does_not_fit_together_is_refused(cli: RunCli, in_tmp: Path, told: dict[str, Any]) -> None:
    (in_tmp / "training.json").write_text(json.dumps({**told, "events": told["events"][:-1]}))
    ran = cli("verify", "training.json")
    assert ran.status == 2
    assert "training.events: there are 11 events for 12 nodes (in `training.json`)" in ran.err
    ran = cli("verify", "training.json", "--plan", "plan.json")
    assert ran.status == 2
    assert ran.err.startswith("error: plan: it is used only with a file that the verb circuits wrote")


def test_messages_that_pass_other_ranks_are_not_at_once() -> None:
    # On a ring of four, from 0 to 2 and from 1 to 3: both go over the circuit from 1 to 2, though no rank ends both.
    nodes: list[dict[str, Any]] = [
        {"id": "c", "kind": "collective", "collective": "all-gather", "axis": "a", "size_bytes": 4000, "after": []}
    ]
    for source in (0, 1):
        node = {"id": f"m{source}", "kind": "send", "source": source, "destination": source + 2}
        nodes.append({**node, "size_bytes": 10**6, "after": ["c"]})
    read = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"a": 4}, "groups": {}, "nodes": nodes}
    training = ll.train(ll.Workload.from_json(json.dumps(read)), fabric=ll.Fabric(), policy="static")
    told = json.loads(training.to_json())
    _, first, second = sorted(told["events"], key=lambda event: float(event["start_s"]))
    second["start_s"], second["end_s"] = first["start_s"], first["end_s"]
    failed = {one.name for one in ll.verify(Training.unjudged(json.dumps(told))) if not one.passed}
    assert "held-ports" in failed

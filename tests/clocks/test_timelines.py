"""Timelines of random problems: the judge, a second simulation by events, and the plan with barriers."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest

import lightloom as ll
from lightloom._core import show_time
from lightloom.clocks.reader import parts_of
from lightloom.clocks.timeline import Timeline
from lightloom.planning import verify
from tests.clocks.problems import drawn
from tests.clocks.simulator import Fault, simulate


def mutated(document: dict[str, Any], rng: random.Random) -> None:
    """Change one number that matters."""
    one = rng.choice(document["transmissions"])
    total_s = document["total_s"]
    kind = rng.choice(["early", "short", "bytes", "gone", "path", "end", "ready"])
    if kind == "early":
        one["start_s"] *= 0.5
    elif kind == "short":
        one["duration_s"] *= 0.5
    elif kind == "bytes":
        one["size_bytes"] *= 0.5
    elif kind == "gone":
        document["transmissions"].remove(one)
    elif kind == "path":
        one["path"][-1][0] = len(document["switches"])
    elif kind == "end":
        at = [
            held
            for held in document["switches"][one["path"][0][0]]["configurations"]
            if held["ready_s"] <= one["start_s"]
        ]
        at[-1]["end_s"] = (at[-1]["ready_s"] + one["start_s"]) / 2
    else:
        at = [
            held
            for held in document["switches"][one["path"][0][0]]["configurations"]
            if held["ready_s"] <= one["start_s"]
        ]
        at[-1]["ready_s"] = one["start_s"] + 0.01 * total_s
        at[-1]["end_s"] = max(at[-1]["end_s"], at[-1]["ready_s"])


@pytest.mark.large
@pytest.mark.parametrize("seed", range(60))
def test_a_timeline_is_judged_simulated_and_never_slower_than_the_plan(seed: int) -> None:
    found = drawn(seed)
    assert [check for check in verify(found) if not check.passed] == []
    assert found.total_s <= found.plan.total_s * (1 + 1e-9)
    assert found.lower_bound_s <= found.total_s
    document = json.loads(found.to_json())
    assert simulate(document) == pytest.approx(found.total_s, rel=1e-5)
    assert Timeline.from_json(found.to_json()).parts == found.parts


@pytest.mark.large
@pytest.mark.parametrize("seed", range(40))
def test_the_judge_finds_what_the_simulation_finds(seed: int) -> None:
    document = json.loads(drawn(seed).to_json())
    rng = random.Random(seed)  # noqa: S311 (no secret)
    for _ in range(5):
        changed = deepcopy(document)
        mutated(changed, rng)
        failed = [check.name for check in Timeline(parts_of(json.dumps(changed))).verify() if not check.passed]
        try:
            end_s = simulate(changed)
        except (Fault, ZeroDivisionError, IndexError, KeyError):
            assert failed != [], changed
        else:
            # The judge asks more: that the total is the stated one, and that no data come in another order.
            assert failed == [] or set(failed) <= {"timeline-total", "data"}, (failed, end_s)


def test_what_is_tried_is_told() -> None:
    seen: list[str] = []
    asked: dict[str, Any] = {"matrix": "zipf:0.6", "size": "1MiB/pair", "fabric": ll.Fabric(gpus=6, ports=2)}
    found = ll.timeline("all-to-all", **asked, report=seen.append)
    assert found.to_json() == ll.timeline("all-to-all", **asked).to_json()
    # The plan that the timeline is compared with, and each way that a pair of GPUs may be served.
    assert len(seen) == len(set(seen)) == 4
    assert show_time(ll.plan("all-to-all", **asked).total_s) in seen[1]

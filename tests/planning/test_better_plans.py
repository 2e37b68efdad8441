"""Plans that are told while better ones are looked for, budgets, and plans that begin with the circuits of another."""

from __future__ import annotations

import gc
import pickle
import weakref
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll
from tests.robustness.exhaustive import Costs, best_s

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom.plans.better import BetterPlan
    from tests.conftest import RunCli

RATE_BPS = 800e9
# How much above the least time of all circuits and flows the plan of an All-to-All may be (as in `tests/robustness`).
MOST_ABOVE = 1.05
UNEQUAL = ("plan", "--collective", "all-to-all", "--matrix", "zipf:0.4", "--size", "1MiB/pair")


def unequal(seed: int, gpus: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    drawn = np.rint(np.random.default_rng(seed).uniform(1e5, 1e7, (gpus, gpus)))
    np.fill_diagonal(drawn, 0.0)
    return drawn


def told(**arguments: Any) -> tuple[ll.Plan, list[BetterPlan]]:
    seen: list[BetterPlan] = []
    return ll.plan(**arguments, progress=seen.append), seen


def check(plan: ll.Plan, seen: list[BetterPlan]) -> None:
    for better in seen:
        made = better.plan()
        assert all(check.passed for check in ll.verify(made))
        assert made.total_s == pytest.approx(better.total_s, rel=1e-6)
        assert better.lower_bound_s <= better.total_s * (1 + 1e-9)
        assert better.over_bound == better.total_s / better.lower_bound_s
    for earlier, later in pairwise(seen):
        assert later.total_s < earlier.total_s
        assert later.elapsed_s >= earlier.elapsed_s
    assert seen[-1].total_s == pytest.approx(plan.total_s, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_last_is_next_to_the_best_of_all_circuits_and_flows(seed: int) -> None:
    costs = Costs(2e-6, 5e-7, 8 / RATE_BPS, [1e-6, 5e-6, 2e-5][seed])
    fabric = ll.Fabric(
        gpus=3, startup="2us", hop_delay="500ns", reconfiguration_delay=costs.change_s, bandwidth=RATE_BPS
    )
    matrix = unequal(seed, 3)
    plan, seen = told(matrix=matrix, fabric=fabric)
    check(plan, seen)
    optimum_s = best_s(matrix[None], costs, 3)
    assert all(better.total_s >= optimum_s * (1 - 1e-9) for better in seen)
    assert seen[-1].total_s <= MOST_ABOVE * optimum_s


@pytest.mark.large
@pytest.mark.parametrize(
    "arguments",
    [
        {"collective": "all-reduce", "size": "1MiB", "fabric": ll.Fabric(gpus=8)},
        {"collective": "all-gather", "size": "1MiB", "fabric": ll.Fabric(gpus=6, ports=2), "planner": "harvest"},
        {"collective": "all-to-all", "size": "1MiB", "fabric": ll.Fabric(gpus=8), "planner": "never-change"},
        {
            "collective": "all-gather",
            "size": "4MiB",
            "fabric": ll.Fabric(gpus=5, ports=2),
            "algorithm": "bruck",
            "planner": "exact",
        },
        {"collective": "all-gather", "size": "4MiB", "fabric": ll.Fabric(gpus=5), "planner": "exact"},
    ],
    ids=lambda arguments: str(arguments.get("planner", "auto")),
)
def test_every_planner_tells_what_it_has(arguments: dict[str, Any]) -> None:
    plan, seen = told(**arguments)
    check(plan, seen)
    assert plan == ll.plan(**arguments)


def test_what_is_told_outlives_the_call_and_keeps_nothing_alive() -> None:
    class Listener:
        def __init__(self) -> None:
            self.seen: list[BetterPlan] = []

        def hear(self, better: BetterPlan) -> None:
            self.seen.append(better)

    listener = Listener()
    ll.plan(matrix=unequal(0, 6), fabric=ll.Fabric(gpus=6), progress=listener.hear)
    copy = pickle.loads(pickle.dumps(listener.seen[0]))  # noqa: S301 (pickles are tested here)
    assert copy == listener.seen[0]
    gone = weakref.ref(listener)
    del listener
    gc.collect()
    assert gone() is None


def test_lines_are_told_on_standard_error(cli: RunCli) -> None:
    arguments = (*UNEQUAL, "--gpus", "6", "--no-baselines")
    shown = cli(*arguments, "--progress")
    *_, last = shown.err.splitlines()
    elapsed, line = last.split(": ", 1)
    assert elapsed.split()[1] in {"µs", "ms", "s"}
    assert line.endswith(" of the lower bound")
    assert line.split(",")[0] in shown.out
    assert cli(*arguments).out == shown.out
    refused = cli("plan", "--collective", "all-reduce", "--sizes", "1KiB:4KiB", "--gpus", "4", "--progress")
    assert (refused.status, refused.err.split(":")[1]) == (2, " progress")


def test_a_plan_begins_with_another_ones_circuits(cli: RunCli, tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    arguments = (*UNEQUAL, "--gpus", "8", "--ports", "2")
    assert cli(*arguments, "--output", str(file)).status == 0
    fabric = ll.Fabric(gpus=8, ports=2)
    known = ll.Plan.load(file)
    for start in (known, file, str(file)):
        plan = ll.plan(matrix=unequal(1, 8), fabric=fabric, warm_start=start)
        assert all(check.passed for check in ll.verify(plan))
        assert len(plan.topologies) <= len(known.topologies)
    assert cli(*arguments, "--seed", "2", "--warm-start", str(file), "--no-baselines").status == 0
    for wrong, field in [
        (("--warm-start", str(tmp_path / "none.json")), "warm_start"),
        (("--warm-start", str(file), "--gpus", "9"), "warm_start"),
        (("--warm-start", str(file), "--ports", "1"), "warm_start"),
        (("--warm-start", str(file), "--planner", "bvn"), "warm_start"),
        (("--warm-start", str(file), "--planner", "exact"), "warm_start"),
        (("--warm-start", str(file), "--routing", "single-path"), "warm_start"),
    ]:
        refused = cli(*arguments, *wrong)
        assert refused.status == 2, wrong
        assert refused.err.startswith(f"error: {field}: "), refused.err
        assert refused.err.count("\n") == 1
    refused = cli("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", "8", "--warm-start", str(file))
    assert refused.err.startswith("error: warm_start: it is for an All-to-All of unequal blocks")


@pytest.mark.parametrize("wrong", [3, "x", ()])
def test_progress_is_a_function(wrong: Any) -> None:
    with pytest.raises(ll.InputError, match=r"^progress: "):
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4), progress=wrong)


@pytest.mark.large
def test_a_longer_budget_finds_a_better_plan() -> None:
    fabric = ll.Fabric(gpus=48, ports=4, reconfiguration_delay="10us")
    arguments: dict[str, Any] = {"collective": "all-to-all", "size": "1MiB/pair", "matrix": "zipf:0.4"}
    arguments |= {"fabric": fabric, "planner": "weave"}
    times = []
    for budget in ("1ms", "3s"):
        plan, seen = told(**arguments, budget=budget)
        check(plan, seen)
        times.append(plan.total_s)
    # In a millisecond there is time for the quick answer alone, whatever the machine.
    assert times[1] < times[0]

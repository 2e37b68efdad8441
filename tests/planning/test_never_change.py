"""Circuits that never change, what changing them gains, and plans that run again and again."""

import json
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.planning import baselines
from lightloom.views.documents import plan_document
from lightloom.views.verdict import verdict
from tests.conftest import RunCli
from tests.planning.never_change import faults


@pytest.mark.large
@pytest.mark.parametrize("index", range(40))
def test_never_change_is_never_faster_and_equal_where_nothing_changes(index: int) -> None:
    assert faults(11, index) == []


def test_a_given_start_is_kept_and_a_free_one_chosen() -> None:
    given = ll.Fabric(gpus=16, initial="ring:one-way", reconfiguration_delay="1us")
    open_start = ll.Fabric(gpus=16, reconfiguration_delay="1us")
    still = ll.plan("all-gather", "64KiB", fabric=given, planner="never-change")
    assert {step.topology_name for step in still.steps} == {"ring:one-way"}
    assert still.planner == "never-change"
    free = ll.plan("all-gather", "64KiB", fabric=open_start, planner="never-change")
    assert free.reconfigurations == 0
    assert free.total_s <= still.total_s


def test_one_gigabyte_gains_nothing_from_changes_of_ten_milliseconds() -> None:
    # By hand: Ring on a ring, 2·63 steps of α + δ + β·m/64, is faster than what recursive doubling takes on one.
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="10ms")
    plan = ll.plan("all-reduce", "1GiB", fabric=fabric)
    ring_s = 126 * (1e-6 + (1 << 30) / 64 * 8 / 800e9)
    assert plan.total_s == pytest.approx(ring_s, rel=1e-9)
    rows = baselines("all-reduce", "1GiB", fabric=fabric, beside=plan)
    assert verdict(plan, rows) == "changing circuits does not pay here: the best plan leaves them as they are"
    told = json.loads(plan_document(plan, rows))
    assert told["never_change_s"] == plan.total_s
    assert told["repeated_s"] == plan.total_s


def test_a_named_algorithm_is_compared_with_all_of_them() -> None:
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="1us")
    named = {"algorithm": "recursive-doubling", "planner": "harvest"}
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, **named)  # type: ignore[arg-type]
    rows = baselines("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", beside=None)
    best = ll.plan("all-reduce", "1MiB", fabric=fabric)
    still = ll.plan("all-reduce", "1MiB", fabric=fabric, planner="never-change")
    by_planner = {row.planner: row.total_s for row in rows}
    assert by_planner["weave"] == best.total_s < plan.total_s
    assert by_planner["never-change"] == still.total_s
    assert f"{still.total_s / plan.total_s:.3g}× as fast as circuits that never change" in verdict(plan, rows)


def test_a_start_that_serves_nothing_without_a_change_is_said(cli: RunCli) -> None:
    options = ("--collective", "all-reduce", "--size", "64KiB", "--gpus", 8, "--initial", "circulant:2")
    said = "no plan serves the problem without a change of the circuits of `circulant:2`"
    printed = cli("plan", *options).out
    assert f"\nverdict      {said}\n" in printed
    assert f" never-change: {said}\n" in printed
    assert f"never-change: {said}" in cli("compare", *options).out
    assert json.loads(cli("plan", *options, "--format", "json").out)["never_change_s"] is None


def test_the_first_setting_of_the_circuits_is_no_change_that_pays(cli: RunCli) -> None:
    options = ("--collective", "all-reduce", "--size", "64KiB", "--gpus", 8, "--initial", "dark")
    printed = cli("plan", *options, "--planner", "never-change").out
    assert ", 1 reconfiguration (" in printed
    said = "the best plan leaves them as they are after the first setting of the circuits"
    assert f"\nverdict      changing circuits does not pay here: {said}\n" in printed


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce"])
@pytest.mark.parametrize("gpus", [4, 8])
def test_of_equally_fast_circuits_the_plan_s_own_are_named(collective: str, gpus: int) -> None:
    problem: dict[str, Any] = {"fabric": ll.Fabric(gpus=gpus, ports=gpus - 1), "topology": "complete"}
    plan = ll.plan(collective, "1MiB", **problem)
    (still,) = (row for row in baselines(collective, "1MiB", **problem, beside=plan) if row.planner == "never-change")
    assert still.total_s == plan.total_s
    assert (still.topology, still.algorithm) == ("complete", plan.algorithm)


def test_a_start_that_joins_nobody_is_refused_in_a_line() -> None:
    fabric = ll.Fabric(gpus=8, initial="shifted-ring:2")
    with pytest.raises(InputError, match="without a change of the circuits of `shifted-ring:2`"):
        ll.plan("all-reduce", "1MiB", fabric=fabric, planner="never-change")


def test_a_repeated_plan_is_read_back_simulated_and_put_on_switches(tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=16, initial="repeated", reconfiguration_delay="1us")
    plan = ll.plan("all-gather", "64KiB", fabric=fabric)
    assert plan.steps[0].reconfigured
    assert plan.initial == "repeated"
    plan.save(tmp_path / "plan.json")
    again = ll.Plan.load(tmp_path / "plan.json")
    assert again == plan
    assert all(check.passed for check in ll.verify(again))
    assert ll.simulate(plan, injection="paced").total_s == pytest.approx(plan.total_s, rel=0.02)
    circuits = ll.circuits(plan)
    assert all(check.passed for check in ll.verify(circuits, plan=plan))
    # The circuits before the first step are those that the last one leaves.
    configurations = json.loads(circuits.to_json())["configurations"]
    assert configurations[0]["steps"] == []
    assert configurations[0]["topology"] == configurations[-1]["topology"]


def test_a_sweep_compares_with_never_change_where_nothing_else_is_said() -> None:
    description = {
        "settings": {"collective": "all-reduce", "gpus": 16},
        "axes": {"size": ["64KiB", "1GiB"], "reconfiguration_delay": ["100ns", "10ms"]},
    }
    result = ll.sweep(description)
    assert [entry.label for entry in result.description.baseline] == ["never-change"]
    columns = result.to_columns()
    for row, total_s in enumerate(columns["total_s"]):
        fabric = ll.Fabric(gpus=16, reconfiguration_delay=columns["reconfiguration_delay_s"][row])
        still = ll.plan("all-reduce", int(columns["size_bytes"][row]), fabric=fabric, planner="never-change")
        assert columns["baseline_s"][row] == still.total_s
        assert columns["ratio"][row] == still.total_s / total_s


@pytest.mark.large
@pytest.mark.parametrize("initial", ["free", "ring"])
@pytest.mark.parametrize("matrix", ["random:3", "hot-experts:6:0.5:1", "top-k:2:1.2:1.25:2"])
@pytest.mark.parametrize("delay", ["0s", "3us", "300us"])
def test_unequal_all_to_alls_among_many_ranks_are_never_slower(delay: str, matrix: str, initial: str) -> None:
    fabric = ll.Fabric(gpus=48, ports=3, initial=initial, reconfiguration_delay=delay)
    told: dict[str, Any] = {"size": "64KiB/pair", "matrix": matrix, "fabric": fabric}
    found, still = ll.plan("all-to-all", **told), ll.plan("all-to-all", **told, planner="never-change")
    assert found.total_s <= still.total_s * (1 + 1e-9)

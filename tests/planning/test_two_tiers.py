"""Plans on islands of GPUs round electrical switches: what takes them, and what refuses them in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from lightloom.formats import FORMATS
from lightloom.planning import baselines
from lightloom.planning.two_level import fast_on_servers
from lightloom.views.tables.plan import plan_table

if TYPE_CHECKING:
    from pathlib import Path

FABRIC: dict[str, Any] = {"gpus": 8, "ports": 2, "electrical": "4:3600Gbps:100ns"}


@pytest.fixture(scope="module")
def plan() -> ll.Plan:
    made = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(**FABRIC))
    assert made.uses_electrical
    assert all(check.passed for check in ll.verify(made))
    return made


@pytest.mark.large
def test_a_plan_says_what_its_islands_are(plan: ll.Plan) -> None:
    assert plan.electrical == (4, 3.6e12, 1e-7)
    shown = " ".join(plan_table(plan, []).split())
    assert "islands of 4 GPUs round electrical switches of 3600 Gbit/s, hop delay 100.0 ns" in shown
    alone = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, ports=2))
    assert (alone.electrical, alone.uses_electrical) == (None, False)
    assert "islands of" not in plan_table(alone, [])
    assert plan.total_s < alone.total_s


def test_steps_say_which_tier_carries_and_takes_longer(plan: ll.Plan) -> None:
    for step in plan.steps:
        tiers = {"electrical": step.electrical_load / 3.6e12, "optical": step.load / max(plan.rates_bps)}
        busiest = max(tiers.values()) * step.transfer_bytes * 8
        assert step.transmission_s == pytest.approx(busiest)
    shown = plan_table(plan, [], all_steps=True).split("lower bound")[0]
    assert " tiers " in shown
    [row] = [line for line in shown.splitlines() if line.split()[:1] == ["1"]]
    assert "electrical" in row
    alone = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, ports=2))
    assert " tiers " not in plan_table(alone, [])
    assert {step.electrical_load for step in alone.steps} == {0.0}


@pytest.mark.large
@pytest.mark.parametrize("size", ["1KiB", "16KiB", "256KiB", "16MiB"])
@pytest.mark.parametrize(("islands", "each", "ports"), [(6, 4, 1), (9, 4, 1), (8, 4, 2), (12, 8, 1), (18, 8, 1)])
def test_sums_on_many_islands_are_verified(islands: int, each: int, ports: int, size: str) -> None:
    """Sums inside islands as steps of their own or as a part of others, parts by topology: every chunk is followed."""
    electrical = f"{each}:3600Gbps:500ns"
    fabric = ll.Fabric(gpus=islands * each, ports=ports, electrical=electrical, reconfiguration_delay="1us")
    plan = ll.plan("all-reduce", size, fabric=fabric)
    assert all(check.passed for check in ll.verify(plan))
    assert plan.lower_bound_s <= plan.total_s
    assert plan.total_s <= ll.plan("all-reduce", size, fabric=replace(fabric, electrical=None)).total_s


@pytest.mark.parametrize("name", [one.name for one in FORMATS if one.written])
def test_formats_that_write_paths_refuse_electrical_switches(plan: ll.Plan, tmp_path: Path, name: str) -> None:
    [chosen] = [one for one in FORMATS if one.name == name]
    if chosen.writes_paths:
        with pytest.raises(ll.InputError, match=f"plan: its electrical switches have no place in {name}; export it to"):
            ll.export(plan, name, tmp_path / "out")
        assert not (tmp_path / "out").exists()
    else:
        assert ll.export(plan, name, tmp_path / "out").files


def test_only_circuits_are_run(plan: ll.Plan) -> None:
    with pytest.raises(ll.InputError, match="plan: it sends data through electrical switches"):
        ll.run(plan)


def test_samples_are_of_plans_on_circuits(plan: ll.Plan) -> None:
    with pytest.raises(ll.InputError, match="uncertain: a plan on two tiers"):
        ll.sample(plan, "startup=normal:0.1")
    with pytest.raises(ll.InputError, match="electrical: a fabric with electrical switches"):
        ll.sample_plans("all-reduce", "1MiB", uncertain="startup=normal:0.1", fabric=ll.Fabric(**FABRIC))


@pytest.mark.parametrize(
    ("field", "more"),
    [
        ("candidates", {"candidates": ["ring"]}),
        ("overlap", {"overlap": "pipelined"}),
        ("routing", {"routing": "equal-split"}),
    ],
)
def test_options_that_choose_circuits_are_refused(field: str, more: dict[str, Any]) -> None:
    with pytest.raises(ll.InputError, match=f"^{field}: "):
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(**FABRIC), **more)


@pytest.mark.parametrize("more", [{"failed": "port:1.0"}, {"failed": "gpu:3"}, {"optics": "islands:4x2"}])
def test_fabrics_of_islands_are_whole_and_hold_all_topologies(more: dict[str, Any]) -> None:
    with pytest.raises(ll.InputError, match=f"^{next(iter(more))}: "):
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(**FABRIC, **more))


@pytest.mark.parametrize("more", [{"electrical": "4:3600Gbps"}, {"failed": ("port:1.0",)}, {"barrier": "1us"}])
@pytest.mark.parametrize(
    "planned",
    [
        lambda fabric: ll.train("bert-pccl", ranks=8, fabric=fabric),
        lambda fabric: ll.robust("zipf:0.6", "1MiB", fabric=fabric),
        lambda fabric: ll.place_jobs({"job": [{"name": "a", "model": "bert-pccl", "gpus": 8}]}, fabric=fabric),
        lambda fabric: fast_on_servers([[0.0] * 8] * 8, "4:3600Gbps", fabric=fabric),
    ],
)
def test_what_is_planned_on_circuits_alone_refuses_more(planned: Any, more: dict[str, Any]) -> None:
    ((field, value),) = more.items()
    shown = value if isinstance(value, str) else ",".join(value)
    with pytest.raises(ll.InputError, match=f"^{field}: `{shown}` is not accepted: .*(circuits alone|works|barriers)"):
        planned(ll.Fabric(gpus=8, ports=2, **more))


@pytest.mark.large
@pytest.mark.parametrize(
    ("gpus", "hop_delay", "electrical"),
    [
        (4, "0ns", "2:400Gbps"),
        (4, "0ns", "2:50Gbps:2500ns"),
        (4, "13400ns", "2:3600Gbps:0ns"),
        (4, "0ns", "2:3600Gbps:0ns"),
        # A ring of circuits is gone round in less than one hop inside an island.
        (64, "1ns", "2:400Gbps:1us"),
    ],
)
@pytest.mark.parametrize("size", ["2KiB", "1MiB"])
@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "broadcast", "all-to-all"])
def test_circuits_alone_are_no_faster_than_both_tiers_nor_than_their_bound(
    collective: str, size: str, gpus: int, hop_delay: str, electrical: str
) -> None:
    circuits = ll.Fabric(gpus=gpus, hop_delay=hop_delay)
    islands = ll.Fabric(gpus=gpus, hop_delay=hop_delay, electrical=electrical)
    alone, both = (ll.plan(collective, size, fabric=fabric) for fabric in (circuits, islands))
    assert both.lower_bound_s <= both.total_s <= alone.total_s * (1 + 1e-12)


def test_many_points_are_planned_on_circuits_alone() -> None:
    """By a planner that is named; without one they would be other times than the plans'."""
    settings = {"collective": "all-gather", "gpus": 8, "electrical": "4:3600Gbps:100ns"}
    axes = {"size": [1024]}
    with pytest.raises(ll.InputError, match=r"electrical: .* name a planner"):
        ll.sweep({"settings": settings, "axes": axes})
    named = {"settings": {**settings, "planner": "harvest", "algorithm": "ring"}, "axes": axes}
    fabric = ll.Fabric(gpus=8, electrical="4:3600Gbps:100ns")
    plan = ll.plan("all-gather", 1024, fabric=fabric, planner="harvest", algorithm="ring")
    assert ll.sweep(named).to_columns()["total_s"] == [plan.total_s]


def test_planners_are_compared_on_circuits_alone() -> None:
    with pytest.raises(ll.InputError, match=r"^electrical: `4:3600Gbps:100ns` is not accepted: .*circuits alone"):
        ll.compare("all-reduce", "1MiB", fabric=ll.Fabric(**FABRIC))


def test_the_verdict_is_over_the_best_circuits_of_both_tiers_that_never_change() -> None:
    """Where no change ever pays, the plan is the best that never changes, on any fabric."""
    fast, slow = (ll.Fabric(**{**FABRIC, "gpus": 16, "reconfiguration_delay": delay}) for delay in ("1us", "1s"))
    made, stays = ll.plan("all-to-all", "16MiB", fabric=fast), ll.plan("all-to-all", "16MiB", fabric=slow)
    unchanging = ll.plan("all-to-all", "16MiB", fabric=fast, planner="never-change")
    assert made.reconfigurations > 0 == stays.reconfigurations
    assert unchanging.total_s == pytest.approx(stays.total_s, rel=1e-9)
    assert unchanging.uses_electrical
    (row,) = (row for row in baselines("all-to-all", "16MiB", fabric=fast) if row.planner == "never-change")
    assert row.total_s == unchanging.total_s


@pytest.mark.large
def test_a_faster_switch_is_never_slower() -> None:
    delays = ("1us", "2us", "5us", "10us", "100us")
    times_s = [
        ll.plan(
            "all-to-all",
            "64MiB",
            fabric=ll.Fabric(gpus=64, ports=4, electrical="8:3600Gbps:100ns", reconfiguration_delay=delay),
        ).total_s
        for delay in delays
    ]
    assert times_s == sorted(times_s)

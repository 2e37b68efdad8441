"""The judges believe no number that they can compute, and a plan from a file is judged before it is used."""

import json
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.conftest import ROOT, RunCli

REPRO = ROOT.parent / "shared" / "repro"
TERMS = ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s")

needs_repro = pytest.mark.skipif(not REPRO.is_dir(), reason="the plans that showed defects are not next to the project")


def reconfigured() -> dict[str, Any]:
    """A plan's document whose steps are reconfigured."""
    fabric = ll.Fabric(gpus=16, ports=2, reconfiguration_delay="100ns")
    plan = ll.plan("all-reduce", size="64KiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    return json.loads(plan.to_json())  # type: ignore[no-any-return]


def with_sums(document: dict[str, Any]) -> str:
    """The document with a total that fits, and a bound that is not above it."""
    document["total_s"] = sum(step[term] for step in document["steps"] for term in TERMS)
    document["lower_bound_s"] = min(document["lower_bound_s"], document["total_s"])
    return json.dumps(document)


@needs_repro
@pytest.mark.parametrize("name", ["hidden_charge", "pipelined_prop", "bound_lie"])
def test_plans_that_lie_are_refused(cli: RunCli, name: str) -> None:
    file = REPRO / f"repro_verify_{name}.json"
    assert cli("verify", file).status == 1
    ran = cli("simulate", file)
    assert ran.status == 2
    assert ran.err.startswith("error: plan: ")
    assert ran.err.count("\n") == 1


@needs_repro
def test_rounding_of_shares_moves_no_packet() -> None:
    times = [
        ll.simulate(REPRO / f"repro_sim_share_noise_{which}.json", header_size="16B", forwarding="cut-through").total_s
        for which in "ab"
    ]
    assert times[0] == times[1]


def test_a_plan_without_its_delays_is_not_simulated(cli: RunCli, in_tmp: Path) -> None:
    document = reconfigured()
    assert any(step["reconfiguration_s"] > 0 for step in document["steps"])
    for step in document["steps"]:
        step["reconfiguration_s"] = 0.0
    text = with_sums(document)
    plan = ll.Plan.from_json(text)
    for _ in range(2):
        with pytest.raises(InputError, match="reconfiguration") as raised:
            ll.simulate(plan)
        assert raised.value.field == "plan"
    (in_tmp / "lie.json").write_text(text)
    assert cli("simulate", "lie.json").status == 2


def test_a_bound_of_a_class_that_is_not_known_is_stated_not_checked(cli: RunCli, in_tmp: Path) -> None:
    document = reconfigured()
    for bound_class, status in ((document["bound_class"], 1), ("plans that are like this one", 0)):
        document["bound_class"] = bound_class
        document["lower_bound_s"] = document["total_s"]
        (in_tmp / "plan.json").write_text(json.dumps(document))
        for form in ("table", "json"):
            ran = cli("verify", "plan.json", "--format", form)
            assert ran.status == status
            assert ("stated, not checked" in " ".join(ran.out.split())) == (status == 0)


PIPELINED = [
    ["broadcast", "--size", "1024B", "--gpus", 12, "--ports", 4, "--convention", "harvest-published"],
    ["all-reduce", "--size", "7B", "--gpus", 4, "--bandwidth", "1bps"],
    ["all-gather", "--size", "1MB", "--gpus", 4, "--bandwidth", "1kbps", "--algorithm", "ring"],
]


@pytest.mark.parametrize("arguments", PIPELINED, ids=str)
def test_a_pipelined_plan_passes_its_judge(cli: RunCli, arguments: list[Any]) -> None:
    ran = cli("plan", "--collective", *arguments, "--overlap", "pipelined", "--hop-delay", "1us", "--format", "json")
    assert ran.status == 0, ran.err
    plan = ll.Plan.from_json(ran.out)
    assert all(check.passed for check in ll.verify(plan))
    assert json.loads(ran.out)["propagation"] == "hops"


@pytest.mark.parametrize("level", ["packet", "flow"])
@pytest.mark.parametrize("sync", ["barrier", "dataflow"])
def test_what_takes_too_long_is_refused_in_a_line(cli: RunCli, in_tmp: Path, level: str, sync: str) -> None:
    # A step takes 2000 s: 3 of them can be counted, 11 cannot.
    for gpus, status in ((4, 0), (12, 2)):
        fabric = ll.Fabric(gpus=gpus, startup="1000s", bandwidth="8Mbps")
        ll.plan(
            "all-gather", size=gpus * 10**9, fabric=fabric, algorithm="ring", planner="static", topology="ring"
        ).save(in_tmp / "plan.json")
        ran = cli("simulate", "plan.json", "--level", level, "--sync", sync)
        assert ran.status == status, ran.err
        if status:
            assert ran.err.startswith("error: plan: a time above 9223 s is not accepted")
            assert ran.err.count("\n") == 1


def test_a_repeated_time_is_recomputed(cli: RunCli, in_tmp: Path) -> None:
    problem = ("--collective", "all-reduce", "--gpus", 8, "--size", "64MiB")
    printed = json.loads(cli("plan", *problem, "--format", "json").out)
    for key, value, said in [
        ("repeated_s", printed["repeated_s"], None),
        ("repeated_s", None, None),
        ("repeated_s", printed["repeated_s"] * 0.99, "plan.repeated_s: it is "),
        ("repeated_s", "soon", "plan.repeated_s: "),
        ("never_change_s", [1], "plan.never_change_s: "),
    ]:
        (in_tmp / "plan.json").write_text(json.dumps({**printed, key: value}))
        ran = cli("verify", "plan.json")
        assert ran.status == (0 if said is None else 2), (key, value)
        assert said is None or (ran.err.startswith(f"error: {said}") and ran.err.count("\n") == 1), ran.err

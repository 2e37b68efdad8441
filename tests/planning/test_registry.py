"""Whatever is listed works, and whatever exists is listed."""

import json
from pathlib import Path

import pytest

import lightloom as ll
from lightloom import _core
from lightloom.cli.registry import VERBS
from lightloom.views.listings import listings
from tests.conftest import ROOT, RunCli

REGISTRY = _core.registry()
KINDS = tuple(listings())
NOT_VERBS = {
    "clocks",
    "plan_table",
    "__init__",
    "entry",
    "measurements",
    "names",
    "options",
    "outputs",
    "progress",
    "uncertain",
    "faults",
    "ranks",
    "registry",
    "repair",
    "switches",
    "units",
    "verb",
}


def test_every_verb_has_its_file_and_every_file_is_a_verb() -> None:
    files = {file.stem for file in (ROOT / "python" / "lightloom" / "cli").glob("*.py")}
    assert {verb.name for verb in VERBS} == files - NOT_VERBS
    assert all(verb.module == f"lightloom.cli.{verb.name}" for verb in VERBS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed(cli: RunCli, kind: str) -> None:
    ran = cli("list", kind, "--format", "json")
    assert ran.status == 0, ran.err
    (entries,) = json.loads(ran.out).values()
    assert entries
    names = [entry["name"] for entry in entries]
    assert len(set(names)) == len(names)
    table = cli("list", kind).out
    assert all(name in table for name in names)


def test_list_alone_has_all_kinds(cli: RunCli) -> None:
    assert list(json.loads(cli("list", "--format", "json").out)) == list(KINDS)
    told = cli("list", "--help").out.split("Examples:")[0].replace(",", " ").replace(".", " ").split()
    assert set(KINDS) <= set(told)


@pytest.mark.parametrize("entry", REGISTRY["algorithms"], ids=lambda entry: str(entry["name"]))
def test_every_algorithm_plans_and_verifies(entry: dict[str, str]) -> None:
    planned = 0
    for collective in entry["collectives"].split(", "):
        for gpus, dims in [(8, None), (8, "2x4"), (6, None), (12, "3x4")]:
            rows = _core.algorithm_table(collective, gpus, ll.Fabric(dims=dims).dimensions, 2, None)
            if not any(row["accepted"] for row in rows if row["algorithm"] == entry["name"]):
                continue
            fabric = ll.Fabric(gpus=gpus, dims=dims, ports=2)
            plan = ll.plan(collective, size="96KiB", fabric=fabric, algorithm=entry["name"])
            assert (plan.algorithm, plan.collective) == (entry["name"], collective)
            assert all(check.passed for check in ll.verify(plan))
            planned += 1
    assert planned


def test_the_algorithm_table_agrees_with_what_is_built(cli: RunCli) -> None:
    ran = cli("list", "algorithms", "--gpus", 12, "--dims", "3x4", "--format", "json")
    rows = json.loads(ran.out)["algorithms"]
    assert {row["algorithm"] for row in rows} == {entry["name"] for entry in REGISTRY["algorithms"]}
    for row in rows:
        if row["accepted"]:
            schedule = ll.Schedule.build(row["algorithm"], row["collective"], 12, (3, 4))
            assert (len(schedule.shares), schedule.sent_share) == (row["steps"], row["sent_share"])
        else:
            assert row["steps"] is None
            assert row["reason"]
            with pytest.raises(ll.InputError):
                ll.Schedule.build(row["algorithm"], row["collective"], 12, (3, 4))


# The others plan only All-to-All.
REDUCING = {"harvest", "static", "bvn", "bridge", "pccl", "pccl-parallel", "short-circuit", "synthesize", "exact"}


@pytest.mark.parametrize("planner", [entry["name"] for entry in REGISTRY["planners"]])
@pytest.mark.parametrize("routing", [entry["name"] for entry in REGISTRY["routings"]])
def test_every_planner_keeps_the_routing_or_says_that_it_knows_another(planner: str, routing: str) -> None:
    collective = "reduce-scatter" if planner in REDUCING else "all-to-all"
    known = "concurrent-flow" if planner.startswith("direct-connect") else "single-path"
    # With several ports it takes long, and knows one routing: `test_exact.py`.
    fabric = ll.Fabric(gpus=8, ports=1 if planner == "exact" else 2)
    try:
        plan = ll.plan(collective, size="1MiB", fabric=fabric, planner=planner, routing=routing)
    except ll.InputError as error:
        assert routing != known
        assert str(error) == f"routing: {planner} refuses this problem: it takes only routing {known}"
    else:
        assert (plan.planner, plan.routing) == (planner, routing)


@pytest.mark.parametrize("planner", ["pccl", "bridge", "short-circuit", "reconfigure-all-to-all"])
def test_a_planner_named_after_a_paper_starts_as_its_paper_does(planner: str) -> None:
    collective = "all-to-all" if planner == "reconfigure-all-to-all" else "reduce-scatter"
    start = "dark" if planner == "reconfigure-all-to-all" else "ring"
    fabric = ll.Fabric(gpus=8)
    assert ll.plan(collective, size="1MiB", fabric=fabric, planner=planner).initial == start
    assert ll.plan(collective, size="1MiB", fabric=ll.Fabric(gpus=8, initial="free"), planner=planner).initial == "free"
    assert ll.plan(collective, size="1MiB", fabric=fabric, convention=planner).initial == start


@pytest.mark.parametrize("family", [entry["name"] for entry in REGISTRY["candidates"]])
def test_every_candidate_family(family: str) -> None:
    fabric = ll.Fabric(gpus=16, ports=2)
    assert ll.plan("all-reduce", size="1MiB", fabric=fabric, algorithm="swing", candidates=family).total_s > 0


def test_comparison_is_sorted_and_above_its_bound(cli: RunCli) -> None:
    ran = cli("compare", "--collective", "all-reduce", "--size", "1MiB", "--gpus", 16, "--format", "json")
    comparison = json.loads(ran.out)
    rows = comparison["rows"]
    times = [row["total_s"] for row in rows]
    assert times == sorted(times)
    assert all(row.keys() >= {"planner", "algorithm", "total_s", "reconfigurations"} for row in rows)
    assert {row["planner"] for row in rows} >= {"harvest", "static", "bvn"}
    assert comparison["lower_bound_s"] <= times[0] * (1 + 1e-12)
    assert [row["ratio"] for row in rows] == [time / times[0] for time in times]
    best = ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16))
    assert best.total_s == pytest.approx(times[0], rel=1e-12)
    assert all(row["reason"] for row in comparison["not_applicable"])


def test_no_file_of_the_package_is_long() -> None:
    for file in sorted((ROOT / "python").rglob("*.py")):
        assert len(file.read_text().splitlines()) < 400, Path(file).name

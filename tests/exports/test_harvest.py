"""HARVEST's two files, read as their description says and held to the plan's own JSON."""

import json
from collections import Counter
from pathlib import Path

import pytest

import lightloom as ll
from tests.exports.plans import document_of, random_plans
from tests.reference.plan_document import chunks_of, transfers_of

PLANS = 25


def check(plan: ll.Plan, folder: Path) -> None:
    """What the folder says of a plan is what the plan's JSON says."""
    collective = json.loads((folder / "collective.json").read_text())
    schedule = json.loads((folder / "schedule.json").read_text())
    document = document_of(plan)
    assert collective.keys() == {"n", "dims", "collective", "steps"}
    assert schedule.keys() == {
        *("alpha_r", "collective", "cost", "num_of_reconfigs", "reconf_cost_total", "steps"),
    }
    assert (collective["n"], collective["collective"]) == (document["gpus"], document["collective"])
    assert schedule["collective"] == document["collective"]
    assert schedule["cost"] == pytest.approx(document["total_s"] * 1e9, rel=1e-12)
    assert schedule["num_of_reconfigs"] == sum(step["reconfigured"] for step in document["steps"])
    charged = sum(step["reconfiguration_s"] for step in document["steps"]) * 1e9
    assert schedule["reconf_cost_total"] == pytest.approx(charged, rel=1e-12)
    chunks = chunks_of(document)
    for number, (step, demands, topology) in enumerate(
        zip(document["steps"], collective["steps"], schedule["steps"], strict=True), start=1
    ):
        expected: Counter[tuple[int, int]] = Counter()
        for one in transfers_of(step, chunks, document["gpus"]):
            expected[one.src, one.dst] += chunks.share(one.chunks) * plan.size_bytes  # type: ignore[assignment]
        found = {(source, destination): size for source, destination, size in demands["demand"]}
        assert len(found) == len(demands["demand"])
        assert found == pytest.approx({pair: float(size) for pair, size in expected.items()}, rel=1e-12)
        assert demands["chunksize"] == pytest.approx(max(found.values()), rel=1e-12)
        assert topology["step"] == number
        links = document["topologies"][step["topology"]]["links"]
        assert sorted(map(tuple, topology["topology"])) == sorted(map(tuple, links))


@pytest.mark.slow
def test_random_plans_are_written_as_they_are(tmp_path: Path) -> None:
    for index, plan in enumerate(random_plans(PLANS)):
        ll.export(plan, "harvest", tmp_path / str(index))
        check(plan, tmp_path / str(index))


def test_harvests_published_plan(tmp_path: Path) -> None:
    """AllReduce of 1 MiB on 64 GPUs by recursive doubling at 1 us: HARVEST reports 41 972 ns and 8 changes."""
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="1us")
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    ll.export(plan, "harvest", tmp_path / "out")
    check(plan, tmp_path / "out")
    schedule = json.loads((tmp_path / "out" / "schedule.json").read_text())
    assert schedule["cost"] == pytest.approx(41_972, abs=1)
    assert (schedule["alpha_r"], schedule["num_of_reconfigs"]) == (1000, 8)


def test_a_delay_that_is_no_number_is_noted(tmp_path: Path) -> None:
    fabric = ll.Fabric(gpus=4, reconfiguration_delay="1us+20ns/port")
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric, algorithm="recursive-doubling")
    made = ll.export(plan, "harvest", tmp_path / "out")
    assert made.notes == ("alpha_r is the fixed part of the delay, which is 1.000 µs + 20.00 ns per changed port",)

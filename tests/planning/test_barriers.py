"""Barriers before steps: what they cost, where their time comes from, and what is planned without them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lightloom as ll
from lightloom.page.arguments import checked
from tests.conftest import RunCli
from tests.reference.recomputed_plan import faults

# HARVEST's measurements, by GPUs (figure 12; the CSV file of its repository).
HARVEST_US = {2: 2.91, 4: 2.93, 8: 4.12, 16: 5.92, 32: 10.63, 64: 20.05, 128: 31.9, 256: 41.7}
COSTS: dict[str, Any] = {
    "schema": "lightloom.barriers/1",
    "cores": 2,
    "barriers": [],
    "rows": [
        {"barrier": name, "ranks": ranks, "rounds": 9, "median_s": time_s, "mean_s": 1.0, "most_of_99_s": 1.0}
        for name, ranks, time_s in (("flags", 2, 1e-6), ("flags", 8, 3e-6), ("central", 2, 1e-5), ("central", 8, 2e-5))
    ],
}


def planned(barrier: Any = "0s", **settings: Any) -> ll.Plan:
    given = {"algorithm": "recursive-doubling", "planner": "harvest", **settings}
    return ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, ports=1, barrier=barrier), **given)


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    path = tmp_path / "costs.json"
    path.write_text(json.dumps(COSTS))
    return path


def test_every_step_is_charged_and_the_plan_is_recomputed() -> None:
    made = planned("4us")
    assert [step.barrier_s for step in made.steps] == [4e-6] * 6
    assert made.barrier_s == 4e-6
    told = json.loads(made.to_json())
    assert told["fabric"]["barrier_s"] == 4e-6
    assert not faults(made.to_json())
    assert ll.Plan.from_json(made.to_json()).to_json() == made.to_json()
    assert all(check.passed for check in ll.verify(made))


@pytest.mark.parametrize("key", ["fabric", "step"])
def test_a_stated_barrier_that_is_wrong_is_found(key: str) -> None:
    told = json.loads(planned("4us").to_json())
    changed = told["fabric"] if key == "fabric" else told["steps"][2]
    changed["barrier_s"] = 5e-6
    told["total_s"] = math.fsum(
        step[term] for step in told["steps"] for term in step if term.endswith("_s")
    )  # the terms are all that ends so
    told["lower_bound_s"] = 0.0
    assert faults(json.dumps(told))
    failed = [check for check in ll.verify(ll.Plan.from_json(json.dumps(told))) if not check.passed]
    assert any("barrier" in check.name for check in failed)


@pytest.mark.large
def test_nothing_of_it_is_stated_where_it_takes_no_time(cli: RunCli) -> None:
    assert "barrier" not in planned().to_json()
    assert "barrier_s" not in planned().to_columns()
    problem = ("--collective", "all-reduce", "--size", "1MiB", "--gpus", "8")
    for verb in ("plan", "compare"):
        plain = cli(verb, *problem).out
        assert "barrier" not in plain
        assert cli(verb, *problem, "--barrier", "0s").out == plain
        assert "barrier 4.000 µs" in cli(verb, *problem, "--barrier", "4us").out
    assert "barrier_s" not in cli("compare", *problem, "--format", "csv").out
    assert "barrier_s" in cli("compare", *problem, "--format", "csv", "--barrier", "4us").out


@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all"])
def test_longer_barriers_leave_no_more_steps(collective: str) -> None:
    steps, totals = [], []
    for barrier in ("0s", "4us", "41.7us"):
        made = ll.plan(collective, "1MiB", fabric=ll.Fabric(gpus=16, barrier=barrier))
        steps.append(len(made.steps))
        totals.append(made.total_s)
    assert steps == sorted(steps, reverse=True)
    assert totals == sorted(totals)
    # One barrier more than the fewest steps of the longest barrier would not pay.
    assert totals[2] <= totals[1] + steps[1] * (41.7e-6 - 4e-6)


def test_harvests_barrier_is_that_of_its_measurements() -> None:
    for gpus, time_us in HARVEST_US.items():
        assert ll.Fabric(gpus=gpus, barrier="harvest").barrier_s == pytest.approx(time_us * 1e-6, rel=1e-15)
    # 96 GPUs are log2(96 / 64) = log2(3) - 1 of the way from 64 to 128.
    between = 20.05 + (31.9 - 20.05) * (math.log2(3) - 1)
    assert ll.Fabric(gpus=96, barrier="harvest").barrier_s == pytest.approx(between * 1e-6, rel=1e-12)
    with pytest.raises(ll.InputError, match=r"^barrier: a barrier of 512 GPUs .* 2 to 256 GPUs"):
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=512, barrier="harvest"))


def test_a_measured_barrier_is_read_from_its_file(costs: Path) -> None:
    # Halfway between 2 and 8 in the logarithm is 4.
    assert ll.Fabric(gpus=4, barrier=f"{costs}:flags").barrier_s == pytest.approx(2e-6, rel=1e-12)
    assert ll.Fabric(gpus=8, barrier=f"{costs}:central").barrier_s == 2e-5
    (costs.parent / "fabric.toml").write_text('gpus = 8\nbarrier = "costs.json:flags"\n')
    fabric = ll.Fabric.load(costs.parent / "fabric.toml")
    assert fabric.barrier_s == 3e-6
    assert ll.Fabric(**fabric.to_settings()).barrier_s == 3e-6
    with pytest.raises(ll.InputError, match=r"^barrier: .* has several barriers; name one: .*:flags, or central"):
        ll.Fabric(gpus=8, barrier=costs)
    with pytest.raises(ll.InputError, match=r"^barrier: unknown name `flag`"):
        ll.Fabric(gpus=8, barrier=f"{costs}:flag")
    with pytest.raises(ll.InputError, match=r"^barrier: a barrier of 16 GPUs .* 2 to 8 GPUs"):
        ll.Fabric(gpus=16, barrier=f"{costs}:flags").to_core()


def test_the_file_that_run_writes_is_one(cli: RunCli, tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text(cli("run", "--barriers", "--most-ranks", "4", "--rounds", "20", "--format", "json").out)
    rows = json.loads(path.read_text())["rows"]
    (median_s,) = [row["median_s"] for row in rows if (row["barrier"], row["ranks"]) == ("central", 4)]
    assert ll.Fabric(gpus=4, barrier=f"{path}:central").barrier_s == median_s


def test_files_that_are_none_are_refused_in_a_line(costs: Path) -> None:
    good = costs.read_text()
    draw = Random(5)  # noqa: S311
    texts = ["", "[]", "{}", '{"schema": 1}', good.replace("1e-06", "-1"), good.replace('"ranks": 8', '"ranks": 1')]
    texts += [good.replace("1e-06", value) for value in ('"1us"', "null", "1e400", "true", "[]")]
    texts += [good.replace('"ranks": 8', '"ranks": 2'), json.dumps({**COSTS, "rows": [3]})]
    for text in texts:
        costs.write_text(text)
        with pytest.raises(ll.InputError, match=r"^barrier: [^\n]+$"):
            ll.Fabric(gpus=8, barrier=f"{costs}:flags")
    for _ in range(300):
        at = draw.randrange(len(good))
        costs.write_text(
            good[:at] + draw.choice(("", "0", "-", '"', "{", "]", "\x00", "é", "9" * 400)) + good[at + 1 :]
        )
        try:
            assert ll.Fabric(gpus=8, barrier=f"{costs}:flags").barrier_s >= 0
        except ll.InputError as error:
            assert error.field == "barrier"
            assert "\n" not in str(error)


@pytest.mark.parametrize("barrier", ["fast", "-1us", "4=1us,2=1us", "1=1us", "4=1us,", None, True, [], math.nan])
def test_what_is_no_barrier_is_refused(barrier: Any) -> None:
    with pytest.raises(ll.InputError, match=r"^barrier: [^\n]+$"):
        ll.Fabric(gpus=8, barrier=barrier)


@pytest.mark.parametrize("level", ["packet", "flow"])
def test_simulated_barriers_are_the_plans_own(level: str) -> None:
    # Of fixed topologies, so that both plans are the same but for the barrier.
    without, made = (planned(barrier, planner="static", topology="ring") for barrier in ("0s", "4us"))
    assert [step.topology_name for step in without.steps] == [step.topology_name for step in made.steps]
    settings: dict[str, Any] = {"level": level, "injection": "paced"}
    waited_s = ll.simulate(made, **settings).total_s - ll.simulate(without, **settings).total_s
    assert waited_s == pytest.approx(len(made.steps) * 4e-6, rel=1e-9)
    flowing = [ll.simulate(one, sync="dataflow", **settings).total_s for one in (made, without)]
    assert flowing[0] == flowing[1]
    with pytest.raises(ll.InputError, match=r"^barrier: .* the plan has a barrier of 4\.000 µs"):
        ll.simulate(made, barrier="1us")


def test_what_is_planned_without_barriers_says_so(tmp_path: Path, cli: RunCli) -> None:
    fabric = ll.Fabric(gpus=8, barrier="4us")
    said = r"^barrier: `4us` is not accepted: [^\n]+; it takes 0s$"
    with pytest.raises(ll.InputError, match=said):
        ll.train("bert-pccl-overlapped", ranks=8, fabric=fabric)
    with pytest.raises(ll.InputError, match=said):
        ll.robust("zipf:0.6", "1MiB/pair", fabric=fabric)
    with pytest.raises(ll.InputError, match=said):
        ll.place_jobs({}, fabric=fabric)
    path = tmp_path / "fabric.toml"
    path.write_text('barrier = "4us"\n')
    ran = cli("train", "bert-pccl-overlapped", "--ranks", "8", "--fabric", str(path))
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "barrier: `4us` is not accepted" in ran.err


@pytest.mark.parametrize("value", ["costs.json", "/etc/costs.json:flags"])
def test_a_request_to_the_server_names_no_file(value: str) -> None:
    with pytest.raises(ll.InputError, match=r"^barrier: .* a request cannot name a file$"):
        checked("plan", {"barrier": value})
    assert checked("plan", {"barrier": "4us"}) == {"barrier": "4us"}


@pytest.mark.large
def test_a_sweep_along_barriers_reads_their_files(costs: Path, in_tmp: Path) -> None:
    assert costs.parent == in_tmp
    axes = {"barrier": ["0s", "4us", "costs.json:flags"], "size": ["1KiB", "1MiB"]}
    swept = ll.sweep({"settings": {"collective": "all-reduce", "gpus": 8}, "axes": axes})
    for row in range(len(swept)):
        fabric = ll.Fabric(gpus=8, barrier=swept["barrier"][row])
        made = ll.plan("all-reduce", int(swept["size_bytes"][row]), fabric=fabric)
        assert swept["total_s"][row] == pytest.approx(made.total_s, rel=1e-12)
    assert len(set(swept["total_s"])) == 6


def test_the_exact_planner_charges_every_step() -> None:
    made = [
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4, startup=startup, barrier=barrier), planner="exact")
        for startup, barrier in (("1us", "0s"), ("0s", "1us"))
    ]
    assert made[0].total_s == pytest.approx(made[1].total_s, rel=1e-12)
    assert made[0].lower_bound_s == pytest.approx(made[1].lower_bound_s, rel=1e-12)

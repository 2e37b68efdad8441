"""Every number of an advice is that of `plan` and `train` for the same request."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom import _core
from lightloom.advice.ideal import at_once_s
from lightloom.advice.job import Entry, Job
from lightloom.advice.result import FIXED
from lightloom.advice.times import Change, Times
from tests.advice.jobs import COLLECTIVES, MODEL

SWITCHES = "sirius,lightpath,rotornet,polatis"


@pytest.mark.large
def test_times_of_collectives_are_those_of_plans() -> None:
    advice = ll.advise(COLLECTIVES, switches=SWITCHES, ports="1,2")
    rows = [row for row in advice.rows if row.switch != FIXED]
    assert len(rows) == 8
    for row in rows:
        assert row.reconfiguration_delay_s is not None
        fabric = ll.Fabric(
            gpus=8,
            ports=row.ports,
            bandwidth="400Gbps",
            reconfiguration_delay=row.reconfiguration_delay_s,
            initial="repeated",
        )
        plans = [ll.plan("all-reduce", "16MiB", fabric=fabric), ll.plan("all-to-all", "1MiB", fabric=fabric)]
        assert row.total_s == math.fsum([2 * plans[0].total_s, 12.5 * plans[1].total_s])
        compared = [ll.compare(plan.collective, plan.size_bytes, fabric=fabric) for plan in plans]
        still = [
            min(one.total_s or math.inf for one in told.rows if one.planner == "never-change") for told in compared
        ]
        assert row.never_change_s == pytest.approx(2 * still[0] + 12.5 * still[1], rel=1e-12)


@pytest.mark.large
def test_times_of_iterations_are_those_of_train(in_tmp: Path) -> None:
    (in_tmp / "model.toml").write_text(MODEL)
    (in_tmp / "job.toml").write_text('gpus = 8\nports = 2\n[[mix]]\nmodel = "model.toml"\ncount = 3\n')
    advice = ll.advise("job.toml", switches="sirius,rotornet,calient")
    for row in advice.rows[:-1]:
        fabric = ll.Fabric(ports=2, reconfiguration_delay=row.reconfiguration_delay_s or 0.0)
        training = ll.train("model.toml", fabric=fabric)
        assert row.total_s == 3 * training.total_s
        still = [time_s for name in ("static", "one-shot") if (time_s := training.policies[name]) is not None]
        assert row.never_change_s == (3 * min(still) if still else None)
    ideal = ll.train("model.toml", fabric=ll.Fabric(ports=2, reconfiguration_delay=0)).policies["packet-switch"]
    assert ideal is not None
    assert {row.packet_switch_s for row in advice.rows} == {3 * ideal}
    saved = json.loads(ll.Workload.read("model.toml").to_json())
    (in_tmp / "workload.json").write_text(json.dumps(saved))
    (in_tmp / "job.toml").write_text('gpus = 8\nports = 2\n[[mix]]\nworkload = "workload.json"\ncount = 3\n')
    again = ll.advise("job.toml", switches="sirius,rotornet,calient")
    assert [row.total_s for row in again.rows] == [row.total_s for row in advice.rows]


@pytest.mark.large
def test_longer_delays_than_one_at_which_no_change_pays_are_not_planned(
    in_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (in_tmp / "model.toml").write_text(MODEL)
    job = Job.load({"gpus": 8, "ports": 2, "mix": [{"model": "model.toml"}]})
    asked: list[Any] = []

    def train(workload: ll.Workload, *, fabric: ll.Fabric) -> ll.Training:
        asked.append(fabric.reconfiguration_delay)
        return ll.train(workload, fabric=fabric)

    monkeypatch.setattr("lightloom.advice.times.train", train)
    times = Times(job)
    found = times.at_all(2, [10.0, 1e-6, 1.0])
    assert asked == [1e-6, 1.0]
    assert found[1e-6] != found[1.0] == found[10.0] == times.at(2, 100.0)
    assert found[10.0].total_s == ll.train("model.toml", fabric=ll.Fabric(ports=2, reconfiguration_delay=10.0)).total_s


def test_an_iteration_of_other_sizes_takes_what_train_says() -> None:
    """Blocks that differ by far, so that rounding them moves nothing between plans."""
    rows = [[0, 4096, 70_000, 9], [1 << 20, 0, 3, 512], [77, 30_000, 0, 1 << 21], [5, 6, 900_000, 0]]

    def workload(factor: int) -> dict[str, Any]:
        node = {"id": "a", "kind": "collective", "collective": "all-to-all", "axis": "ep", "matrix": "m", "after": []}
        matrix = [[factor * size for size in row] for row in rows]
        return {
            "schema": "lightloom.workload/1",
            "ranks": 4,
            "mesh": {"ep": 4},
            "matrices": {"m": matrix},
            "nodes": [{"id": "c", "kind": "compute", "duration_s": 1e-5, "after": []}, {**node, "after": ["c"]}],
        }

    job = Job(
        name="a",
        gpus=4,
        ports=(1,),
        fabric=ll.Fabric(gpus=4),
        entries=(Entry(label="a", count=1, workload=ll.Workload.of(workload(1))),),
    )
    found = Times(job).at(1, 1e-5, Change(size=2.0))
    told = ll.train(ll.Workload.of(workload(2)), fabric=ll.Fabric(reconfiguration_delay=1e-5))
    assert found.total_s == pytest.approx(told.total_s, rel=1e-12)
    assert found.total_s != Times(job).at(1, 1e-5).total_s


@pytest.mark.parametrize("collective", [entry["name"] for entry in _core.registry()["collectives"]])
@pytest.mark.parametrize("size_bytes", [64, 1 << 24])
def test_an_ideal_packet_switch_is_that_of_train(collective: str, size_bytes: int) -> None:
    node = {
        "id": "a",
        "kind": "collective",
        "collective": collective,
        "axis": "all",
        "size_bytes": size_bytes,
        "after": [],
    }
    workload = ll.Workload.of(
        {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"all": 4}, "groups": {}, "nodes": [node]}
    )
    policies = ll.train(workload, fabric=ll.Fabric(ports=2, reconfiguration_delay=0)).policies
    ideal_s = at_once_s(collective, size_bytes, ll.Fabric(gpus=4, ports=2))
    planned_s = ll.plan(collective, size_bytes, fabric=ll.Fabric(gpus=4, ports=2, reconfiguration_delay=0)).total_s
    assert policies["packet-switch"] == pytest.approx(min(ideal_s, planned_s), rel=1e-9)

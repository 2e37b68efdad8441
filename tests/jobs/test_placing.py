"""Jobs on a fabric: times are those of `train`, and results say what they are."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightloom as ll
from lightloom.inputs.options import by_name, options_of
from lightloom.jobs.orders import ORDERS
from lightloom.jobs.sharing import SHARINGS, sharings_named
from tests.conftest import ROOT, RunCli
from tests.jobs.workloads import computing, workload
from tests.picture_checks import faults

MIB = 1 << 20
FABRIC = ll.Fabric(gpus=8, ports=2)
# An iteration of `exchange` on GPUs of its own.
EXCHANGE = workload(
    {"kind": "collective", "collective": "all-to-all", "axis": "dp", "size_bytes": 16 * MIB}, mesh={"dp": 8}
)


def exchange(name: str, **keys: Any) -> dict[str, Any]:
    told = {"collective": "all-to-all", "size": "16MiB", "ranks": 8, "iterations": 1000}
    return {"name": name, **told, **keys}


def run_of(placed: ll.JobPlacements, sharing: str) -> Any:
    return next(run for run in placed.runs if run.sharing == sharing)


def test_iterations_take_what_train_says() -> None:
    placed = ll.place_jobs({"job": [exchange("a"), exchange("b", arrival="1ms")]}, fabric=FABRIC)
    training = ll.train(EXCHANGE, fabric=ll.Fabric(ports=2))
    iterations_s = {run.sharing: {job.iteration_s for job in run.jobs} for run in placed.runs}
    assert iterations_s["changing"] == iterations_s["turns"] == iterations_s["together"] == {training.total_s}
    assert iterations_s["own"] == {training.policies["one-shot"]}
    assert iterations_s["wired"] == {training.policies["static"]}
    assert min(iterations_s["wired"]) > training.total_s


def test_times_connections_and_gains_by_hand() -> None:
    placed = ll.place_jobs({"job": [exchange("a"), exchange("b", arrival="1ms")]}, fabric=FABRIC)
    changing = run_of(placed, "changing")
    first, second = changing.jobs
    change_s = 10e-6
    assert first.end_s == pytest.approx(change_s + 1000 * first.iteration_s)
    assert second.start_s == first.end_s
    assert second.end_s == pytest.approx(2 * first.end_s)
    assert first.slowdown == pytest.approx(1)
    assert second.slowdown == pytest.approx((2 * first.end_s - 1e-3) / first.end_s)
    assert changing.makespan_s == second.end_s
    assert changing.mean_completion_s == pytest.approx((first.end_s + second.end_s - 1e-3) / 2)
    each = ll.circuits(ll.train(EXCHANGE, fabric=ll.Fabric(ports=2))).connects
    assert each > 0
    assert [job.connects for job in changing.jobs] == [16 + 1000 * each] * 2
    own, wired = run_of(placed, "own"), run_of(placed, "wired")
    assert ([job.connects for job in own.jobs], wired.connects) == ([16, 16], 0)
    assert wired.jobs[0].end_s == pytest.approx(1000 * wired.jobs[0].iteration_s)
    assert placed.gain(changing) == wired.mean_completion_s / changing.mean_completion_s
    assert placed.gain(wired) == 1


@pytest.mark.parametrize("settings", [{"reconfiguration_delay": "100us/port"}, {"initial": "free"}])
def test_what_train_refuses_of_a_fabric_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ll.InputError) as caught:
        ll.place_jobs({"job": [exchange("a")]}, fabric=ll.Fabric(gpus=8, **settings))
    assert caught.value.field in settings


def test_jobs_that_would_wait_share(tmp_path: Path) -> None:
    """One job computes, the other communicates: at once they take what the longer takes."""
    workload(computing(1e-3), mesh={"dp": 8}).save(tmp_path / "computes.json")
    told = "".join(
        f'[[job]]\nname = "{name}"\nranks = 8\niterations = {count}\n{what}\n'
        for name, count, what in (
            ("computes", 1000, 'workload = "computes.json"'),
            ("gathers", 1000, 'collective = "all-gather"\nsize = "32MiB"'),
        )
    )
    (tmp_path / "jobs.toml").write_text(told)
    placed = ll.place_jobs(tmp_path / "jobs.toml", fabric=FABRIC, turn="10ms")
    together, changing = run_of(placed, "together"), run_of(placed, "changing")
    assert [job.shared_with for job in together.jobs] == [("gathers",), ("computes",)]
    assert together.jobs[0].gpus == together.jobs[1].gpus
    assert together.jobs[0].end_s == pytest.approx(1.0, rel=0.01)
    assert together.makespan_s < changing.makespan_s
    assert placed.best is together
    assert run_of(placed, "turns").jobs[1].end_s < changing.jobs[1].end_s


@pytest.mark.large
def test_a_job_that_accepts_fewer_gpus_does_as_much() -> None:
    told = {"job": [{"model": "bert-pccl", "ranks": [8, 4], "iterations": 10}, exchange("b", ranks=4)]}
    (run,) = ll.place_jobs({"job": told["job"][::-1]}, fabric=FABRIC, sharing="changing").runs
    assert [(job.ranks, job.iterations) for job in run.jobs] == [(4, 1000), (4, 20)]
    (run,) = ll.place_jobs(told, fabric=FABRIC, sharing="changing").runs
    assert [(job.ranks, job.iterations) for job in run.jobs] == [(8, 10), (4, 1000)]


def test_the_best_order_is_proved_for_jobs_on_gpus_of_their_own() -> None:
    told = {"job": [exchange("a", iterations=5000), exchange("b", iterations=100)]}
    placed = ll.place_jobs(told, fabric=FABRIC, order="search")
    assert {run.sharing: run.best_order for run in placed.runs} == {
        "wired": False,
        "own": True,
        "changing": True,
        "turns": False,
        "together": False,
    }
    assert all(run.jobs[1].end_s < run.jobs[0].end_s for run in placed.runs)
    by_arrival = ll.place_jobs(told, fabric=FABRIC, sharing=["changing"])
    assert run_of(placed, "changing").mean_completion_s < by_arrival.runs[0].mean_completion_s


def test_options_name_what_the_registries_have() -> None:
    options = by_name(options_of("jobs"))
    assert options["order"].choices == tuple(order.name for order in ORDERS)
    assert all(one.name in options["sharing"].meaning for one in SHARINGS)
    assert sharings_named("changing, wired") == sharings_named(["wired", "changing"]) == (SHARINGS[0], SHARINGS[2])
    assert sharings_named("all") == sharings_named(["wired", "all"]) == sharings_named(None) == SHARINGS


def test_the_verb_prints_what_python_returns(in_tmp: Path, cli: RunCli) -> None:
    text = '[[job]]\nname = "a"\ncollective = "all-to-all"\nsize = "16MiB"\nranks = 8\niterations = 1000\n'
    (in_tmp / "jobs.toml").write_text(text)
    placed = ll.place_jobs({"job": [exchange("a")]}, fabric=FABRIC)
    arguments = ("jobs", "jobs.toml", "--gpus", "8", "--ports", "2")
    told = cli(*arguments, "--format", "json", "--output", "placed.json")
    assert json.loads(told.out) == json.loads(placed.to_json()) == json.loads((in_tmp / "placed.json").read_text())
    rows = list(csv.DictReader(io.StringIO(cli(*arguments, "--format", "csv").out)))
    assert [row["sharing"] for row in rows] == [one.name for one in SHARINGS]
    assert [float(row["end_s"]) for row in rows] == [run.jobs[0].end_s for run in placed.runs]
    assert list(rows[0]) == list(placed.to_columns())
    table = cli(*arguments).out
    assert all(one.title in table for one in SHARINGS)
    assert repr(placed).startswith("JobPlacements(1 job on 8 GPUs, ")


@pytest.mark.large
def test_the_picture(tmp_path: Path) -> None:
    jobs = [exchange(f"job {index}", ranks=ranks, arrival=index * 1e-3) for index, ranks in enumerate((8, 4, 8))]
    placed = ll.place_jobs({"job": jobs}, fabric=FABRIC, turn="10ms")
    assert faults(placed.plot()) == []
    placed.plot(tmp_path / "jobs.svg")
    assert (tmp_path / "jobs.svg").read_text().startswith("<?xml")


def test_the_example_is_read() -> None:
    path = ROOT / "examples" / "jobs" / "arrivals.toml"
    placed = ll.place_jobs(path, fabric=ll.Fabric(gpus=8), sharing="own")
    assert [job.name for job in placed.runs[0].jobs] == [
        "long",
        "short",
        "short, too",
        "long, too",
        "training",
        "experts",
    ]


def test_jobs_too_short_to_be_seen_have_a_mark(tmp_path: Path) -> None:
    job = {"collective": "all-reduce", "size": "64MiB", "ranks": 2}
    long, short = job | {"name": "long", "iterations": 100_000}, job | {"name": "short", "iterations": 2}
    for jobs, marks in (([long, short], 1), ([long, long | {"name": "other"}], 0)):
        placed = ll.place_jobs({"job": jobs}, fabric=ll.Fabric(gpus=4, ports=2), sharing="changing")
        figure = placed.plot(tmp_path / "jobs.svg")
        assert faults(figure) == []
        (axes,) = figure.axes
        drawn = [line for line in axes.lines if line.get_marker() == "D"]
        assert len(drawn) == marks
        said = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        assert ("a job that is shorter than this mark" in said) == bool(marks)
        for line in drawn:
            (run,) = placed.runs
            (one,) = (job for job in run.jobs if job.name == "short")
            ((time_s, gpu),) = np.asarray(line.get_xydata(), dtype=float)
            assert one.start_s <= time_s <= one.end_s
            assert min(one.gpus) <= gpu <= max(one.gpus) + 1

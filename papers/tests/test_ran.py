"""Figures that are made from runs: their storage, claims and pictures; on tiny grids, and no time is judged."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure as Picture
from tests.picture_checks import faults

import lightloom as ll
from lightloom.running import barriers
from lightloom_papers import ran as of_runs
from lightloom_papers.claims import Verdict
from lightloom_papers.figure import RUN, Outcome, Setting
from lightloom_papers.harvest import figure_6_ran, figure_7, figure_12
from lightloom_papers.measure import Case
from lightloom_papers.ran import KEPT, Ran, ran

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")
CASES = [
    Case.of("all-gather", size, ll.Fabric(gpus=2), algorithm="ring", planner="static", topology="ring")
    for size in ("4KiB", "16KiB")
]


def read(outcome: Outcome) -> list[str]:
    """The faults of the picture; the table's columns are equally long."""
    assert len({len(column) for column in outcome.table.values()}) == 1
    picture = Picture(layout="constrained")
    outcome.draw(picture)
    return faults(picture)


def test_what_is_conclusive_is_kept_and_the_rest_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter((True, False, True))
    made: list[float] = []

    def run(executor: ll.Executor, plan: ll.Plan) -> Ran:
        found = original(executor, plan)
        made.append(found.predicted_s)
        return found._replace(is_conclusive=next(told))

    original: Callable[[ll.Executor, ll.Plan], Ran] = of_runs._run
    monkeypatch.setattr(of_runs, "_run", run)
    setting = Setting(RUN, tmp_path)
    first = ran(CASES, setting, runs=1, dilation=100)
    assert [one.predicted_s for one in first] == [
        ll.plan(*case[:2], fabric=case.fabric, **dict(case.settings)).total_s for case in CASES
    ]
    assert len(list((tmp_path / KEPT).iterdir())) == 2
    again = ran(CASES, setting, runs=1, dilation=100)
    assert made == [first[0].predicted_s, first[1].predicted_s, first[1].predicted_s]
    assert again[0] == first[0]
    assert again[1].is_conclusive


def measured(factor: float, *, is_conclusive: bool) -> Callable[..., list[Ran]]:
    """Runs that take so many times the predicted time, BvN one and a half times that."""

    def of(cases: list[Case], _setting: Setting, **_given: float) -> list[Ran]:
        plans = [ll.plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings)) for case in cases]
        times = [plan.total_s * (1 + (factor - 1) * (plan.planner == "bvn")) for plan in plans]
        return [
            Ran(plan.total_s, time_s, plan.reconfigurations, 1e3, 0.0, is_conclusive)
            for plan, time_s in zip(plans, times, strict=True)
        ]

    return of


@pytest.mark.large
@pytest.mark.parametrize(
    ("factor", "is_conclusive", "verdict"),
    [(1.05, True, Verdict.HOLDS), (1.5, True, Verdict.FAILS), (1.05, False, Verdict.OPEN)],
)
def test_figure_6_judges_what_is_measured(
    monkeypatch: pytest.MonkeyPatch, factor: float, is_conclusive: bool, verdict: Verdict
) -> None:
    monkeypatch.setattr(figure_6_ran, "ran", measured(factor, is_conclusive=is_conclusive))
    outcome = figure_6_ran.FIGURE_6_RAN.make(Setting(RUN))
    assert outcome.claims[0].verdict is verdict
    assert not read(outcome)
    times = np.array(outcome.table["times"])
    over = np.array(outcome.table["over_bvn"])
    assert over[times == "measured"] == pytest.approx(factor * over[times == "predicted"])


def test_figure_6_runs_every_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_6_ran, "RUNS", 1)
    monkeypatch.setattr(figure_6_ran, "DILATION", 20.0)
    grids = figure_6_ran.measure_grids(Setting(RUN), sizes=(4096,), delays=("10us",))
    # On a switch that holds packets back nothing is faster than its circuits, hop delays overlapping.
    assert all(ratio > 0.9 for ratio in grids.ratios)
    assert grids.predicted.over_best[0, 0] >= 1


@pytest.mark.large
@pytest.mark.slow
def test_figures_7_and_12_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_7, "RUNS", 1)
    monkeypatch.setattr(figure_7, "TESTBED", replace(figure_7.TESTBED, startup="2us"))
    monkeypatch.setattr(figure_12, "ROUNDS", 20)
    monkeypatch.setattr(figure_12, "MOST_RANKS", 8)
    for figure, claims in ((figure_7.FIGURE_7, 3), (figure_12.FIGURE_12, 2)):
        outcome = figure.make(Setting(RUN))
        assert len(outcome.claims) == claims
        assert not read(outcome)
    assert {*outcome.table["barrier"]} == {*barriers.barrier_names()}

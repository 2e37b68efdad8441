"""Benchmarks: run whole or resumed, summarised and drawn."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lightloom as ll
from lightloom.cli.entry import main
from lightloom.sweeps import benchmarks
from lightloom.sweeps.benchmark_runs import COLUMNS, Point, run_benchmark, summary
from lightloom.sweeps.benchmarks import Benchmark, BenchmarkSeries
from lightloom.views.pictures.benchmark import plot_benchmark

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Benchmark(
    "small",
    "8 GPUs",
    "made up",
    (
        BenchmarkSeries("gather", "all-gather", ll.Fabric(gpus=8), ("1KiB", "1MiB"), ("1us", "1ms")),
        BenchmarkSeries(
            "ring", "all-to-all", ll.Fabric(gpus=8, initial="ring"), ("1KiB/pair",), ("10ns", "10us", "1ms"), "bridge"
        ),
    ),
)


def test_points_are_what_compare_and_weave_find(tmp_path: Path) -> None:
    points = run_benchmark(SMALL, tmp_path)
    assert len(points) == 7
    by_label = {series.label: series for series in SMALL.series}
    for point in points:
        series = by_label[point.series]
        fabric = ll.Fabric(gpus=8, initial=series.fabric.initial, reconfiguration_delay=point.reconfiguration_delay_s)
        rows = ll.compare(series.collective, point.size_bytes, fabric=fabric, convention=series.convention).rows
        chosen_algorithm = {"weave", "never-change"}
        others = [row.total_s for row in rows if row.planner not in chosen_algorithm and row.total_s is not None]
        assert point.papers_s == min(others)
        assert [point.never_change_s] == [row.total_s for row in rows if row.planner == "never-change"]
        woven = ll.plan(
            series.collective, point.size_bytes, fabric=fabric, convention=series.convention, planner="weave"
        )
        assert point.total_s == woven.total_s
        assert woven.planner == "weave"
        assert point.lower_bound_s <= point.total_s <= point.papers_s * (1 + 1e-12)


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """The store of sweeps keeps finished parts: they are counted and not planned again."""

    class StoppedError(Exception):
        pass

    def stop(series: str, plans: int) -> None:
        if series == "ring" and plans:
            raise StoppedError

    with pytest.raises(StoppedError):
        run_benchmark(SMALL, tmp_path, stop)
    assert not (tmp_path / "small.csv").exists()
    assert sorted(folder.name for folder in (tmp_path / "small").iterdir()) == ["gather", "ring"]
    told: list[tuple[str, int]] = []
    whole = run_benchmark(SMALL, tmp_path, lambda series, plans: told.append((series, plans)))
    assert sum(plans for _, plans in told) == SMALL.plans == 21
    assert told[0] == ("gather", 12)
    with (tmp_path / "small.csv").open() as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [float(row[COLUMNS.index("total_s")]) for row in rows[1:]] == [point.total_s for point in whole]
    assert run_benchmark(SMALL, tmp_path / "anew") == whole


def test_figures_of_a_summary_by_hand() -> None:
    def point(papers_s: float, total_s: float, bound_s: float, never_change_s: float) -> Point:
        return Point("s", "all-reduce", 1, 1.0, "p", "a", papers_s, "weave", "b", total_s, 0, bound_s, never_change_s)

    found = summary([point(4, 2, 1, 4), point(2, 2, 2, 2), point(9, 1, 1, math.nan), point(3, 3, 1, 12)])
    assert found.mean_ratio == pytest.approx(math.sqrt(math.sqrt(2 * 1 * 9 * 1)))
    assert (found.points, found.largest_ratio, found.share_better) == (4, 9, 0.5)
    assert (found.median_gap, found.share_close) == (1.5, 0.5)
    assert found.mean_gain == pytest.approx(2)
    assert (found.largest_gain, found.share_paying) == (4, 0.5)


def test_the_picture_shows_every_value(tmp_path: Path) -> None:
    points = run_benchmark(SMALL, tmp_path)
    figure = plot_benchmark(points, "small", tmp_path / "small.png")
    assert (tmp_path / "small.png").stat().st_size > 10_000
    maps = [axes for part in figure.subfigs for axes in part.axes if axes.get_title()]
    assert [axes.get_title() for axes in maps] == ["gather", "ring"] * 2
    for axes, name in zip(maps, ["ratio", "ratio", "gap", "gap"], strict=True):
        group = [point for point in points if point.series == axes.get_title()]
        cells = np.asarray(axes.collections[0].get_array())
        # Delays upwards, sizes to the right.
        expected = sorted(group, key=lambda point: (point.reconfiguration_delay_s, point.size_bytes))
        assert cells.ravel().tolist() == [getattr(point, name) for point in expected]


@pytest.mark.large
def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(benchmarks, "_installed", lambda: ([SMALL], None))
    folder = tmp_path / "new" / "folder"
    assert main(["compare", "--benchmark", "small", "--output", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "gather" in shown
    assert "all " in shown
    assert {file.name for file in folder.iterdir()} == {"small", "small.csv", "small.png"}
    assert main(["compare", "--benchmark", "small", "--output", str(folder), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["points"] == 7
    # The name that the option had.
    assert main(["compare", "--grid", "small", "--output", str(folder)]) == 0


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--benchmark", "nothing"], "benchmark"),
        (["--benchmark", "small", "--gpus", "8"], "gpus"),
        (["--collective", "all-reduce", "--size", "1KiB", "--gpus", "8", "--output", "x"], "output"),
        (["--benchmark", "small", "--output", "/dev/null/x"], "output"),
    ],
)
def test_wrong_arguments_name_what_is_wrong(
    arguments: list[str], field: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmarks, "_installed", lambda: ([SMALL], None))
    assert main(["compare", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {field}: ")

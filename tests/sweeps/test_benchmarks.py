"""Benchmarks: run whole or resumed, summarised and drawn."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lightloom as ll
from lightloom import benchmarks
from lightloom.benchmark_runs import COLUMNS, Point, run_benchmark, summary
from lightloom.benchmarks import Benchmark, BenchmarkSeries
from lightloom.cli.entry import main
from lightloom.errors import InputError
from lightloom.plots_benchmark import plot_benchmark

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
    points = run_benchmark(SMALL, tmp_path / "small.csv")
    assert len(points) == 7
    by_label = {series.label: series for series in SMALL.series}
    for point in points:
        series = by_label[point.series]
        fabric = ll.Fabric(gpus=8, initial=series.fabric.initial, reconfiguration_delay=point.reconfiguration_delay_s)
        rows = ll.compare(series.collective, point.size_bytes, fabric=fabric, convention=series.convention).rows
        others = [row.total_s for row in rows if row.planner != "weave" and row.total_s is not None]
        assert point.papers_s == pytest.approx(min(others), rel=1e-12)
        woven = ll.plan(
            series.collective, point.size_bytes, fabric=fabric, convention=series.convention, planner="weave"
        )
        assert point.total_s == pytest.approx(woven.total_s, rel=1e-12)
        assert woven.planner == "weave"
        assert point.lower_bound_s <= point.total_s <= point.papers_s * (1 + 1e-12)


def test_a_run_goes_on_after_its_last_whole_series(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    whole = run_benchmark(SMALL, path)
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    # The first series is there, the second one in part: only that is judged again.
    path.write_text("".join(lines[:6]))
    judged: list[tuple[str, int]] = []
    assert run_benchmark(SMALL, path, lambda series, points: judged.append((series, points))) == whole
    assert path.read_text() == text
    assert judged == [("gather", 4), ("ring", 3)]
    with path.open() as file:
        assert tuple(next(csv.reader(file))) == COLUMNS


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", ",".join(COLUMNS) + "\nx,y\n", "\0"])
def test_a_file_of_another_kind_is_refused_and_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "small.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=r"^output: "):
        run_benchmark(SMALL, path)
    assert path.read_text() == content


def test_figures_of_a_summary_by_hand() -> None:
    def point(papers_s: float, total_s: float, bound_s: float) -> Point:
        return Point("s", "all-reduce", 1, 1.0, "p", "a", papers_s, "weave", "b", total_s, 0, bound_s)

    found = summary([point(4, 2, 1), point(2, 2, 2), point(9, 1, 1), point(3, 3, 1)])
    assert found.mean_ratio == pytest.approx(math.sqrt(math.sqrt(2 * 1 * 9 * 1)))
    assert (found.points, found.largest_ratio, found.share_better) == (4, 9, 0.5)
    assert (found.median_gap, found.share_close) == (1.5, 0.5)


def test_the_picture_shows_every_value(tmp_path: Path) -> None:
    points = run_benchmark(SMALL, tmp_path / "small.csv")
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


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(benchmarks, "all_benchmarks", lambda: [SMALL])
    folder = tmp_path / "new" / "folder"
    assert main(["compare", "--benchmark", "small", "--output", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "gather" in shown
    assert "all " in shown
    assert {file.name for file in folder.iterdir()} == {"small.csv", "small.png"}
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
    monkeypatch.setattr(benchmarks, "all_benchmarks", lambda: [SMALL])
    assert main(["compare", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"error: {field}: ")

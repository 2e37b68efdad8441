"""Runs a benchmark: at every point the best of the papers' planners, ours, and the bound. Finished series are kept."""

from __future__ import annotations

import csv
import io
import math
import statistics
from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core
from lightloom.errors import refuse
from lightloom.files import MIB, read_text, write_bytes
from lightloom.requests import build_request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from lightloom.benchmarks import Benchmark, BenchmarkSeries

MAX_CSV_BYTES = 64 * MIB
# Points judged together: enough for every core, few enough that progress shows.
AT_ONCE = 16
# A ratio above this is a plan that is better, not rounding.
BETTER = 1.001
# A gap up to this is close to the optimum.
CLOSE = 1.10


class Point(NamedTuple):
    """A point of a benchmark, as the CSV file has it. Times in seconds.

    papers_*: the best of the planners that are given an algorithm, over all algorithms of the collective; planner,
    algorithm, total_s: the best of all; ratio: the former's time over the latter's; gap: the latter's over the bound.
    """

    series: str
    collective: str
    size_bytes: int
    reconfiguration_delay_s: float
    papers_planner: str
    papers_algorithm: str
    papers_s: float
    planner: str
    algorithm: str
    total_s: float
    reconfigurations: int
    lower_bound_s: float

    @property
    def ratio(self) -> float:
        """How many times faster the best plan is than the papers' best."""
        return self.papers_s / self.total_s

    @property
    def gap(self) -> float:
        """The best plan's time over the bound that holds for any algorithm."""
        return self.total_s / self.lower_bound_s if self.lower_bound_s > 0 else math.inf


class Summary(NamedTuple):
    """Figures of some points of a benchmark."""

    points: int
    mean_ratio: float
    largest_ratio: float
    share_better: float
    median_gap: float
    share_close: float


COLUMNS = (*Point._fields, "ratio", "gap")


def summary(points: list[Point]) -> Summary:
    """The geometric mean and the largest of the ratios, the share that is better, gaps and the share within 1.10."""
    ratios = [point.ratio for point in points]
    gaps = [point.gap for point in points]
    return Summary(
        len(points),
        statistics.geometric_mean(ratios),
        max(ratios),
        sum(ratio > BETTER for ratio in ratios) / len(points),
        statistics.median(gaps),
        sum(gap <= CLOSE for gap in gaps) / len(points),
    )


def run_benchmark(
    benchmark: Benchmark, path: Path, advance: Callable[[str, int], None] = lambda _series, _points: None
) -> list[Point]:
    """Judge every point that the CSV file at `path` does not hold yet, and write the file after each series.

    advance: told the series and the points that are done, known ones too. Raises `InputError` that names `output`.
    """
    known = _read(path) if path.exists() else []
    done: list[Point] = []
    for series in benchmark.series:
        points = [point for point in known if point.series == series.label]
        if [(point.size_bytes, point.reconfiguration_delay_s) for point in points] == series.points:
            advance(series.label, len(points))
        else:
            points = _judge(series, advance)
        done.extend(points)
        write_bytes("output", path, _as_csv(done).encode())
    return done


def _judge(series: BenchmarkSeries, advance: Callable[[str, int], None]) -> list[Point]:
    request = build_request(series.collective, series.sizes[0], series.fabric, **series.settings)
    core = _core.Grid(request)
    points: list[Point] = []
    for first in range(0, len(series.points), AT_ONCE):
        batch = series.points[first : first + AT_ONCE]
        for (size_bytes, delay_s), verdict in zip(batch, core.judge(batch), strict=True):
            points.append(
                Point(
                    series.label,
                    series.collective,
                    size_bytes,
                    delay_s,
                    verdict.given_planner,
                    verdict.given_algorithm,
                    verdict.given_s,
                    verdict.best_planner,
                    verdict.best_algorithm,
                    verdict.best_s,
                    verdict.best_reconfigurations,
                    verdict.lower_bound_s,
                )
            )
        advance(series.label, len(batch))
    return points


def _as_csv(points: Iterable[Point]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((*point, point.ratio, point.gap) for point in points)
    return text.getvalue()


def _read(path: Path) -> list[Point]:
    rows = list(csv.reader(io.StringIO(read_text("output", path, MAX_CSV_BYTES))))
    if not rows or tuple(rows[0]) != COLUMNS:
        raise refuse("output", f"`{path}` is not a benchmark's CSV file; name another folder or remove it")
    try:
        return [_point(row) for row in rows[1:]]
    except (TypeError, ValueError) as error:
        raise refuse("output", f"`{path}` has a row that is not a point of a benchmark ({error})") from error


def _point(row: list[str]) -> Point:
    kinds = (str, str, int, float, str, str, float, str, str, float, int, float)
    fields = row[: len(kinds)]
    if len(row) != len(COLUMNS):
        message = f"{len(row)} columns"
        raise ValueError(message)
    return Point(*(kind(field) for kind, field in zip(kinds, fields, strict=True)))

"""Runs a benchmark: at every point the best of the papers' planners, the best of all, and the bound, by sweeps."""

from __future__ import annotations

import csv
import io
import math
import statistics
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.files import write_bytes
from lightloom.sweeps import sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from lightloom.sweeps import SweepResult
    from lightloom.sweeps.benchmarks import Benchmark, BenchmarkSeries

# A ratio above this is a plan that is better, not rounding.
BETTER = 1.001
# A gap up to this is close to the optimum.
CLOSE = 1.10


class Point(NamedTuple):
    """A point of a benchmark, as the CSV file has it. Times in seconds.

    papers_*: the best of the planners that are given an algorithm, over all algorithms of the collective; planner,
    algorithm, total_s: the best of all; ratio: the former's time over the latter's; gap: the latter's over the bound.
    never_change_s: the best whose circuits never change, NaN if there is none; gain: its time over the best's.
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
    never_change_s: float

    @property
    def ratio(self) -> float:
        """The papers' best time over the time of the best plan."""
        return self.papers_s / self.total_s

    @property
    def gap(self) -> float:
        """The best plan's time over the bound that holds for any algorithm."""
        return self.total_s / self.lower_bound_s if self.lower_bound_s > 0 else math.inf

    @property
    def gain(self) -> float:
        """The best time with circuits that never change over the time of the best plan."""
        return self.never_change_s / self.total_s


class Summary(NamedTuple):
    """Figures of some points of a benchmark; gains are those over circuits that never change."""

    points: int
    mean_ratio: float
    largest_ratio: float
    share_better: float
    median_gap: float
    share_close: float
    mean_gain: float | None
    largest_gain: float | None
    share_paying: float


COLUMNS = (*Point._fields, "ratio", "gap", "gain")


def summary(points: list[Point]) -> Summary:
    """The geometric mean and the largest of the ratios, the share that is better, gaps and the share within 1.10.

    Then the same three figures of the gains over circuits that never change, where some plan leaves them.
    """
    ratios = [point.ratio for point in points]
    gaps = [point.gap for point in points]
    gains = [point.gain for point in points if math.isfinite(point.gain)]
    return Summary(
        len(points),
        statistics.geometric_mean(ratios),
        max(ratios),
        sum(ratio > BETTER for ratio in ratios) / len(points),
        statistics.median(gaps),
        sum(gap <= CLOSE for gap in gaps) / len(points),
        statistics.geometric_mean(gains) if gains else None,
        max(gains, default=None),
        sum(gain > BETTER for gain in gains) / len(points),
    )


def run_benchmark(
    benchmark: Benchmark, folder: Path, advance: Callable[[str, int], None] = lambda _series, _plans: None
) -> list[Point]:
    """Compare at every point, and write FOLDER/NAME.csv.

    Each series is a sweep with a folder of its own below FOLDER/NAME, so that a run that was stopped goes on where it
    was. advance: told the series and the plans that are done, those of earlier runs too. Raises `InputError` that names
    `output`.
    """
    points: list[Point] = []
    for series in benchmark.series:
        description = series.description
        points += _points_of(
            series,
            sweep(
                description,
                output=folder / benchmark.name / description["name"],
                advance=lambda done, label=series.label: advance(label, done),  # type: ignore[misc]
            ),
        )
    write_bytes("output", folder / f"{benchmark.name}.csv", _as_csv(points).encode())
    return points


def _points_of(series: BenchmarkSeries, result: SweepResult) -> list[Point]:
    # The planner is the slowest axis: all points with planners that are given an algorithm, with any, without changes.
    count = len(series.points)
    planner, algorithm = result["chosen_planner"], result["chosen_algorithm"]
    total_s, changes, bound_s = result["total_s"], result["reconfigurations"], result["lower_bound_s"]
    return [
        Point(
            series.label,
            series.collective,
            size_bytes,
            delay_s,
            str(planner[given]),
            str(algorithm[given]),
            float(total_s[given]),
            str(planner[best]),
            str(algorithm[best]),
            float(total_s[best]),
            int(changes[best]),
            float(bound_s[best]),
            float(total_s[still]),
        )
        for given, best, still, (size_bytes, delay_s) in zip(
            range(count), range(count, 2 * count), range(2 * count, 3 * count), series.points, strict=True
        )
    ]


def _as_csv(points: Iterable[Point]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((*point, point.ratio, point.gap, point.gain) for point in points)
    return text.getvalue()

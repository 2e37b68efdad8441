"""The table that `compare --benchmark` prints."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from lightloom.sweeps.benchmark_runs import summary
from lightloom.views.tables.page import render, table

if TYPE_CHECKING:
    from lightloom.sweeps.benchmark_runs import Point

COLUMNS = (
    "points",
    "mean speed-up",
    "largest",
    "better at",
    "median gap",
    "gap <= 1.10 at",
    "gain",
    "largest gain",
    "pays at",
)


def benchmark_rows(points: list[Point]) -> list[tuple[str, ...]]:
    """A row per series and one for all: the columns `COLUMNS`, as text."""
    groups = [(label, list(group)) for label, group in groupby(points, key=lambda point: point.series)]
    rows: list[tuple[str, ...]] = []
    for label, group in [*groups, ("all", points)]:
        figures = summary(group)
        rows.append(
            (
                label,
                str(figures.points),
                f"{figures.mean_ratio:.3f}×",
                f"{figures.largest_ratio:.2f}×",
                f"{figures.share_better:.0%}",
                f"{figures.median_gap:.3f}",
                f"{figures.share_close:.0%}",
                "" if figures.mean_gain is None else f"{figures.mean_gain:.3f}×",
                "" if figures.largest_gain is None else f"{figures.largest_gain:.2f}×",
                f"{figures.share_paying:.0%}",
            )
        )
    return rows


def benchmark_table(points: list[Point]) -> str:
    """By series: speed-up over the papers' planners, gap to the bound, gain over circuits that never change."""
    made = table("series", *COLUMNS, right=COLUMNS)
    rows = benchmark_rows(points)
    for row in rows[:-1]:
        made.add_row(*row)
    made.add_section()
    made.add_row(*rows[-1], style="bold")
    return render(made)

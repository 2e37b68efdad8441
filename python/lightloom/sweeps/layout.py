"""The order of a sweep's points in its table, and the chunks in which they are computed.

Rows go through the axes that need problems of their own first, then through those of numbers that points of a series
differ in; both in the order of the description, the last one fastest. Chunks are runs of rows whose length depends on
only the description, so that results are the same on any workers and in any order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightloom.sweeps.axes import Axis
    from lightloom.sweeps.description import SweepDescription
    from lightloom.sweeps.keys import Value

# Points of a chunk where they are read off few searches, millions a second, and where each is a search.
QUICK_POINTS, SEARCHED_POINTS = 16_384, 16
# A chunk is a file while the sweep runs; a folder takes this many without becoming slow.
MOST_CHUNKS = 20_000


class Piece(NamedTuple):
    """Rows of a chunk that belong to one series: its settings, and the rows' numbers by key."""

    rows: range
    settings: tuple[tuple[str, Value], ...]
    numbers: dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Layout:
    """The rows and chunks of a description."""

    description: SweepDescription

    @property
    def structural(self) -> tuple[Axis, ...]:
        """Axes whose values each make a different problem."""
        return tuple(axis for axis in self.description.axes if not axis.is_number)

    @property
    def numeric(self) -> tuple[Axis, ...]:
        """Axes along which points share profiles."""
        return tuple(axis for axis in self.description.axes if axis.is_number)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All, the slowest first."""
        return self.structural + self.numeric

    @property
    def series_points(self) -> int:
        """Points of one series."""
        return math.prod(len(axis.values) for axis in self.numeric)

    @property
    def chunk_points(self) -> int:
        """Rows of a chunk; the last one may be shorter."""
        description = self.description
        least = 1
        if description.engine == "model":
            planners: set[object] = {value for key, value in description.settings if key == "planner"}
            planners |= {value for axis in self.structural if axis.key == "planner" for value in axis.values}
            is_open = not planners
            planners |= {value for entry in description.baseline for key, value in entry.settings if key == "planner"}
            # A planner that is left open is a race of all; a lower bound is a search as well.
            is_quick = not is_open and planners <= _fast_planners() and "gap" not in description.metrics
            least = QUICK_POINTS if is_quick else SEARCHED_POINTS
        return max(least, -(-description.points // MOST_CHUNKS))

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return -(-self.description.points // self.chunk_points)

    def rows(self, chunk: int) -> range:
        """The rows of a chunk."""
        first = chunk * self.chunk_points
        return range(first, min(first + self.chunk_points, self.description.points))

    def indices(self, rows: range) -> dict[str, NDArray[np.intp]]:
        """By axis key, which of its values each row has."""
        shape = tuple(len(axis.values) for axis in self.axes)
        found = np.unravel_index(np.arange(rows.start, rows.stop), shape)
        return {axis.key: index for axis, index in zip(self.axes, found, strict=True)}

    def pieces(self, chunk: int) -> Iterator[Piece]:
        """The chunk's rows by series."""
        rows = self.rows(chunk)
        indices = self.indices(rows)
        for series in range(rows.start // self.series_points, -(-rows.stop // self.series_points)):
            first = max(rows.start, series * self.series_points)
            last = min(rows.stop, (series + 1) * self.series_points)
            inside = slice(first - rows.start, last - rows.start)
            numbers = {
                axis.key: np.asarray(axis.values, dtype=np.float64)[indices[axis.key][inside]] for axis in self.numeric
            }
            yield Piece(range(first, last), self.series_settings(series), numbers)

    def series_settings(self, series: int) -> tuple[tuple[str, Value], ...]:
        """The settings of a series' problem: the settings, and its values of the structural axes."""
        made = dict(self.description.settings)
        places = np.unravel_index(series, tuple(len(axis.values) for axis in self.structural))
        for axis, place in zip(self.structural, places, strict=True):
            made[axis.key] = axis.values[int(place)]  # type: ignore[assignment]
        return tuple(sorted(made.items()))


def _fast_planners() -> set[object]:
    """Names of the planners whose points are read off few searches."""
    names = {entry["name"] for entry in _core.registry()["planners"]}
    return {name for name in names if (can := _core.capabilities(name)) and can["is_fast"]}

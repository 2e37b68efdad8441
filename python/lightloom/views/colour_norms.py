"""From values to colours: around a centre, rising, or one colour for each whole number."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.colors import BoundaryNorm, Normalize
    from numpy.typing import ArrayLike, NDArray

    from lightloom.views.axis_units import Kind

__all__ = [
    "ratio_norm",
    "rising_norm",
    "whole_numbers",
]

# Whole numbers up to this many have a colour each; more of them share colours in even runs.
MOST_COLOURS = 24


def ratio_norm(values: ArrayLike, centre: float = 1.0, most: float = 100.0) -> Normalize:
    """Logarithmic colours as far above `centre` as below it; a factor over `most` has the last colour."""
    from matplotlib.colors import LogNorm

    array: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array) & (array > 0)] / centre
    largest = min(max(1.05, *(float(part) for part in (finite.max(), 1 / finite.min()))), most) if finite.size else 2.0
    return LogNorm(centre / largest, centre * largest)


def rising_norm(values: ArrayLike, kind: Kind = "number") -> Normalize:
    """Colours from the least to the largest value; logarithmic where these are over a factor of ten apart.

    Counts are whole numbers, and have a colour each.
    """
    from matplotlib.colors import LogNorm, Normalize

    array = np.asarray(values, dtype=float)
    finite = array[np.isfinite(array)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if kind == "count" and np.all(finite % 1 == 0):
        return _count_norm(finite)
    if low > 0 and high > 10 * low:
        return LogNorm(low, high)
    return Normalize(low, high if high > low else low + 1.0)


def _count_norm(counts: NDArray[np.float64]) -> BoundaryNorm:
    """A colour for each whole number up to the largest; where these are too many, for each that occurs, or for runs."""
    from matplotlib.colors import BoundaryNorm

    occurring = np.unique(counts)
    low, high = float(occurring[0]), max(float(occurring[-1]), float(occurring[0]) + 1)
    step = -(-int(high - low + 1) // MOST_COLOURS)
    if step > 1 and len(occurring) <= MOST_COLOURS:
        between = (occurring[1:] + occurring[:-1]) / 2
        return BoundaryNorm([low - 0.5, *between, high + 0.5], 256)
    return BoundaryNorm(np.arange(low, high + step + 1, step) - 0.5, 256)


def whole_numbers(norm: BoundaryNorm, counts: ArrayLike) -> list[tuple[float, str]]:
    """The middle of every colour of a norm of counts, and the number or numbers that have it: `5`, `6–8`."""
    occurring = np.unique(np.asarray(counts, dtype=float))
    made = []
    for low, high in pairwise(float(edge) for edge in norm.boundaries):
        inside = occurring[(occurring > low) & (occurring < high)]
        first, last = inside[[0, 0]] if len(inside) == 1 else (np.ceil(low) + 0.0, np.floor(high))
        made.append(((low + high) / 2, f"{first:.0f}–{last:.0f}" if first < last else f"{first:.0f}"))
    return made

"""Whether measured times have one bandwidth or two, one for small transfers and one for large ones.

A fabric has one startup and one bandwidth. Where a protocol changes with the size, or contention starts, no
such line fits both sides, and which is meant depends on the sizes that are planned for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.calibration.least_squares import fit_by_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.calibration.measurements import Measurements

__all__ = ["TwoRegimes", "two_regimes"]

# Least rows on each side whose time is mostly bytes: fewer say nothing about a bandwidth.
LEAST_ROWS = 5
# Two bandwidths this far apart, as a part of the smaller, and this part of the mean error gone: of 2 000 random sets of
# 8 to 59 rows of one line, with errors of 1 to 30 %, one is taken for two.
LEAST_APART, LEAST_GAIN = 0.15, 0.3
MOST_SPLITS = 64


class TwoRegimes(NamedTuple):
    """One startup and two bandwidths: up to `last_bytes` a step on the wire, and from `first_bytes` on.

    typical: the median of how far rows are off the one line, and off the two, as a part.
    """

    startup_s: float
    small_bps: float
    large_bps: float
    last_bytes: float
    first_bytes: float
    typical: tuple[float, float]


def two_regimes(
    measurements: Measurements, fitted_s: NDArray[np.float64], offset_s: NDArray[np.float64]
) -> TwoRegimes | None:
    """The two bandwidths that fit far better than the one of `fitted_s`; None where there are no such.

    offset_s: the stated or fitted time of hops, row by row. O(rows), for up to `MOST_SPLITS` places to split at.
    """
    step_bytes = measurements.wire_bytes / measurements.steps
    sizes = np.unique(step_bytes)
    count = min(len(sizes) - 1, MOST_SPLITS)
    places: list[int] = np.unique(np.linspace(0, len(sizes) - 2, count).astype(int)).tolist() if count else []
    # Splits are compared by errors relative to measured times, in one step; then the best one is fitted.
    fits = [(_quick(measurements, offset_s, step_bytes <= sizes[place]), place) for place in places]
    best = min(fits, default=None)
    one_off = _off(measurements.time_s, fitted_s)
    if best is None or best[0] > (1 - LEAST_GAIN) * one_off.mean():
        return None
    small = step_bytes <= sizes[best[1]]
    fit = fit_by_errors("robust", _columns(measurements, small), measurements.time_s, offset_s)
    two_off = _off(measurements.time_s, fit.fitted)
    startup_s, *betas = fit.values.tolist()
    if min(betas) <= 0 or two_off.mean() > (1 - LEAST_GAIN) * one_off.mean():
        return None
    carried = fit.fitted - offset_s > 2 * startup_s * measurements.steps
    if min((carried & small).sum(), (carried & ~small).sum()) < LEAST_ROWS:
        return None
    if max(betas) < (1 + LEAST_APART) * min(betas):
        return None
    last, first = sizes[best[1]], sizes[best[1] + 1]
    typical = float(np.median(one_off)), float(np.median(two_off))
    return TwoRegimes(startup_s, 8 / betas[0], 8 / betas[1], float(last), float(first), typical)


def _quick(measurements: Measurements, offset_s: NDArray[np.float64], small: NDArray[np.bool_]) -> float:
    """The mean error of rows under two bandwidths; infinity where there are not enough rows for both."""
    if min(small.sum(), (~small).sum()) < LEAST_ROWS:
        return float("inf")
    columns, time_s = _columns(measurements, small), measurements.time_s
    lengths = np.linalg.norm(columns / time_s[:, None], axis=0)
    values = np.linalg.lstsq(columns / time_s[:, None] / lengths, 1 - offset_s / time_s)[0] / lengths
    fitted = columns @ values + offset_s
    return float(_off(time_s, fitted).mean()) if np.all(fitted > 0) else float("inf")


def _columns(measurements: Measurements, small: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Number of steps, and the range of bytes on each side of the change of bandwidth."""
    bytes_ = measurements.wire_bytes
    return np.stack([measurements.steps, bytes_ * small, bytes_ * ~small], axis=1)


def _off(time_s: NDArray[np.float64], fitted_s: NDArray[np.float64]) -> NDArray[np.float64]:
    off: NDArray[np.float64] = np.abs(np.log(time_s / fitted_s))
    return off

"""The table that the verb `calibrate` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from lightloom._core import show_size, show_time
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

    from lightloom.calibration import Calibration, Estimate

# Sizes that get a row; of more, as many are shown evenly.
MOST_SIZES = 24


def calibration_table(calibration: Calibration) -> str:
    """The fabric's numbers with their intervals, how well they fit, and the residuals size by size."""
    measured = calibration.measurements
    count = len(measured.rows)
    interval = f"{100 * calibration.confidence:g}% interval"
    numbers = table("", "fitted", interval, right=("fitted",))
    numbers.add_row("startup of a step", *_shown(calibration.startup_s, show_time))
    numbers.add_row("bandwidth of a link", *_shown(calibration.bandwidth_bps, _rate))
    value, ends = _shown(calibration.hop_delay_s, show_time)
    numbers.add_row("delay of a hop", value, ends if calibration.hop_delay_fitted else "not fitted")
    worst = measured.rows[calibration.worst]
    residual = calibration.residuals[calibration.worst]
    explained = "" if calibration.r_squared is None else f"R² {calibration.r_squared:.6f}, "
    lines = [
        f"{explained}worst residual {100 * residual:+.1f}%: row {calibration.worst + 1} (line {worst.line}), "
        f"{_size(worst.size_bytes)}, measured {show_time(worst.time_s)}, "
        f"fitted {show_time(float(calibration.fitted_s[calibration.worst]))}",
        *(f"note: {note}" for note in calibration.notes),
    ]
    return render(
        heading(f"{count} measured times, least {calibration.errors} errors"),
        numbers,
        *(Text(line) for line in lines),
        _residuals(calibration),
    )


def _residuals(calibration: Calibration) -> Table:
    measured = calibration.measurements
    columns = ("size", "steps", "rows", "measured", "fitted", "mean residual", "worst")
    made = table(*columns, right=columns)
    kinds = np.stack([measured.size_bytes, measured.steps, measured.hops, measured.wire_bytes], axis=1)
    distinct = np.unique(kinds, axis=0)
    chosen = np.unique(np.linspace(0, len(distinct) - 1, min(len(distinct), MOST_SIZES)).astype(int))
    for kind in distinct[chosen]:
        alike = np.all(kinds == kind, axis=1)
        residuals = calibration.residuals[alike]
        made.add_row(
            _size(kind[0]),
            f"{kind[1]:g}",
            str(int(alike.sum())),
            show_time(float(np.median(measured.time_s[alike]))),
            show_time(float(calibration.fitted_s[alike][0])),
            f"{100 * residuals.mean():+.1f}%",
            f"{100 * residuals[np.argmax(np.abs(residuals))]:+.1f}%",
        )
    return made


def _shown(estimate: Estimate, show: Callable[[float], str]) -> tuple[str, str]:
    if estimate.low is None and estimate.high is None:
        return show(estimate.value), "not bounded"
    low = "0" if estimate.low is None else show(estimate.low)
    return show(estimate.value), f"{low} to {'any' if estimate.high is None else show(estimate.high)}"


def _rate(bps: float) -> str:
    return f"{bps / 1e9:.5g} Gbit/s"


def _size(size_bytes: float) -> str:
    return show_size(size_bytes) if size_bytes else "0 B"

"""A calibration as a picture: measured times and the fit, and what lies between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom._core import show_time
from lightloom.views.axis_units import show_natural
from lightloom.views.charts import check_plot_path, save, show_heights
from lightloom.views.fitting import settle
from lightloom.views.palette import PALETTE, REFERENCE

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.calibration import Calibration

POINTS, LINE = PALETTE[0], REFERENCE
# Kinds of rows (steps, hops, bytes on the wire over the size) that get a line each; beyond them every row gets a mark.
MOST_LINES = 6


def plot_calibration(calibration: Calibration, path: str | os.PathLike[str] | None = None) -> Figure:
    """Times over sizes, both logarithmic, with the fit; below, measured over fitted time.

    Written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    figure = Figure(figsize=(7.5, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    measured = calibration.measurements
    drawn = measured.size_bytes > 0
    sizes = measured.size_bytes[drawn]
    above.plot(sizes, measured.time_s[drawn], "o", markersize=5, color=POINTS, alpha=0.7, label="measured")
    _draw_fit(above, calibration)
    above.set(yscale="log", ylabel="time", title=_title(calibration))
    show_heights(above, "time", log=True)
    above.legend(frameon=False, loc="upper left")
    below.axhline(0, color=LINE, linewidth=1)
    below.plot(sizes, 100 * calibration.residuals[drawn], "o", markersize=4, color=POINTS, alpha=0.7)
    below.set(xlabel="size", ylabel="measured over\nfitted, less 1")
    show_heights(below, "percent", log=False)
    below.set_xscale("log")
    show_natural(below.xaxis, "size", sizes, log=True)
    for axes in (above, below):
        axes.grid(visible=True, which="major", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _draw_fit(axes: Axes, calibration: Calibration) -> None:
    measured = calibration.measurements
    drawn = measured.size_bytes > 0
    kinds = np.stack([measured.steps, measured.hops, measured.wire_bytes / np.maximum(measured.size_bytes, 1)], axis=1)
    distinct = np.unique(kinds[drawn].round(9), axis=0)
    if not 0 < len(distinct) <= MOST_LINES:
        axes.plot(measured.size_bytes[drawn], calibration.fitted_s[drawn], "_", color=LINE, label="fit")
        return
    for number, (steps, hops, share) in enumerate(distinct.tolist()):
        alike = drawn & np.all(kinds.round(9) == distinct[number], axis=1)
        sizes = np.geomspace(measured.size_bytes[alike].min(), measured.size_bytes[alike].max(), 100)
        time_s = (
            calibration.startup_s.value * steps
            + calibration.hop_delay_s.value * hops
            + 8 / calibration.bandwidth_bps.value * share * sizes
        )
        axes.plot(sizes, time_s, color=LINE, linewidth=1.5, label="fit" if number == 0 else None)


def _title(calibration: Calibration) -> str:
    rate = f"{calibration.bandwidth_bps.value / 1e9:.4g} Gbit/s"
    hop = f"{show_time(calibration.hop_delay_s.value)} a hop, " if calibration.hop_delay_fitted else ""
    explained = "" if calibration.r_squared is None else f", R² = {calibration.r_squared:.4f}"
    return f"startup {show_time(calibration.startup_s.value)}, {hop}{rate}{explained}"

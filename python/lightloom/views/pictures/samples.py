"""Completion times on fabrics whose times are uncertain: the share of runs by the time that they keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.uncertainty.result import QUANTILES
from lightloom.views.axis_units import show_range
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, style_at

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.uncertainty.result import SampledPlan, SampledPlans

__all__ = ["plot_sampled_plan", "plot_sampled_plans"]

# Plans whose lines can be told apart, and points of a line.
MOST_PLANS, MOST_POINTS = 6, 1000
# The last share of runs that is drawn: the few beyond it would make the axis long.
LAST_SHARE = 0.999


def plot_sampled_plan(found: SampledPlan, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    return _plot([found], [f"{found.plan.algorithm}, {found.plan.planner}"], path)


def plot_sampled_plans(found: SampledPlans, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of the best plans, written as `plot_sampled_plan` does. Raises `InputError` that names `plot`."""
    shown = found.plans[:MOST_PLANS]
    return _plot(
        shown, [f"{place + 1}: {one.plan.algorithm}, {one.plan.planner}" for place, one in enumerate(shown)], path
    )


def _plot(plans: Sequence[SampledPlan], names: Sequence[str], path: str | os.PathLike[str] | None) -> Figure:
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    axes = figure.subplots()
    for place, (one, name) in enumerate(zip(plans, names, strict=True)):
        _line(axes, one, place, name)
    for name, share in QUANTILES.items():
        axes.axhline(share, color=BACKGROUND, linewidth=0.8, zorder=0)
        axes.annotate(name, (1.0, share), xycoords=("axes fraction", "data"), fontsize=8, va="center")
    lasts = [float(np.quantile(one.totals_s, LAST_SHARE)) for one in plans]
    firsts = [min(one.nominal_s, float(one.totals_s.min())) for one in plans]
    show_range(axes.xaxis, "time", min(firsts), max(lasts), log=False)
    axes.set_ylim(0.0, 1.01)
    axes.set_xlabel("completion time; dotted: where nothing is uncertain")
    axes.set_ylabel("share of runs that take no longer")
    axes.spines[["top", "right"]].set_visible(False)
    lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    legend_below(figure, lines, [str(line.get_label()) for line in lines])
    drawn, plan = plans[0].drawn, plans[0].plan
    figure.suptitle(f"{plan.collective} on {plan.gpus} GPUs: {drawn.samples:,} samples", fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _line(axes: Axes, one: SampledPlan, place: int, name: str) -> None:
    style = style_at(place)
    shares = np.linspace(0.0, 1.0, min(MOST_POINTS, len(one.totals_s)))
    times_s = np.quantile(one.totals_s, shares, method="inverted_cdf")
    axes.plot(
        times_s, shares, color=style.colour, linestyle=style.dash, linewidth=1.4, label=name, drawstyle="steps-post"
    )
    axes.plot([one.nominal_s] * 2, [0.0, 1.0], color=style.colour, linestyle=":", linewidth=0.8, label="_nominal")

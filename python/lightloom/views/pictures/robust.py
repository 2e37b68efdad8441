"""Plans that are made once and plans that are made anew: regret by iteration, and mean and slowest times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import counted
from lightloom.robustness.result import STRATEGIES
from lightloom.views.axis_units import show_range
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, PALETTE, REFERENCE

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.robustness.result import RobustPlan

__all__ = ["plot_robust"]

# A colour and a marker for each strategy that has regret.
LOOKS = {"once": (PALETTE[0], "o"), "previous": (PALETTE[1], "s"), "uniform": (PALETTE[2], "^")}
# Iterations whose points can be told apart.
MOST_MARKED = 40


def plot_robust(found: RobustPlan, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    figure = Figure(figsize=(7.0, 5.8), layout="constrained")
    upper, lower = figure.subplots(2, 1, height_ratios=(2.2, 1.0))
    _regrets(upper, found)
    _times(lower, found)
    lines = upper.get_lines()[: len(LOOKS)]
    legend_below(figure, lines, [str(line.get_label()) for line in lines])
    seen = sum(not one.held_out for one in found.iterations)
    figure.suptitle(
        f"All-to-all planned once for {counted(seen, 'iteration')}, {found.plan.gpus} GPUs of "
        f"{counted(found.plan.ports, 'port')}",
        fontsize=11,
    )
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _regrets(axes: Axes, found: RobustPlan) -> None:
    """The regret of every iteration, a line for each strategy."""
    from matplotlib.ticker import MaxNLocator

    numbers = [one.iteration for one in found.iterations]
    lowest_s = highest_s = 0.0
    for name, (colour, marker) in LOOKS.items():
        regrets_s = [one.regret_s(name) for one in found.iterations]
        lowest_s, highest_s = min(lowest_s, *regrets_s), max(highest_s, *regrets_s)
        shown = marker if len(numbers) <= MOST_MARKED else ""
        axes.plot(numbers, regrets_s, color=colour, marker=shown, markersize=4, linewidth=1.2, label=name)
    unseen = [one.iteration for one in found.iterations if one.held_out]
    if unseen:
        axes.axvspan(unseen[0] - 0.5, unseen[-1] + 0.5, color=BACKGROUND, alpha=0.3, linewidth=0)
    axes.axhline(0.0, color=REFERENCE, linestyle="--", linewidth=1)
    show_range(axes.yaxis, "time", lowest_s, highest_s, log=False)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("iteration; shaded: held out" if unseen else "iteration")
    axes.set_ylabel("regret: time less that of each")
    axes.spines[["top", "right"]].set_visible(False)


def _times(axes: Axes, found: RobustPlan) -> None:
    """The mean time of every strategy as a bar, that of its slowest iteration as a mark, that held out as a diamond."""
    rows = [found.strategy(name) for name in STRATEGIES]
    colours = [LOOKS[row.name][0] if row.name in LOOKS else BACKGROUND for row in rows]
    axes.barh(range(len(rows)), [row.mean_s for row in rows], color=colours, height=0.6)
    axes.plot([row.worst_s for row in rows], range(len(rows)), "k|", markersize=14, label="slowest")
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.invert_yaxis()
    axes.plot([row.mean_s for row in found.held_out], range(len(found.held_out)), "kD", markersize=5, fillstyle="none")
    show_range(axes.xaxis, "time", 0.0, max(row.worst_s for row in (*rows, *found.held_out)), log=False)
    diamonds = "; diamond: mean of those held out" if found.held_out else ""
    axes.set_xlabel(f"mean time; mark: slowest iteration{diamonds}")
    axes.spines[["top", "right"]].set_visible(False)

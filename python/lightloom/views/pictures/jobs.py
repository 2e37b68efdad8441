"""Jobs on a fabric: GPUs over time, a panel for each way to share it and a rectangle for each job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom._core import show_time
from lightloom.views.axis_units import plain, show_range
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import PALETTE
from lightloom.views.tables.jobs import gpu_ranges

if TYPE_CHECKING:
    import os

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.jobs.result import JobPlacements, PlacedJob, SharedRun

__all__ = ["plot_jobs"]

# Colours without black, which outlines have; jobs beyond this many have them again with other hatches.
COLOURS = PALETTE[:-1]
HATCHES = ("", "//", "..", "xx")
# Inches of a panel, and of the title, the axis and the legend.
PANEL, REST = 1.7, 1.4
# Part of the time axis below which a rectangle is hardly seen, and a mark stands at the middle of the job.
LEAST_SEEN = 0.004
MARK: dict[str, Any] = {"marker": "D", "markersize": 5, "markeredgecolor": "black", "markeredgewidth": 0.5}
# Jobs that a legend names.
MOST_NAMED = len(COLOURS) * len(HATCHES)


def plot_jobs(placed: JobPlacements, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`.

    A job that shares its GPUs with another has half of their height. A job too short to be seen has a mark.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    runs = [run for run in placed.runs if run.jobs]
    names = [job.name for job in runs[0].jobs] if runs else []
    figure = Figure(figsize=(9.0, max(1, len(runs)) * PANEL + REST), layout="constrained")
    panels = figure.subplots(max(1, len(runs)), 1, sharex=True, squeeze=False)[:, 0]
    last_s = max((run.makespan_s or 0.0 for run in runs), default=1.0)
    for axes, run in zip(panels, runs, strict=False):
        _panel(axes, placed, run, LEAST_SEEN * last_s)
    show_range(panels[-1].xaxis, "time", 0.0, last_s, log=False)
    panels[-1].set_xlabel("time")
    figure.suptitle(f"{len(names)} jobs on {placed.gpus} GPUs, order: {placed.order}", fontsize=11)
    jobs = [job for run in runs for job in run.jobs]
    _legend(
        figure,
        names[:MOST_NAMED],
        shared=any(job.shared_with for job in jobs),
        marked=any(job.end_s - job.start_s < LEAST_SEEN * last_s for job in jobs),
    )
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _panel(axes: Axes, placed: JobPlacements, run: SharedRun, least_s: float) -> None:
    """least_s: the shortest time that a rectangle shows."""
    for index, job in enumerate(run.jobs):
        low, high = lane(job, run)
        if job.end_s - job.start_s < least_s:
            first, last = gpu_ranges(job)[0]
            middle = first + (low + high) / 2 * (last + 1 - first)
            colour = _look(index)["facecolor"]
            axes.plot([(job.start_s + job.end_s) / 2], [middle], color=colour, **MARK, zorder=3, linestyle="none")
        for first, last in gpu_ranges(job):
            height = last + 1 - first
            axes.broken_barh(
                [(job.start_s, job.end_s - job.start_s)],
                (first + low * height, (high - low) * height),
                **_look(index),
                edgecolor="black",
                linewidth=0.5,
            )
    gain = placed.gain(run)
    words = "" if gain is None else f", gain {gain:.2f}"
    mean_s = run.mean_completion_s or 0.0
    axes.set_title(plain(f"{run.title}: mean completion {show_time(mean_s)}{words}"), fontsize=9, loc="left")
    axes.set_ylim(placed.gpus, 0)
    axes.set_ylabel("GPU")
    axes.spines[["top", "right"]].set_visible(False)


def lane(job: PlacedJob, run: SharedRun) -> tuple[float, float]:
    """The two ends of a job's bar, as parts of the height of its GPUs.

    Of two jobs that share GPUs, the one that started first is above. A job that joins later takes the free half.
    """
    if not job.shared_with:
        return 0.0, 1.0
    by_name = {one.name: one for one in run.jobs}
    upper: dict[str, bool] = {}
    for one in sorted(run.jobs, key=lambda one: (one.start_s, run.jobs.index(one))):
        taken = {upper[name] for name in one.shared_with if name in upper and by_name[name].end_s > one.start_s}
        upper[one.name] = True not in taken
    return (0.0, 0.5) if upper[job.name] else (0.5, 1.0)


def _look(index: int) -> dict[str, Any]:
    """The look of a job by its place in the description."""
    return {
        "facecolor": COLOURS[index % len(COLOURS)],
        "hatch": HATCHES[index // len(COLOURS) % len(HATCHES)],
    }


def _legend(figure: Figure, names: list[str], *, shared: bool, marked: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: dict[str, Artist] = {
        plain(name): Patch(**_look(index), edgecolor="black", linewidth=0.5) for index, name in enumerate(names)
    }
    if shared:
        marks["half of the height: two jobs share all of these GPUs"] = Patch(facecolor="none", edgecolor="none")
    if marked:
        marks["a job that is shorter than this mark"] = Line2D([], [], color="white", **MARK, linestyle="none")
    legend_below(figure, list(marks.values()), list(marks))

"""Advice on switches: the time of the mix on each, against circuits that never change and an ideal packet switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import counted
from lightloom.views.axis_units import plain, show_range, time_label
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, PALETTE, REFERENCE

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.advice.result import Advice, AdviceRow

__all__ = ["plot_advice"]

# Inches of a row, and of a panel's title, axis and legend together.
ROW, REST = 0.24, 1.9
# Rows that can be read in one panel.
MOST_ROWS = 40
# A bar by its meaning: the switch can be bought for the job, cannot, or is the one that is recommended.
USABLE, TOO_SMALL, CHOSEN = PALETTE[4], BACKGROUND, PALETTE[0]


def plot_advice(advice: Advice, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture, written to a PNG, PDF or SVG file where one is named. Raises `InputError` that names `plot`."""
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    counts = list(dict.fromkeys(row.ports for row in advice.rows))
    shown = {ports: _timed(advice.rows, ports) for ports in counts}
    height = max(1, *map(len, shown.values())) * ROW + REST
    figure = Figure(figsize=(4.0 + 3.4 * len(counts), height), layout="constrained")
    panels = figure.subplots(1, len(counts), sharex=True, squeeze=False)[0]
    most_s = max((max(row.total_s or 0.0, row.packet_switch_s) for rows in shown.values() for row in rows), default=1.0)
    for axes, (ports, rows) in zip(panels, shown.items(), strict=True):
        _panel(axes, advice, rows)
        show_range(axes.xaxis, "time", 0.0, most_s, log=False)
        axes.set_title(f"{counted(ports, 'port')} a GPU", fontsize=10)
    _legend(figure, with_small=any(not row.usable for rows in shown.values() for row in rows))
    figure.suptitle(f"{plain(advice.job)} on {advice.gpus} GPUs: {_words(advice)}", fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def _timed(rows: Sequence[AdviceRow], ports: int) -> list[AdviceRow]:
    """The rows with this many ports that have a time, those that can be read; any may be the recommended one."""
    return [row for row in rows if row.ports == ports and row.total_s is not None][-MOST_ROWS:]


def _panel(axes: Axes, advice: Advice, rows: Sequence[AdviceRow]) -> None:
    """A bar a switch, the fastest technology at the top."""
    times = [row.total_s or 0.0 for row in rows]
    best = advice.best
    colours = [CHOSEN if row is best else USABLE if row.usable else TOO_SMALL for row in rows]
    axes.barh(range(len(rows)), times, color=colours, height=0.7)
    axes.set_yticks(range(len(rows)), [_name(row) for row in rows], fontsize=8)
    axes.invert_yaxis()
    if rows:
        axes.axvline(rows[0].packet_switch_s, color=REFERENCE, linestyle="--", linewidth=1)
    axes.set_xlabel("time of the mix")
    axes.spines[["top", "right"]].set_visible(False)


def _name(row: AdviceRow) -> str:
    delay_s = row.reconfiguration_delay_s
    return plain(row.switch if delay_s is None else f"{row.switch}, {time_label(delay_s)}")


def _legend(figure: Figure, *, with_small: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks = {
        "recommended": Patch(color=CHOSEN),
        "usable": Patch(color=USABLE),
        **({"joins too few GPUs": Patch(color=TOO_SMALL)} if with_small else {}),
        "ideal packet switch": Line2D([], [], color=REFERENCE, linestyle="--", linewidth=1),
    }
    legend_below(figure, list(marks.values()), list(marks))


def _words(advice: Advice) -> str:
    best = advice.best
    if best is None:
        return "no switch serves it"
    return f"{plain(best.switch)} with {counted(best.ports, 'port')} a GPU"

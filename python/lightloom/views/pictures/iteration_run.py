"""A training iteration that was run, as a picture: its events and changes of circuits under those of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom._core import show_time
from lightloom.views.axis_units import plain
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import settle
from lightloom.views.palette import REFERENCE
from lightloom.views.pictures.training import draw_rows, row_colours, rows_legend
from lightloom.views.training_rows import DARK, Box, Row, event_rows

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from lightloom.running.iterations.measurement import IterationMeasurement

# The least time that is drawn.
LEAST_S = 1e-9


def plot_iteration_run(measurement: IterationMeasurement, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of the iteration in the middle, written to a PNG, PDF or SVG file where one is named.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    shown = int(np.argmin(np.abs(measurement.iterations_s - measurement.measured.median)))
    panels = {"plan": planned_rows(measurement), "measured": measured_rows(measurement, shown)}
    end_s = max(measurement.planned_s, float(measurement.iterations_s[shown]), LEAST_S)
    figure = Figure(figsize=(12, 2 * (0.27 * len(panels["plan"]) + 0.5) + 1.3), layout="constrained")
    colours = row_colours(measurement.training)
    for axes, (name, rows) in zip(figure.subplots(2, 1), panels.items(), strict=True):
        draw_rows(axes, rows, colours, (0.0, end_s))
        axes.axvline(measurement.planned_s, color=REFERENCE, linestyle="--", linewidth=1)
        axes.set_title(name, fontsize=9)
    figure.axes[-1].set_xlabel("time, divided by the dilation; the dashed line is the end as planned")
    rows_legend(figure, panels["plan"], colours, "dark while circuits change")
    figure.suptitle(_title(measurement, shown), fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def planned_rows(measurement: IterationMeasurement) -> list[Row]:
    """Ranks that compute alike, and axes and groups, as planned; when circuits are to change."""
    dark = [(one.planned_time_s, one.planned_dark_s) for one in measurement.changes]
    return [*event_rows(measurement.training), *_changes(dark)]


def measured_rows(measurement: IterationMeasurement, shown: int) -> list[Row]:
    """The same rows as they were measured in an iteration."""
    times, settings = measurement.times, measurement.settings
    begun_s = float(measurement.begins_s[shown])
    rows = []
    for row in planned_rows(measurement):
        boxes = []
        for box in row.boxes:
            if not box.is_dark:
                starts_s, ends_s = measurement.spans_s(box.event)
                first_s, last_s = float(starts_s[shown]) - begun_s, float(ends_s[shown]) - begun_s
                boxes.append(box._replace(first_s=first_s, last_s=last_s))
        rows.append(Row(row.name, boxes))
    count = len(measurement.changes)
    if count:
        first = (settings.warm_ups + shown) * count
        asked_s, acknowledged_s = (one[first : first + count] for one in (times.asked_s, times.acknowledged_s))
        dark = list(zip((asked_s - begun_s).tolist(), (acknowledged_s - asked_s).tolist(), strict=True))
        rows[-1:] = _changes(dark)
    return rows


def _changes(dark: list[tuple[float, float]]) -> list[Row]:
    boxes = [Box(first_s, first_s + dark_s, DARK, "", -1 - place) for place, (first_s, dark_s) in enumerate(dark)]
    return [Row("circuits change", boxes)] if boxes else []


def _title(measurement: IterationMeasurement, shown: int) -> str:
    training, settings = measurement.training, measurement.settings
    doubt = "" if measurement.verdict == "conclusive" else ": inconclusive, the machine was busy"
    measured_s, planned_s = float(measurement.iterations_s[shown]), measurement.planned_s
    part = f", {measured_s / planned_s:.1%} of the plan's {show_time(planned_s)}" if planned_s else ""
    which = f"iteration {shown + 1} of {settings.iterations}, " if settings.iterations > 1 else ""
    return (
        f"{plain(training.name or 'an iteration')} on {training.ranks} ranks\n"
        f"{which}slowed down {settings.dilation:g} times: measured {show_time(measured_s)}{part}{doubt}"
    )

"""The table that the verb `run` prints of a training iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.run import counted_runs, machine_lines, results_line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from lightloom.running.iterations.measurement import IterationMeasurement, MeasuredChange

NUMBERS = ("count", "measured", "plan", "ratio", "#wrong")
OF_CHANGES = ("change", "asked for", "at the latest", "dark", "plan")
# Changes of circuits that are shown; the others are counted.
MOST_CHANGES = 8


def iteration_run_table(measurement: IterationMeasurement) -> str:
    """The iteration and its settings, each kind of event next to the plan, changes of circuits, and the machine."""
    return render(*iteration_run_parts(measurement))


def iteration_run_parts(measurement: IterationMeasurement) -> list[RenderableType]:
    """The parts of `iteration_run_table`."""
    training = measurement.training
    title = (
        f"{training.name or 'an iteration'} on {counted(training.ranks, 'rank')}: "
        f"measured {show_time(measurement.measured.median)}, "
        f"{measurement.ratio:.1%} of the plan's {show_time(measurement.planned_s)}"
    )
    changes = measurement.changes
    return [
        heading(title),
        *map(Text, _settings(measurement)),
        _kinds(measurement),
        *([_changes(changes)] if changes else []),
        Text(""),
        Text(_results(measurement)),
        *map(Text, machine_lines(measurement, "a mean computation or step")),
    ]


def _settings(measurement: IterationMeasurement) -> list[str]:
    settings = measurement.settings
    count = counted_runs(counted(settings.iterations, "iteration"), settings.warm_ups)
    said = f"slowed down {settings.dilation:g} times, {count}, packets of {show_size(settings.packet_bytes)}"
    sent = "every byte is sent"
    if settings.scale > 1:
        sent = f"1 byte of {settings.scale:,} is sent, at rates {settings.scale:,} times lower"
    crossed = f"{show_size(measurement.moved_bytes)} cross circuits in an iteration"
    return [f"{settings.transport}, {said}", f"{sent}: {crossed}"]


def _kinds(measurement: IterationMeasurement) -> Table:
    made = table("event", "of", *NUMBERS, right=NUMBERS)
    for kind in measurement.kinds:
        times = (show_time(kind.measured_s), show_time(kind.planned_s))
        wrong = "" if kind.name == "compute" else f"{kind.wrong:,}"
        made.add_row(kind.name, kind.label, f"{kind.count:,}", *times, f"{kind.ratio:.1%}", wrong)
    spread = measurement.measured
    for name, time_s in (("fastest", spread.min), ("median", spread.median), ("slowest", spread.max)):
        wrong = f"{measurement.wrong:,}" if name == "median" else ""
        ratio = f"{time_s / measurement.planned_s:.1%}" if measurement.planned_s else "-"
        made.add_row("iteration", name, "", show_time(time_s), show_time(measurement.planned_s), ratio, wrong)
    made.caption, made.caption_justify = "times of events are added up, though they may overlap", "left"
    return made


def _changes(changes: tuple[MeasuredChange, ...]) -> Table:
    made = table(*OF_CHANGES, right=OF_CHANGES)
    for change in changes[:MOST_CHANGES]:
        made.add_row(
            str(change.configuration),
            _moment(change.measured_time_s),
            show_time(change.planned_time_s),
            show_time(change.dark_s),
            show_time(change.planned_dark_s),
        )
    dark = show_time(float(np.median([change.dark_s for change in changes])))
    words = f"{counted(len(changes), 'change')} in an iteration, dark for {dark} (median)"
    made.caption, made.caption_justify = words, "left"
    return made


def _moment(time_s: float) -> str:
    return f"-{show_time(-time_s)}" if time_s < 0 else show_time(time_s)


def _results(measurement: IterationMeasurement) -> str:
    communications = sum(kind.count for kind in measurement.kinds if kind.name != "compute")
    iterations = counted(measurement.settings.iterations + measurement.settings.warm_ups, "iteration")
    right = f"all {communications:,} collectives and sends of {iterations} match NumPy, on all ranks"
    return results_line(measurement.wrong, right)

"""A training iteration as a picture: computation of ranks, traffic of axes and ports, dark times."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from lightloom._core import show_time
from lightloom.training.members import COMPUTE
from lightloom.training.timeline import labels
from lightloom.views.axis_units import even_range, plain, show_ticks
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, COMPUTATION, TERM_COLOURS, readable_on
from lightloom.views.policy_titles import title_of
from lightloom.views.tables.training import changes_words
from lightloom.views.training_rows import COMPUTED, DARK, HIDDEN, placed, training_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.training.result import Training
    from lightloom.views.training_rows import Row

# With more events than these a part of the iteration is drawn in addition to the whole.
MOST_WHOLE = 120
# Communications of that part, and the largest share of the iteration that it may be.
IN_PART, LARGEST_PART = 24, 0.5
# The value of a part that is too long to draw; of equally good parts in a row, the middle one is drawn, but none later
# than this many after the first.
NO_PART, MOST_STEPS = (-1, -1), 3
# With more boxes than this, outlines would hide what they outline.
MOST_OUTLINED = 600
# Least share of the time that is drawn.
LEAST_OUTLINED = 0.004
# Height of a row, in the room of 1 that it has.
HEIGHT = 0.84
# Length at which an iteration that takes no time is drawn.
LEAST_S = 1e-9
# Colours of reconfigurations that are waited for, and of those that are not.
WAITED_FOR = TERM_COLOURS["reconfiguration"]
UNNOTICED = "#E8925A"
# Colours of axes and groups, told apart from each other and from those of computation and dark circuits by any eyes.
COLOURS = ("#0072B2", "#CC79A7", "#56B4E9", "#882255", "#332288", "#009E73")


def plot_training(training: Training, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of an iteration, written to a PNG, PDF or SVG file where one is named.

    A row for ranks that compute alike, for every axis or group, and for ports that are used alike, with the times at
    which they are dark. For an iteration of many events a part is drawn too, in which axes and ports alternate most.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    rows, colours = training_rows(training), row_colours(training)
    part = part_shown(training)
    height = 0.27 * len(rows) + 0.5
    panels = 1 if part is None else 2
    figure = Figure(figsize=(12, panels * height + 1.3), layout="constrained")
    grid = figure.subplots(panels, 1, squeeze=False)
    whole = grid[0, 0]
    draw_rows(whole, rows, colours, (0.0, training.total_s or LEAST_S))
    if part is None:
        whole.set_xlabel("time")
    else:
        whole.set_title("the whole iteration", fontsize=9)
        whole.axvspan(*part, facecolor="none", edgecolor="k", linewidth=1, zorder=4)
        below = grid[1, 0]
        draw_rows(below, rows, colours, part)
        below.set_title("the part in the frame", fontsize=9)
        below.set_xlabel("time")
    rows_legend(figure, rows, colours)
    figure.suptitle(_title(training), fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def part_shown(training: Training) -> tuple[float, float] | None:
    """Begin and end of the part that is drawn in addition to the whole; None if the whole is enough.

    This many communications in a row, the first of the parts with most axes, then most reconfigurations; rare axes are
    in its middle.
    """
    if len(training.events) <= MOST_WHOLE:
        return None
    talking = sorted((event for event in training.events if event.kind != COMPUTE), key=lambda event: event.start_s)
    found: list[tuple[tuple[int, int], tuple[float, float]]] = []
    for first in range(0, max(1, len(talking) - IN_PART + 1), IN_PART // 6):
        events = talking[first : first + IN_PART]
        if not events:
            break
        span = (events[0].start_s, max(event.end_s for event in events))
        fits = 0 < span[1] - span[0] <= LARGEST_PART * training.total_s
        value = (len({event.label for event in events}), sum(event.reconfigured for event in events))
        found.append((value if fits else NO_PART, span))
    best = max((value for value, _ in found), default=NO_PART)
    if best == NO_PART:
        return None
    # Parts follow each other in small steps: those that are as good as the first of them, up to one that is not.
    equal = next(list(run) for value, run in groupby(found, key=lambda one: one[0]) if value == best)
    return equal[min(len(equal) // 2, MOST_STEPS)][1]


def _title(training: Training) -> str:
    mfu = f", modelled MFU {training.mfu:.1%}" if training.mfu is not None else ""
    exposed = show_time(training.exposed_communication_s)
    return (
        f"{plain(training.name or 'a workload')} on {training.ranks} ranks, {title_of(training.policy)}: "
        f"{show_time(training.total_s)} an iteration{mfu}\n"
        f"compute {show_time(training.compute_s)}, exposed communication {exposed}, "
        f"{changes_words(training)}"
    )


def row_colours(training: Training) -> dict[str, str]:
    """Colours of boxes: axes and groups by their places."""
    of_labels = {label: COLOURS[place % len(COLOURS)] for place, label in enumerate(labels(training))}
    return {**of_labels, COMPUTED: COMPUTATION, DARK: WAITED_FOR, HIDDEN: UNNOTICED}


def draw_rows(axes: Axes, rows: Sequence[Row], looks: Mapping[str, str], span: tuple[float, float]) -> None:
    """Rows of boxes with these colours by their roles, between two moments."""
    from matplotlib.collections import PolyCollection

    first_s, last_s = span
    polygons, colours, edges, words = [], [], [], []
    for place, row in enumerate(rows):
        for box, lane, lanes in placed(row):
            height, colour = HEIGHT / lanes, looks[box.role]
            low = -HEIGHT / 2 + lane * height
            start, end, said = max(box.first_s, first_s), min(box.last_s, last_s), box.words
            if end <= start:
                continue
            bottom = place + low
            polygons.append([(start, bottom), (end, bottom), (end, bottom + height), (start, bottom + height)])
            colours.append(colour)
            # An outline would hide a narrow box.
            edges.append("w" if end - start > LEAST_OUTLINED * (last_s - first_s) else colour)
            if said and (end - start) / (last_s - first_s) > 0.012 + 0.0062 * len(said) and height > 0.4:
                words.append(((start + end) / 2, bottom + height / 2, said, colour))
    outline = 0.4 if len(polygons) <= MOST_OUTLINED else 0.0
    axes.add_collection(
        PolyCollection(polygons, facecolors=colours, edgecolors=edges, linewidths=outline, zorder=2, snap=False)
    )
    for x, y, said, colour in words:
        axes.text(x, y, said, ha="center", va="center", fontsize=7, color=readable_on(colour), clip_on=True)
    for place in range(len(rows)):
        axes.axhline(place + 0.5, color=BACKGROUND, linewidth=0.3, zorder=1)
    show_ticks(axes.xaxis, "time", [tick for tick in even_range(first_s, last_s) if first_s <= tick <= last_s])
    axes.set(xlim=(first_s, last_s + 0.003 * (last_s - first_s)), ylim=(len(rows) - 0.5, -0.5), yticks=range(len(rows)))
    axes.set_yticklabels([plain(row.name) for row in rows], fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def rows_legend(
    figure: Figure, rows: Iterable[Row], looks: Mapping[str, str], dark: str = "reconfiguration, waited for"
) -> None:
    """The legend of what rows have: computation and dark times, the latter in these words, then axes and groups."""
    from matplotlib.patches import Patch

    used = {box.role for row in rows for box in row.boxes}
    words = {COMPUTED: "computation", HIDDEN: "reconfiguration, hidden", DARK: dark}
    words |= {label: plain(label) for label in looks if label not in words}
    handles = [
        Patch(facecolor=looks[role], edgecolor=BACKGROUND, linewidth=0.4, label=word)
        for role, word in words.items()
        if role in used
    ]
    if handles:
        legend_below(figure, handles, [str(handle.get_label()) for handle in handles])

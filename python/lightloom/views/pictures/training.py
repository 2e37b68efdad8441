"""A training iteration as a picture: what ranks compute, what axes and ports carry, and when circuits are dark."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from lightloom._core import show_size, show_time
from lightloom.training.members import COMPUTE
from lightloom.training.timeline import (
    changes,
    dark_before_end,
    labels,
    port_sets,
    rank_classes,
    within_iteration,
)
from lightloom.views.axis_units import even_range, plain, show_ticks
from lightloom.views.charts import check_plot_path, save
from lightloom.views.fitting import legend_below, settle
from lightloom.views.palette import BACKGROUND, COMPUTATION, PALETTE, TERM_COLOURS, readable_on
from lightloom.views.tables.training import changes_words

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lightloom.training.result import Training
    from lightloom.training.timeline import Change, Numbered

# Rows of a kind; of more, some are shown, evenly spread.
MOST_ROWS = 8
# With more events than these a part of the iteration is drawn beside the whole.
MOST_WHOLE = 120
# Communications of that part, and the largest share of the iteration that it may be.
IN_PART, LARGEST_PART = 24, 0.5
# What a part is worth that is too long; half of the steps from one part to another that shares nothing with it.
NO_PART, MOST_STEPS = (-1, -1), 3
# With more boxes than this, outlines would hide what they outline.
MOST_OUTLINED = 600
# Of the time that is drawn.
LEAST_OUTLINED = 0.004
# Boxes of one row at the same time, one above the other.
MOST_LANES = 4
# What an iteration that takes no time is drawn as long as.
LEAST_S = 1e-9
DARK = TERM_COLOURS["reconfiguration"]
HIDDEN = "#F3BC9B"
# Those of computation and of dark circuits are not among them.
COLOURS = [colour for colour in PALETTE if colour not in {DARK, "#000000"}]


class Box(NamedTuple):
    """A box of a row: from when until when, s, its colour, what is written on it, and the place of its event."""

    first_s: float
    last_s: float
    colour: str
    words: str
    event: int

    @property
    def is_dark(self) -> bool:
        """Whether circuits change."""
        return self.colour in {DARK, HIDDEN}


class Row(NamedTuple):
    """A row: its name, and the boxes in it, which may be at the same time."""

    name: str
    boxes: list[Box]


def plot_training(training: Training, path: str | os.PathLike[str] | None = None) -> Figure:
    """The picture of an iteration, written to a PNG, PDF or SVG file where one is named.

    A row for ranks that compute alike, for every axis or group, and for ports that are used alike, with the times at
    which they are dark. Of an iteration of many events a part is drawn too, in which axes and ports alternate most.

    Raises `InputError` that names `plot` when the file cannot be written.
    """
    from matplotlib.figure import Figure

    if path is not None:
        check_plot_path(path)
    rows = _rows(training)
    part = part_shown(training)
    height = 0.27 * len(rows) + 0.5
    panels = 1 if part is None else 2
    figure = Figure(figsize=(12, panels * height + 1.3), layout="constrained")
    grid = figure.subplots(panels, 1, squeeze=False)
    whole = grid[0, 0]
    _draw(whole, rows, (0.0, training.total_s or LEAST_S))
    if part is None:
        whole.set_xlabel("time")
    else:
        whole.set_title("the whole iteration", fontsize=9)
        whole.axvspan(*part, facecolor="none", edgecolor="k", linewidth=1, zorder=4)
        below = grid[1, 0]
        _draw(below, rows, part)
        below.set_title("the part in the frame", fontsize=9)
        below.set_xlabel("time")
    _legend(figure, rows)
    figure.suptitle(_title(training), fontsize=11)
    if path is None:
        settle(figure)
    else:
        save(figure, path)
    return figure


def part_shown(training: Training) -> tuple[float, float] | None:
    """When the part begins and ends that is drawn beside the whole; None where the whole is enough.

    So many communications in a row, of those parts that have most axes, then most reconfigurations, the first; what is
    rare in it is in its middle.
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
        f"{plain(training.name or 'a workload')} on {training.ranks} ranks, {training.policy}: "
        f"{show_time(training.total_s)} an iteration{mfu}\n"
        f"compute {show_time(training.compute_s)}, exposed communication {exposed}, "
        f"{changes_words(training)}"
    )


def _rows(training: Training) -> list[Row]:
    """Rows from above to below: computation, axes and groups, ports."""
    named = labels(training)
    colours = {label: COLOURS[place % len(COLOURS)] for place, label in enumerate(named)}
    rows = []
    for ranks in _spread(rank_classes(training)):
        name = "compute" if len(ranks.numbers) == training.ranks else f"compute, {plain(ranks.name)}"
        mine = [(index, training.events[index]) for index in ranks.events]
        rows.append(Row(name, [Box(event.start_s, event.end_s, COMPUTATION, "", index) for index, event in mine]))
    # Messages are the last.
    left = named[MOST_ROWS:-1] if len(named) > MOST_ROWS + 2 else []
    of_labels = {label: Row(plain(label), []) for label in named if label not in set(left)}
    others = Row(f"{len(left)} other groups", [])
    for index, (event, size) in enumerate(zip(training.events, training.sizes_bytes, strict=True)):
        if size is not None:
            collective = "send" if event.plan is None else training.plans[event.plan].collective
            words = f"{collective} {show_size(size)}"
            box = Box(event.start_s, event.end_s, colours[event.label], words, index)
            of_labels.get(event.label, others).boxes.append(box)
    rows += [*of_labels.values(), *([others] if others.boxes else [])]
    dark = changes(training)
    return rows + [_row_of_ports(training, ports, colours, dark) for ports in _spread(port_sets(training))]


def _row_of_ports(training: Training, ports: Numbered, colours: dict[str, str], dark: Sequence[Change]) -> Row:
    """When the ports carry, by the colour of the axis, and when they are dark, waited for or hidden."""
    row, mine = Row(ports.name, []), set(ports.events)
    inner = [dark_before_end(plan) for plan in training.plans]
    for index in ports.events:
        event = training.events[index]
        row.boxes.append(Box(event.start_s, event.end_s, colours[event.label], "", index))
        for first_s, last_s in inner[event.plan] if event.plan is not None else []:
            row.boxes.append(Box(event.end_s - first_s, event.end_s - last_s, DARK, "", index))
    for change in dark:
        if change.event in mine:
            parts = ((change.first_s, change.exposed_s, HIDDEN), (change.exposed_s, change.last_s, DARK))
            for first_s, last_s, colour in parts:
                spans = within_iteration(first_s, last_s, training.total_s)
                row.boxes.extend(Box(*span, colour, "", change.event) for span in spans)
    return row


def _spread(found: Sequence[Numbered]) -> list[Numbered]:
    """All, or as many as can be seen, evenly spread, the first and the last among them."""
    if len(found) <= MOST_ROWS:
        return list(found)
    return [found[row * (len(found) - 1) // (MOST_ROWS - 1)] for row in range(MOST_ROWS)]


def _placed(row: Row) -> Iterable[tuple[Box, float, float]]:
    """Boxes of a row with bottom and height within it: those at the same time one above the other, dark ones last."""
    ends_s: list[float] = []
    lanes: dict[int, int] = {}
    for box in sorted(box for box in row.boxes if not box.is_dark):
        # What ends when another begins may do so a rounding later.
        slack_s = 1e-9 * (box.last_s - box.first_s)
        free = next((lane for lane, end_s in enumerate(ends_s) if end_s <= box.first_s + slack_s), len(ends_s))
        lane = min(free, MOST_LANES - 1)
        if lane == len(ends_s):
            ends_s.append(box.last_s)
        ends_s[lane] = max(ends_s[lane], box.last_s)
        lanes[box.event] = lane
    height = 0.84 / max(len(ends_s), 1)
    for box in sorted(row.boxes, key=lambda box: box.is_dark):
        yield box, -0.42 + lanes[box.event] * height, height


def _draw(axes: Axes, rows: Sequence[Row], span: tuple[float, float]) -> None:
    from matplotlib.collections import PolyCollection

    first_s, last_s = span
    polygons, colours, edges, words = [], [], [], []
    for place, row in enumerate(rows):
        for box, low, height in _placed(row):
            start, end, said = max(box.first_s, first_s), min(box.last_s, last_s), box.words
            if end <= start:
                continue
            bottom = place + low
            polygons.append([(start, bottom), (end, bottom), (end, bottom + height), (start, bottom + height)])
            colours.append(box.colour)
            # An outline would hide a narrow box.
            edges.append("w" if end - start > LEAST_OUTLINED * (last_s - first_s) else box.colour)
            if said and (end - start) / (last_s - first_s) > 0.012 + 0.0062 * len(said) and height > 0.4:
                words.append(((start + end) / 2, bottom + height / 2, said, box.colour))
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
    axes.set_yticklabels([row.name for row in rows], fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(figure: Figure, rows: Iterable[Row]) -> None:
    from matplotlib.patches import Patch

    used = {box.colour for row in rows for box in row.boxes}
    words = {COMPUTATION: "computation", HIDDEN: "reconfiguration, hidden", DARK: "reconfiguration, waited for"}
    handles = [
        Patch(facecolor=colour, edgecolor=BACKGROUND, linewidth=0.4, label=word)
        for colour, word in words.items()
        if colour in used
    ]
    if handles:
        legend_below(figure, handles, [str(handle.get_label()) for handle in handles])

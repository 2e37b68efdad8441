"""A training iteration as rows in time: computation of ranks, traffic of axes and ports, dark times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom._core import show_size
from lightloom.training.timeline import changes, dark_before_end, labels, port_sets, rank_classes, within_iteration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightloom.training.result import Training
    from lightloom.training.timeline import Change, Numbered

__all__ = ["COMPUTED", "DARK", "HIDDEN", "Box", "Row", "event_rows", "placed", "timeline", "training_rows"]

# Kinds of boxes other than the communication of an axis or group, which has its name: computation, a reconfiguration
# that is waited for, and one that is not. No axis or group has such a name.
COMPUTED, DARK, HIDDEN = "=compute", "=dark", "=hidden"
# Rows of a kind; of more, some are shown, evenly spread.
MOST_ROWS = 8
# Boxes of one row at the same time, one above the other.
MOST_LANES = 4


class Box(NamedTuple):
    """A box of a row: its beginning and end, s, its kind, its label, and its event's place."""

    first_s: float
    last_s: float
    role: str
    words: str
    event: int

    @property
    def is_dark(self) -> bool:
        """Whether circuits change."""
        return self.role in {DARK, HIDDEN}


class Row(NamedTuple):
    """A row: its name, and the boxes in it, which may be at the same time."""

    name: str
    boxes: list[Box]


def training_rows(training: Training) -> list[Row]:
    """Rows from above to below: ranks that compute alike, axes and groups, ports that are always used together."""
    dark = changes(training)
    return [*event_rows(training), *(_row_of_ports(training, ports, dark) for ports in _spread(port_sets(training)))]


def event_rows(training: Training) -> list[Row]:
    """Rows of ranks that compute alike, and of axes and groups."""
    named = labels(training)
    rows = []
    for ranks in _spread(rank_classes(training)):
        name = "compute" if len(ranks.numbers) == training.ranks else f"compute, {ranks.name}"
        mine = [(index, training.events[index]) for index in ranks.events]
        rows.append(Row(name, [Box(event.start_s, event.end_s, COMPUTED, "", index) for index, event in mine]))
    # Messages are the last.
    left = named[MOST_ROWS:-1] if len(named) > MOST_ROWS + 2 else []
    of_labels = {label: Row(label, []) for label in named if label not in set(left)}
    others = Row(f"{len(left)} other groups", [])
    for index, (event, size) in enumerate(zip(training.events, training.sizes_bytes, strict=True)):
        if size is not None:
            collective = "send" if event.plan is None else training.plans[event.plan].collective
            box = Box(event.start_s, event.end_s, event.label, f"{collective} {show_size(size)}", index)
            of_labels.get(event.label, others).boxes.append(box)
    return [*rows, *of_labels.values(), *([others] if others.boxes else [])]


def _row_of_ports(training: Training, ports: Numbered, dark: Sequence[Change]) -> Row:
    """The times at which ports carry, by axis, and at which they are dark, waited for or hidden."""
    row, mine = Row(ports.name, []), set(ports.events)
    inner = [dark_before_end(plan) for plan in training.plans]
    for index in ports.events:
        event = training.events[index]
        row.boxes.append(Box(event.start_s, event.end_s, event.label, "", index))
        for first_s, last_s, _ in inner[event.plan] if event.plan is not None else []:
            row.boxes.append(Box(event.end_s - first_s, event.end_s - last_s, DARK, "", index))
    for change in dark:
        if change.event in mine:
            parts = ((change.first_s, change.exposed_s, HIDDEN), (change.exposed_s, change.last_s, DARK))
            for first_s, last_s, role in parts:
                spans = within_iteration(first_s, last_s, training.total_s)
                row.boxes.extend(Box(*span, role, "", change.event) for span in spans)
    return row


def _spread(found: Sequence[Numbered]) -> list[Numbered]:
    """All, or as many as can be seen, evenly spread, the first and the last among them."""
    if len(found) <= MOST_ROWS:
        return list(found)
    return [found[row * (len(found) - 1) // (MOST_ROWS - 1)] for row in range(MOST_ROWS)]


def placed(row: Row) -> Iterator[tuple[Box, int, int]]:
    """Boxes of a row, each with its lane and how many there are: those at the same time in several, dark ones last."""
    ends_s: list[float] = []
    lanes: dict[int, int] = {}
    for box in sorted(box for box in row.boxes if not box.is_dark):
        # A box that ends when another begins may end a rounding error later.
        slack_s = 1e-9 * (box.last_s - box.first_s)
        free = next((lane for lane, end_s in enumerate(ends_s) if end_s <= box.first_s + slack_s), len(ends_s))
        lane = min(free, MOST_LANES - 1)
        if lane == len(ends_s):
            ends_s.append(box.last_s)
        ends_s[lane] = max(ends_s[lane], box.last_s)
        lanes[box.event] = lane
    for box in sorted(row.boxes, key=lambda box: box.is_dark):
        yield box, lanes.get(box.event, 0), max(len(ends_s), 1)


def timeline(training: Training) -> list[dict[str, Any]]:
    """The rows as JSON has them: `name`, `lanes` and `boxes`; a box with its `lane`, in the order of drawing."""
    rows: list[dict[str, Any]] = []
    for row in training_rows(training):
        boxes = list(placed(row))
        lanes = boxes[0][2] if boxes else 1
        told = [{**box._asdict(), "lane": lane} for box, lane, _ in boxes]
        rows.append({"name": row.name, "lanes": lanes, "boxes": told})
    return rows

"""The course of an iteration: ranks that compute alike, ports that are used alike, and when circuits are dark."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.training.members import COMPUTE, SENDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightloom.plans import Plan
    from lightloom.training.result import Event, Training

__all__ = [
    "Change",
    "Numbered",
    "changes",
    "dark_before_end",
    "labels",
    "port_sets",
    "rank_classes",
    "shares_ports",
    "spans_words",
    "within_iteration",
]


class Numbered(NamedTuple):
    """Ranks or ports that share a row, its name, and the places of its events, in the order of nodes."""

    name: str
    numbers: tuple[int, ...]
    events: tuple[int, ...]


class Change(NamedTuple):
    """A reconfiguration before or after an event, by its place: dark from `first_s` until `last_s`.

    From `exposed_s` on it is waited for. Times are seconds since the iteration began; they are below 0 where circuits
    change while the iteration before ends, and beyond the end where the next one has begun.
    """

    event: int
    first_s: float
    exposed_s: float
    last_s: float


def rank_classes(training: Training) -> list[Numbered]:
    """Classes of ranks that take part in the same computations, named like the group of these ranks if there is one."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for index, event in enumerate(training.events):
        if event.kind == COMPUTE:
            alike.setdefault(event.ranks, []).append(index)
    taken: dict[int, list[int]] = {}
    for place, ranks in enumerate(alike):
        for rank in ranks:
            taken.setdefault(rank, []).append(place)
    classes: dict[tuple[int, ...], list[int]] = {}
    for rank in sorted(taken):
        classes.setdefault(tuple(taken[rank]), []).append(rank)
    events = list(alike.values())
    named = {tuple(sorted(ranks)): name for name, ranks in training.groups.items()}
    return [
        Numbered(
            _ranks_name(tuple(ranks), training, named),
            tuple(ranks),
            tuple(sorted(index for place in places for index in events[place])),
        )
        for places, ranks in classes.items()
    ]


def _ranks_name(ranks: tuple[int, ...], training: Training, named: dict[tuple[int, ...], str]) -> str:
    if len(ranks) == training.ranks:
        return "all ranks"
    return named.get(ranks, f"{'rank' if len(ranks) == 1 else 'ranks'} {spans_words(ranks)}")


def labels(training: Training) -> list[str]:
    """Axes in the order of the mesh, then groups in the order of use, then sends: those that communicate."""
    used = dict.fromkeys(event.label for event in training.events if event.kind != COMPUTE)
    axes = [axis for axis in training.mesh if axis in used]
    return [*axes, *(label for label in used if label not in {*axes, SENDS}), *([SENDS] if SENDS in used else [])]


def port_sets(training: Training) -> list[Numbered]:
    """Sets of ports that are always used together: the ports from 0, and names with their numbers from 1."""
    users: dict[int, list[int]] = {}
    for index, event in enumerate(training.events):
        for port in event.ports:
            users.setdefault(port, []).append(index)
    sets: dict[tuple[int, ...], list[int]] = {}
    for port in sorted(users):
        sets.setdefault(tuple(users[port]), []).append(port)
    return [
        Numbered(
            f"{'port' if len(ports) == 1 else 'ports'} {spans_words([port + 1 for port in ports])}",
            tuple(ports),
            events,
        )
        for events, ports in sets.items()
    ]


def spans_words(numbers: tuple[int, ...] | list[int]) -> str:
    """`0–3, 8` for rising whole numbers; of many runs the first ones, and how many numbers there are."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = [str(first) if first == last else f"{first}–{last}" for first, last in runs]
    return ", ".join(words) if len(words) <= 3 else f"{', '.join(words[:2])}, … ({len(numbers)})"


def changes(training: Training) -> list[Change]:
    """Every reconfiguration between events, by event.

    Before an event ports are dark from their last use on: for the first one from that of the iteration before, which is
    the same; where islands share ports, only from as late as the change can begin, as others may use them until then.
    After an event that brings them back to the resting topology they are dark from its end on, unless it ends with
    that.
    """
    delay_s = training.fabric.reconfiguration.scalar_s or 0.0
    if not delay_s:
        return []
    made = []
    shares = shares_ports(training)
    waited = {event.waits_for: event.start_s for event in training.events}
    for index, last_use_s in _last_uses(training, delay_s):
        event = training.events[index]
        if event.reconfigured:
            exposed_s = min(event.reconfiguration_exposed_s, delay_s)
            is_late = bool(exposed_s) or shares
            first_s = event.start_s - delay_s if is_late else min(last_use_s, event.start_s - delay_s)
            made.append(Change(index, first_s, first_s + delay_s - exposed_s, first_s + delay_s))
        if _changes_back(training, event):
            last_s = event.end_s + delay_s
            is_waited_for = waited.get(index, -1.0) >= last_s - 1e-6 * delay_s
            made.append(Change(index, event.end_s, event.end_s if is_waited_for else last_s, last_s))
    return sorted(made)


def shares_ports(training: Training) -> bool:
    """Whether GPUs of islands share ports, so that circuits are set up as late as they can be."""
    return (training.fabric.optical_layer or "").startswith("islands:")


def _changes_back(training: Training, event: Event) -> bool:
    """Whether circuits change after an event: those of its end may be the resting topology's already."""
    if not event.returns or event.plan is None:
        return event.returns and event.direct
    plan = training.plans[event.plan]
    return plan.steps[-1].topology_name != plan.initial


def _last_uses(training: Training, delay_s: float) -> Iterator[tuple[int, float]]:
    """For each event that holds ports: its index, and when one of the ports last carried data or was changed back."""
    holding = [(event.start_s, index, event) for index, event in enumerate(training.events) if event.ports]
    ports = max((event.ports[-1] for _, _, event in holding), default=0) + 1
    until_s = np.full((training.ranks, ports), -np.inf)

    @cache
    def place_of(ranks: tuple[int, ...], ports: tuple[int, ...]) -> tuple[NDArray[np.intp], ...]:
        return np.ix_(ranks, ports)

    def use(event: Event, shift_s: float) -> None:
        place = place_of(event.ranks, event.ports)
        free_s = event.end_s + (delay_s if _changes_back(training, event) else 0.0)
        until_s[place] = np.maximum(until_s[place], free_s - shift_s)

    for _, _, event in holding:
        use(event, training.total_s)
    for _, index, event in sorted(holding, key=lambda one: one[:2]):
        yield index, float(until_s[place_of(event.ranks, event.ports)].max())
        use(event, 0.0)


def within_iteration(first_s: float, last_s: float, total_s: float) -> list[tuple[float, float]]:
    """The span as an iteration that repeats has it: parts before its beginning are at its end, and the reverse."""
    shifted = [(first_s + shift_s, last_s + shift_s) for shift_s in (0.0, total_s, -total_s)]
    spans = [(max(0.0, first), min(total_s, last)) for first, last in shifted]
    return sorted((first, last) for first, last in spans if last > first)


def dark_before_end(plan: Plan) -> list[tuple[float, float, str]]:
    """The times at which circuits are dark within a plan, in seconds before its end, and the topology that is set up.

    Circuits are dark before every step that changes them, except the first step: its circuits are set up before the
    communication begins.
    """
    spans, before_end_s = [], 0.0
    for step in reversed(plan.steps):
        before_end_s += step.total_s
        if step.reconfiguration_s and step.index:
            spans.append((before_end_s, before_end_s - step.reconfiguration_s, step.topology_name))
    return spans[::-1]

"""A planned iteration timed again with other durations: the same order, ports and circuits.

Nothing of the planner is in here: only the document says in which order events are, on which ports, and over which
circuits. Docs: docs/simulation.md.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom.simulation.port_uses import RESTING, UNKNOWN, Use, port_uses
from lightloom.training.members import COMPUTE
from lightloom.training.timeline import shares_ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lightloom.training.result import Training

__all__ = ["Retimed", "retimed"]

# Iterations that are followed until one takes as long as the one before.
MOST_ITERATIONS = 100
# Times this close, relative to the iteration's, are the same.
SAME = 1e-12


class Retimed(NamedTuple):
    """Times of events, s since the iteration began, in the order of nodes; total_s: the last end.

    iterations: how many were followed until one was as the one before.
    """

    starts_s: NDArray[np.float64]
    ends_s: NDArray[np.float64]
    total_s: float
    iterations: int


def retimed(training: Training, durations_s: Sequence[float]) -> Retimed:
    """Start and end of events of these durations, in the order of nodes, s.

    An event starts when all that it waits for is done: its predecessors; computation on its ranks that comes
    earlier; the collective before it in its stream; the events before it on its ports, with the change of circuits
    after them; and where its ports have other circuits than it begins with, the reconfiguration delay after their last
    use. Where islands of GPUs share ports, the communications that have ended before its circuits are set up in the
    plan have so here, so that no more circuits are lit at once. Iterations follow one another, each from the end of the
    one before, until two are alike.

    Raises `InputError` for messages that have no path.
    """
    course = _Course(training, durations_s)
    before: Retimed | None = None
    for iteration in range(MOST_ITERATIONS):
        found = course.follow(iteration + 1)
        if before is not None and np.allclose(found.ends_s, before.ends_s, rtol=0.0, atol=SAME * found.total_s):
            return found
        before = found
    return found


class _Course:
    """Ports of ranks, event by event, over iterations."""

    def __init__(self, training: Training, durations_s: Sequence[float]) -> None:
        self._training, self._durations_s = training, durations_s
        self._uses = port_uses(training)
        self._change_s = training.fabric.reconfiguration.scalar_s or 0.0
        self._waits = _waits(training)
        self._order = list(_order(training, self._waits))
        self._ranks = [np.array(event.ranks) if event.kind == COMPUTE else None for event in training.events]
        slots = training.ranks * training.fabric.ports
        self._circuits = np.full(slots, UNKNOWN, dtype=np.int64)
        self._resting = np.full(slots, UNKNOWN, dtype=np.int64)
        # Until when ports are held, s.
        self._held_s = np.full(slots, -np.inf)
        # The event that used each port last, or -1.
        self._users = np.full(slots, -1, dtype=np.int64)
        self._before = _before(training, self._change_s)
        self._earlier_ends_s = np.full(len(self._order), -np.inf)
        for use in self._uses:
            if use is not None and use.rests is not None:
                self._resting[use.slots] = use.rests

    def follow(self, iterations: int) -> Retimed:
        """One more iteration; ports keep their circuits."""
        starts_s, ends_s = (np.zeros(len(self._order)) for _ in range(2))
        computed_s = np.zeros(self._training.ranks)
        for index in self._order:
            start_s = max((float(ends_s[other]) for other in self._waits[index]), default=0.0)
            ranks, use = self._ranks[index], self._uses[index]
            if ranks is not None:
                start_s = max(start_s, float(computed_s[ranks].max(initial=0.0)))
            if use is not None:
                start_s = self._begin(use, start_s)
                if index in self._before:
                    start_s = max(start_s, self._before[index].ready_s(ends_s, self._earlier_ends_s))
            starts_s[index], ends_s[index] = start_s, start_s + self._durations_s[index]
            if ranks is not None:
                computed_s[ranks] = ends_s[index]
            if use is not None:
                self._end(use, float(ends_s[index]))
                self._users[use.slots] = index
                gone = np.isin(self._users, self._training.events[index].gives_up)
                gone[use.slots] = False
                self._circuits[gone], self._users[gone] = UNKNOWN, -1
        total_s = float(ends_s.max(initial=0.0))
        self._held_s -= total_s
        self._earlier_ends_s = ends_s - total_s
        return Retimed(starts_s, ends_s, total_s, iterations)

    def _begin(self, use: Use, start_s: float) -> float:
        """The time at which an event can start, not before `start_s`: its ports are free then and have its circuits."""
        in_place = self._has(use)
        held_s = self._held_s[use.slots]
        start_s = max(start_s, float(held_s.max()))
        if not in_place.all():
            start_s = max(start_s, float(held_s[~in_place].max()) + self._change_s)
        return start_s

    def _has(self, use: Use) -> NDArray[np.bool_]:
        """The ports of an event that have the circuits with which it begins."""
        circuits = self._circuits[use.slots]
        in_place: NDArray[np.bool_] = circuits == use.needs
        if use.needs_resting:
            resting = self._resting[use.slots]
            rests_so = (circuits == RESTING) & ((resting == UNKNOWN) | (resting == use.needs))
            self._resting[use.slots] = np.where(rests_so, use.needs, resting)
            in_place |= rests_so
        return in_place

    def _end(self, use: Use, end_s: float) -> None:
        until_s = end_s + (self._change_s if use.changes_back else 0.0)
        self._circuits[use.slots] = use.leaves
        self._held_s[use.slots] = until_s


class _Before(NamedTuple):
    """The events that end before an event's circuits are set up, in this iteration and in the one before.

    change_s: how long that takes.
    """

    now: NDArray[np.intp]
    earlier: NDArray[np.intp]
    change_s: float

    def ready_s(self, ends_s: NDArray[np.float64], earlier_ends_s: NDArray[np.float64]) -> float:
        """When its circuits are set up at the earliest."""
        ended_s = max(ends_s[self.now].max(initial=-np.inf), earlier_ends_s[self.earlier].max(initial=-np.inf))
        return float(ended_s + self.change_s)


def _before(training: Training, change_s: float) -> dict[int, _Before]:
    """By communication, where the optical layer limits how many circuits are lit at once, what it follows."""
    if not shares_ports(training):
        return {}
    communicates = np.array([event.kind != COMPUTE for event in training.events])
    ends_s = np.array([event.end_s for event in training.events])
    starts_s = np.array([event.start_s for event in training.events])
    slack_s = SAME * training.total_s
    made = {}
    for index in np.flatnonzero(communicates):
        own_s = change_s if training.events[index].reconfigured else 0.0
        begins_s = starts_s[index] - own_s + slack_s
        earlier = communicates & (ends_s - training.total_s <= begins_s)
        now = communicates & (ends_s <= begins_s)
        now[index] = False
        made[int(index)] = _Before(np.flatnonzero(now), np.flatnonzero(earlier), own_s)
    return made


def _waits(training: Training) -> list[list[int]]:
    """The events that end before each event starts, on any ports: its predecessors, and those of its streams."""
    places = {event.node: index for index, event in enumerate(training.events)}
    last: dict[tuple[str, int], int] = {}
    found = []
    for index, (node, event) in enumerate(zip(training.nodes, training.events, strict=True)):
        waits = {places[name] for name in node["after"]}
        if node.get("stream") is not None:
            for rank in event.ranks:
                if (before := last.get((node["stream"], rank))) is not None:
                    waits.add(before)
                last[node["stream"], rank] = index
        found.append(sorted(waits))
    return found


def _order(training: Training, waits: list[list[int]]) -> Iterator[int]:
    """Events by their planned starts, each after what it waits for, also where rounding says otherwise."""
    missing = [len(before) for before in waits]
    followers: list[list[int]] = [[] for _ in waits]
    for index, before in enumerate(waits):
        for other in before:
            followers[other].append(index)

    def entry(index: int) -> tuple[Any, ...]:
        event = training.events[index]
        return event.start_s, event.end_s, index

    ready = [entry(index) for index, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    while ready:
        index = heapq.heappop(ready)[-1]
        yield index
        for follower in followers[index]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, entry(follower))

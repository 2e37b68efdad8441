"""The acts of an iteration: computations, steps of collectives, and messages, with what each of them waits for."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.optics.port_maps import circuits
from lightloom.running.crossbars import ends_of
from lightloom.running.iterations.routes import routes
from lightloom.training.members import COMPUTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lightloom.optics.port_maps import Circuits
    from lightloom.plans.steps import Step
    from lightloom.training.result import Training

__all__ = ["Act", "Course", "IterationChange", "course_of"]

# Moments of a plan that differ by less than this part of the iteration are the same.
ROUNDING = 1e-9


class Act(NamedTuple):
    """A computation, a step of a collective in all of its groups, or the messages of a send, in one iteration.

    event: its place in `Training.events`. step: of the event's plan, from 0. first_s, last_s: planned, since its
    iteration began; the reconfiguration before a later step is not in it.
    """

    iteration: int
    event: int
    step: int
    first_s: float
    last_s: float


class IterationChange(NamedTuple):
    """A change of circuits in one iteration: to a configuration of `Course.circuits` from the one before it.

    time_s: when it has to begin, since its iteration began.
    """

    iteration: int
    configuration: int
    time_s: float


@dataclass(frozen=True)
class Course:
    """Iterations one after the other, each act after those that it waits for.

    acts: an event's, in order, follow each other. configuration: by act, the one whose circuits it uses. after, needs:
    by act, the acts that have ended and the changes that are made when it begins. change_after, after_changes, follows:
    by change, the acts that have ended, the changes that are made, and those that are asked for, when it is asked for.
    ends: by configuration and transmitter, the receiver, or -1. paths: by event of messages, the ranks that each
    passes, its ends among them.
    """

    training: Training
    iterations: int
    circuits: Circuits
    ends: NDArray[np.int64]
    acts: tuple[Act, ...]
    configuration: tuple[int, ...]
    changes: tuple[IterationChange, ...]
    after: list[set[int]] = field(repr=False)
    needs: list[set[int]] = field(repr=False)
    change_after: list[set[int]] = field(repr=False)
    after_changes: list[set[int]] = field(repr=False)
    follows: list[set[int]] = field(repr=False)
    paths: dict[int, tuple[tuple[int, ...], ...]] = field(repr=False)

    @cached_property
    def first_acts(self) -> NDArray[np.int64]:
        """By iteration and event, the index of its first act."""
        firsts = np.full((self.iterations, len(self.training.events)), -1, dtype=np.int64)
        for index, act in enumerate(self.acts):
            if act.step == 0:
                firsts[act.iteration, act.event] = index
        return firsts

    @cached_property
    def last_acts(self) -> NDArray[np.int64]:
        """By iteration and event, the index of its last act."""
        lasts = np.empty((self.iterations, len(self.training.events)), dtype=np.int64)
        for index, act in enumerate(self.acts):
            lasts[act.iteration, act.event] = index
        return lasts

    def ranks_of(self, event: int) -> tuple[int, ...]:
        """The ranks that take part in an event, those that pass its messages on among them, rising."""
        ranks = self.training.events[event].ranks
        passing = {rank for path in self.paths.get(event, ()) for rank in path} - set(ranks)
        return tuple(sorted({*ranks, *passing})) if passing else ranks

    def steps_of(self, event: int) -> Sequence[Step]:
        """The steps of an event's plan; none without one."""
        plan = self.training.events[event].plan
        return () if plan is None else self.training.plans[plan].steps


def course_of(training: Training, iterations: int) -> Course:
    """The course of this many iterations.

    Events wait for what the workload says, for the computation before on a rank, for whoever had their ports before,
    and the first ones of an iteration for all of the iteration before. Circuits change as `lightloom.circuits` says,
    each change once the ports are free.
    """
    on_ports = circuits(training, "crossbar")
    ends = ends_of(on_ports, training.ranks * training.fabric.ports)
    order = _in_order(training)
    acts = tuple(
        act for iteration in range(iterations) for event in order for act in _acts_of(training, iteration, event)
    )
    times_s = [held.time_s for held in on_ports.configurations]
    configuration = tuple(bisect_right(times_s, (act.first_s + act.last_s) / 2) - 1 for act in acts)
    changes = tuple(
        IterationChange(iteration, held.index, held.time_s)
        for iteration in range(iterations)
        for held in on_ports.configurations[1:]
    )
    made = Course(
        training,
        iterations,
        on_ports,
        ends,
        acts,
        tuple(max(index, 0) for index in configuration),
        changes,
        [set() for _ in acts],
        [set() for _ in acts],
        [set() for _ in changes],
        [set() for _ in changes],
        [set() for _ in changes],
        {},
    )
    for event in (event for event in order if training.events[event].kind == "send"):
        told, lit = training.events[event], ends[made.configuration[made.first_acts[0, event]]]
        pairs = training.members.pairs_of(training.nodes[event])
        made.paths[event] = routes(pairs, lit, told.ports, training.fabric.ports, told.node)
    _wait_for_events(made, order)
    _wait_as_told(made)
    _wait_for_ports(made)
    return made


def _acts_of(training: Training, iteration: int, event: int) -> list[Act]:
    """The acts of an event; what changes before the first step of its plan does so before it begins."""
    told = training.events[event]
    steps = () if told.plan is None else training.plans[told.plan].steps
    if not steps:
        return [Act(iteration, event, 0, told.start_s, told.end_s)]
    lasts_s = told.end_s - np.append(np.cumsum([step.total_s for step in steps[:0:-1]])[::-1], 0.0)
    return [
        Act(iteration, event, step.index, last_s - step.total_s + step.reconfiguration_s, last_s)
        for step, last_s in zip(steps, lasts_s.tolist(), strict=True)
    ]


def _in_order(training: Training) -> list[int]:
    """The events in the order of their times, each after those that it waits for."""
    waits = waits_of(training)
    missing = [len(before) for before in waits]
    followers: list[list[int]] = [[] for _ in waits]
    for event, before in enumerate(waits):
        for one in before:
            followers[one].append(event)
    times = [(event.start_s, event.end_s) for event in training.events]
    ready = [(*times[event], event) for event in range(len(waits)) if not missing[event]]
    heapq.heapify(ready)
    order = []
    while ready:
        event = heapq.heappop(ready)[-1]
        order.append(event)
        for follower in followers[event]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, (*times[follower], follower))
    return order


def waits_of(training: Training) -> list[set[int]]:
    """By event, those that it names, and on each rank the collective before it in its stream."""
    places = {event.node: index for index, event in enumerate(training.events)}
    last: dict[tuple[str, int], int] = {}
    waits = []
    for index, (node, event) in enumerate(zip(training.nodes, training.events, strict=True)):
        before = {places[name] for name in node["after"]}
        if stream := node.get("stream"):
            before |= {last[stream, rank] for rank in event.ranks if (stream, rank) in last}
            last.update(dict.fromkeys(((stream, rank) for rank in event.ranks), index))
        waits.append(before)
    return waits


def _wait_for_events(course: Course, order: Sequence[int]) -> None:
    """Acts wait for the act before of their event, for events of their iteration, and for the iteration before."""
    training, firsts, lasts = course.training, course.first_acts, course.last_acts
    waits = waits_of(training)
    computing: dict[int, int] = {}
    for event in order:
        told = training.events[event]
        if told.kind == COMPUTE:
            waits[event] |= {computing[rank] for rank in told.ranks if rank in computing}
            computing.update(dict.fromkeys(told.ranks, event))
        if told.waits_for is not None and training.events[told.waits_for].end_s <= told.start_s + _slack_s(training):
            waits[event].add(told.waits_for)
    followed = set().union(*waits)
    unfollowed = [event for event in order if event not in followed]
    for index, act in enumerate(course.acts):
        if act.step:
            course.after[index].add(index - 1)
            continue
        course.after[index] |= {int(lasts[act.iteration, before]) for before in waits[act.event]}
        if not waits[act.event] and act.iteration:
            course.after[index] |= {int(lasts[act.iteration - 1, before]) for before in unfollowed}
    assert (firsts >= 0).all()  # noqa: S101


def _wait_as_told(course: Course) -> None:
    """Changes wait for the events after which, and acts for the changes before which, circuits are to change."""
    training, slack_s = course.training, _slack_s(course.training)
    places = {event.node: index for index, event in enumerate(training.events)}
    for index, (iteration, configuration, time_s) in enumerate(course.changes):
        told = course.circuits.configurations[configuration].events
        if told is None:
            continue
        within = set()
        for name, step in zip(told.before, told.steps, strict=True):
            event = places[name]
            of_next = step == 0 and training.events[event].start_s < time_s - slack_s
            if iteration + of_next >= course.iterations:
                continue
            act = int(course.first_acts[iteration + of_next, event]) + step
            course.needs[act].add(index)
            if step:
                within.add(event)
                course.change_after[index].add(act - 1)
        for event in {places[name] for name in told.after} - within:
            of_last = training.events[event].end_s > time_s + slack_s
            if iteration >= of_last:
                course.change_after[index].add(int(course.last_acts[iteration - of_last, event]))


def _wait_for_ports(course: Course) -> None:
    """Acts wait for the act that used one of their ports before, and for the port's last change; changes wait likewise.

    A change waits until the one before is made if the plan has it made by then. A port that only went dark, since the
    other end of its circuit changed, may change again at once: that change follows.
    """
    training = course.training
    ports, total_s = training.fabric.ports, training.total_s
    last_act = np.full(training.ranks * ports, -1, dtype=np.int64)
    last_change = np.full(len(last_act), -1, dtype=np.int64)
    last_towards = np.full(len(last_act), -1, dtype=np.int64)
    slots = [_slots_of(course, event) for event in range(len(training.events))]
    acts = [
        (act.iteration * total_s + (act.first_s + act.last_s) / 2, 1, index) for index, act in enumerate(course.acts)
    ]
    times_s = [change.iteration * total_s + change.time_s for change in course.changes]
    changes = [(time_s, 0, index) for index, time_s in enumerate(times_s)]
    dark_s = training.fabric.reconfiguration.scalar_s or 0.0
    for _, is_act, index in sorted(acts + changes):
        if is_act:
            used = slots[course.acts[index].event]
            if course.acts[index].step == 0:
                course.after[index] |= _known(last_act[used])
            course.needs[index] |= _known(last_change[used])
            last_act[used] = index
            continue
        configuration = course.changes[index].configuration
        before, after = course.ends[configuration - 1], course.ends[configuration]
        changed = np.flatnonzero(before != after)
        towards = np.concatenate([before[changed], after[changed]])
        towards = towards[towards >= 0]
        course.change_after[index] |= _known(last_act[changed])
        for one in _known(last_change[changed]) | _known(last_towards[towards]):
            is_made = times_s[one] + dark_s <= times_s[index] + _slack_s(training)
            (course.after_changes if is_made else course.follows)[index].add(one)
        last_change[changed] = index
        last_towards[towards] = index


def _slots_of(course: Course, event: int) -> NDArray[np.int64]:
    """The transmitters that an event holds: rank · ports + port."""
    told, ports = course.training.events[event], course.training.fabric.ports
    ranks = np.array(course.ranks_of(event) if told.ports else (), dtype=np.int64)
    return (ranks[:, None] * ports + np.array(told.ports, dtype=np.int64)).reshape(-1)


def _known(numbers: Iterable[int]) -> set[int]:
    return {int(number) for number in numbers if number >= 0}


def _slack_s(training: Training) -> float:
    return ROUNDING * training.total_s

"""A training iteration as a trace: a row for ranks that compute alike, for every axis, and for ports used alike."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from lightloom._core import show_size
from lightloom.training.members import COMPUTE
from lightloom.training.timeline import (
    Change,
    changes,
    dark_before_end,
    port_sets,
    rank_classes,
    spans_words,
    within_iteration,
)
from lightloom.views.perfetto.events import Tracks, process_names, write_events

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from lightloom.training.result import Training

# Processes of the trace, in the order in which they are shown.
RANKS, AXES, PORTS = 1, 2, 3


def write_training_trace(training: Training, path: str | os.PathLike[str]) -> None:
    """Write the trace of an iteration, whole or not at all; compressed for `.json.gz`.

    Raises `InputError` that names `trace` when the file cannot be written.
    """
    told = {
        "iteration": repr(training),
        "total_s": training.total_s,
        "compute_s": training.compute_s,
        "exposed_communication_s": training.exposed_communication_s,
        "policy": training.policy,
        "times": "since the iteration began, rounded to whole nanoseconds",
    }
    names = process_names({RANKS: "computation", AXES: "axes and groups", PORTS: "ports"})
    tracks = Tracks()
    write_events(
        path, told, chain(names, _computation(training, tracks), _axes(training, tracks), _ports(training, tracks))
    )


def _computation(training: Training, tracks: Tracks) -> Iterator[dict[str, Any]]:
    for ranks in rank_classes(training):
        for event in sorted((training.events[index] for index in ranks.events), key=lambda event: event.start_s):
            yield from tracks.put(RANKS, ranks.name, event.node, (event.start_s, event.end_s), {})


def _axes(training: Training, tracks: Tracks) -> Iterator[dict[str, Any]]:
    for index, event in sorted(enumerate(training.events), key=lambda one: one[1].start_s):
        if event.kind != COMPUTE:
            span_s = (event.start_s, event.end_s)
            yield from tracks.put(AXES, event.label, _named(training, index), span_s, _told(training, index))


def _ports(training: Training, tracks: Tracks) -> Iterator[dict[str, Any]]:
    """The traffic of ports, with the dark times within it, and the dark times before it."""
    inner = [dark_before_end(plan) for plan in training.plans]
    dark = changes(training)
    for ports in port_sets(training):
        mine = set(ports.events)
        spans: list[tuple[float, float, int | Change]] = [
            (training.events[index].start_s, training.events[index].end_s, index) for index in ports.events
        ]
        for change in dark:
            if change.event in mine:
                within = within_iteration(change.first_s, change.last_s, training.total_s)
                spans += [(*span, change) for span in within]
        for first_s, last_s, what in sorted(spans, key=lambda span: span[:2]):
            if isinstance(what, Change):
                told = _told_of_change(training, what)
                yield from tracks.put(PORTS, ports.name, "reconfiguration", (first_s, last_s), told)
                continue
            plan = training.events[what].plan
            parts = (
                []
                if plan is None
                else [
                    ("reconfiguration", (last_s - first, last_s - last), {"node": training.events[what].node, "to": to})
                    for first, last, to in inner[plan]
                ]
            )
            yield from tracks.put(PORTS, ports.name, _named(training, what), (first_s, last_s), {}, parts)


def _told_of_change(training: Training, change: Change) -> dict[str, Any]:
    """Details of a change: its event, the circuits that it sets up, and how much of it is waited for."""
    event = training.events[change.event]
    is_after = change.first_s >= event.end_s
    if is_after:
        to = training.fabric.initial
    elif event.plan is None:
        to = "circuits of their own"
    else:
        to = training.plans[event.plan].steps[0].topology_name
    return {
        "after" if is_after else "before": event.node,
        "to": str(to),
        "reconfiguration_s": change.last_s - change.first_s,
        "exposed_s": change.last_s - change.exposed_s,
    }


def _named(training: Training, index: int) -> str:
    """`tp: all-reduce of 64 MiB`."""
    event, size = training.events[index], training.sizes_bytes[index]
    what = "send" if event.plan is None else training.plans[event.plan].collective
    return f"{event.label}: {what} of {show_size(size or 0)}"


def _told(training: Training, index: int) -> dict[str, Any]:
    event = training.events[index]
    plan = None if event.plan is None else training.plans[event.plan]
    made = {
        "node": event.node,
        "ports": spans_words([port + 1 for port in event.ports]),
        "ranks": spans_words(event.ranks),
        "reconfigured": event.reconfigured,
        "reconfiguration_exposed_s": event.reconfiguration_exposed_s,
    }
    if plan is not None:
        topologies = dict.fromkeys(step.topology_name for step in plan.steps)
        made |= {"algorithm": plan.algorithm, "planner": plan.planner, "topologies": ", ".join(topologies)}
    if event.waits_for is not None:
        made["waits for"] = training.events[event.waits_for].node
    return made

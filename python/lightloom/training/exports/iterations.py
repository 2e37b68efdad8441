"""Training iterations written for other tools: every distinct plan in the tool's format, and what uses it when."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import InputError, refuse
from lightloom.formats import FOLDER, SIDE_SCHEMA
from lightloom.formats.output import MAIN, Exported

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.formats import Format
    from lightloom.plans import Plan
    from lightloom.training.result import Training

__all__ = ["EVENTS_FILE", "GRAPHS", "iteration_files", "plan_name"]

EVENTS_FILE = "events.json"
# By format the module that writes the graphs of all ranks, with a function `graph_files`.
GRAPHS = {"chakra": "lightloom.training.exports.chakra"}


def plan_name(plan: int) -> str:
    """The name of a plan in the folder of its iteration, by its place in `Training.plans`."""
    return f"plan-{plan}"


def iteration_files(chosen: Format, training: Training, written: Callable[[Plan], Exported]) -> Exported:
    """The folder of an iteration in a format: the files of every plan that an event uses, and `events.json`.

    written: the files of one plan. A format with graphs of whole jobs has the graph of every rank too.

    Raises `InputError` that names the argument, also where the format cannot hold one of the plans.
    """
    used = sorted({event.plan for event in training.events if event.plan is not None})
    files: dict[str, bytes] = {}
    notes: dict[str, None] = {}
    for place in used:
        plan = training.plans[place]
        try:
            made = written(plan)
        except InputError as error:
            raise InputError(error.field, f"{plan_name(place)}, {plan.collective} of {plan.gpus}: {error}") from error
        notes |= dict.fromkeys(made.notes)
        for key, content in made.files.items():
            files[_path(chosen, place, key)] = content
    if chosen.name in GRAPHS:
        files |= import_module(GRAPHS[chosen.name]).graph_files(training)
    if not files:
        raise refuse("plan", f"the iteration has no collective, and format {chosen.name} holds nothing else")
    files[EVENTS_FILE] = _events(chosen, training, used)
    return Exported(files, EVENTS_FILE, tuple(notes))


def _path(chosen: Format, place: int, key: str) -> str:
    if chosen.written == FOLDER:
        return f"{plan_name(place)}/{key}"
    return f"{plan_name(place)}.{chosen.name}" if key == MAIN else f"{plan_name(place)}{key}"


def _events(chosen: Format, training: Training, used: list[int]) -> bytes:
    """The times and plans of events, and the ranks of groups: JSON, times in seconds, sizes in bytes."""

    def told(index: int) -> dict[str, Any]:
        event, node = training.events[index], training.nodes[index]
        made: dict[str, Any] = {"node": event.node, "kind": event.kind, "after": node["after"]}
        made |= {"start_s": event.start_s, "end_s": event.end_s, "ports": list(event.ports)}
        if event.plan is not None:
            made |= {"plan": plan_name(event.plan), "groups": list(map(list, training.members.groups_of(node)))}
        elif event.kind == "send":
            made["pairs"] = list(map(list, training.members.pairs_of(node)))
        else:
            made["ranks"] = list(event.ranks)
        if (size := training.sizes_bytes[index]) is not None:
            made["size_bytes"] = size
        return made | {"reconfigured": event.reconfigured}

    rates_bps = training.fabric.rates_bps
    document = {
        "schema": SIDE_SCHEMA,
        "format": chosen.name,
        "name": training.name,
        "ranks": training.ranks,
        "ports": training.fabric.ports,
        "bandwidth_bps": rates_bps[0] if len(rates_bps) == 1 else rates_bps,
        "reconfiguration_delay": str(training.fabric.reconfiguration),
        "policy": training.policy,
        "total_s": training.total_s,
        "plans": [plan_name(place) for place in used],
        "events": [told(index) for index in range(len(training.events))],
    }
    return (json.dumps(document, ensure_ascii=False) + "\n").encode()

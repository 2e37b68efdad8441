"""Checks of HARVEST's `schedule.json`, as `verify` shows them."""

from __future__ import annotations

from collections import defaultdict
from math import isclose
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import InputError, refuse
from lightloom.base.files import read_text
from lightloom.formats import SIDE_SCHEMA
from lightloom.formats.harvest import read as harvest
from lightloom.formats.harvest_schedule.read import FIELD, Links, StatedSequence
from lightloom.formats.source import Source, json_object
from lightloom.planning import Check

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["verify_sequence"]

# Solvers that wrote the files round: HARVEST's published times agree with its model to 1e-4.
TOLERANCE = 1e-4


def verify_sequence(stated: StatedSequence) -> list[Check]:
    """Checks of a file: of its own numbers, and against files next to it.

    `collective.json` next to it has the data of every step, and the side file of an export the terms of its time.
    """
    checks = [Check("topologies", True, _topologies(stated)), _reconfigurations(stated)]
    side = _side_of(stated)
    checks += [_cost_beside(stated, side)] if side is not None else [_delays(stated), _cost_alone(stated)]
    beside = stated.path.with_name(harvest.FILE)
    if beside.is_file():
        source = Source(FIELD, beside)
        checks.append(_paths(stated, harvest.collective_in(source, source.json()), harvest.demands_of(source)))
    return checks


def _topologies(stated: StatedSequence) -> str:
    steps = _core.counted(len(stated.links), "step")
    distinct = _core.counted(len(set(stated.links)), "topology").replace("topologys", "topologies")
    most = max(max(_degrees(links, side)) for links in set(stated.links) for side in (0, 1))
    return f"{steps} on {distinct} of at most {_core.counted(most, 'circuit')} out of and into a GPU"


def _degrees(links: Links, side: int) -> list[int]:
    counts: dict[int, int] = defaultdict(int)
    for link in links:
        counts[link[side]] += link[2]
    return list(counts.values())


def _reconfigurations(stated: StatedSequence) -> Check:
    # The first topology is there, or made from another before the first step.
    passed = stated.reconfigurations in {stated.changes, stated.changes + 1}
    said = f"{stated.reconfigurations} stated; topologies change {_core.counted(stated.changes, 'time')}"
    return Check("reconfigurations", passed, said)


def _delays(stated: StatedSequence) -> Check:
    passed = isclose(
        stated.reconfiguration_s, stated.reconfigurations * stated.delay_s, rel_tol=TOLERANCE, abs_tol=1e-15
    )
    show = _core.show_time
    said = f"{show(stated.reconfiguration_s)} stated for {stated.reconfigurations} of {show(stated.delay_s)} each"
    return Check("delays", passed, said)


def _cost_alone(stated: StatedSequence) -> Check:
    total, changes = _core.show_time(stated.total_s), _core.show_time(stated.reconfiguration_s)
    if stated.total_s < stated.reconfiguration_s:
        return Check("cost", False, f"{total} stated, less than the {changes} for reconfigurations")
    return Check(
        "cost",
        True,
        f"{total} stated, not less than the {changes} of reconfigurations; the rest is not checked, since bandwidth, "
        "startup and hop delays are not in the file (`lightloom plan --sequence FILE` computes it)",
    )


def _side_of(stated: StatedSequence) -> dict[str, Any] | None:
    """The side file of an export next to the file; None if there is none."""
    path = stated.path.with_name(harvest.SIDE)
    if not path.is_file():
        return None
    try:
        document = json_object(FIELD, read_text(FIELD, path, harvest.MAX_SIDE_BYTES))
    except InputError as error:
        raise InputError(FIELD, f"{error} (in `{path}`)") from error
    return document if document.get("schema") == SIDE_SCHEMA else None


def _cost_beside(stated: StatedSequence, side: dict[str, Any]) -> Check:
    """Whether time and reconfigurations are the sums of the terms of the steps in the side file."""
    show = _core.show_time
    try:
        # A barrier is stated where it takes time.
        names = ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s")
        terms = [
            [float(step["barrier_s"]) if "barrier_s" in step else 0.0, *(float(step[name]) for name in names)]
            for step in side["steps"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise refuse(
            FIELD, f"`{harvest.SIDE}` next to `{stated.path}` does not state the terms of every step"
        ) from error
    total_s, changes_s = sum(map(sum, terms)), sum(one[-1] for one in terms)
    passed = isclose(total_s, stated.total_s, rel_tol=TOLERANCE) and isclose(
        changes_s, stated.reconfiguration_s, rel_tol=TOLERANCE, abs_tol=1e-15
    )
    said = (
        f"{show(stated.total_s)} stated, {show(stated.reconfiguration_s)} of it for reconfigurations; the steps' terms "
        f"in {harvest.SIDE} are {show(total_s)} and {show(changes_s)}"
    )
    return Check("cost", passed, said)


def _paths(stated: StatedSequence, collective: str, demands: list[harvest.Demand]) -> Check:
    """Whether every step of the collective has a topology, on which all that it sends has a path."""
    if collective != stated.collective:
        return Check(
            "paths", False, f"{harvest.FILE} is for {collective}, but the topologies are for {stated.collective}"
        )
    if len(demands) != len(stated.links):
        steps = _core.counted(len(demands), "step")
        return Check("paths", False, f"{harvest.FILE} has {steps}, but topologies are given for {len(stated.links)}")
    reachable: dict[Links, Callable[[int], set[int]]] = {}
    for number, (links, demand) in enumerate(zip(stated.links, demands, strict=True), 1):
        reached = reachable.setdefault(links, _reached_on(links))
        for source, destination in demand:
            if destination not in reached(source):
                return Check(
                    "paths",
                    False,
                    f"step {number} sends from GPU {source} to {destination}, but its topology has no path",
                )
    count = sum(map(len, demands))
    return Check("paths", True, f"{count} demands of {harvest.FILE} have a path on their step's topology")


def _reached_on(links: Links) -> Callable[[int], set[int]]:
    """A function that returns the GPUs that light from a GPU reaches, over any number of circuits."""
    following: dict[int, list[int]] = defaultdict(list)
    for source, destination, _ in links:
        following[source].append(destination)
    known: dict[int, set[int]] = {}

    def reached(start: int) -> set[int]:
        if start not in known:
            found, open_ones = {start}, [start]
            while open_ones:
                for gpu in following[open_ones.pop()]:
                    if gpu not in found:
                        found.add(gpu)
                        open_ones.append(gpu)
            known[start] = found
        return known[start]

    return reached

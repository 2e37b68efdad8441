"""The fastest of all orders of a planned iteration's events, by what its document says: no code of the planner.

Every event keeps its duration, its ports and its circuits. An order gives the events their starts one after the other,
each as early as it can be; the iteration is followed by the next one in the same order until two of them are alike.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightloom.training.members import Members
from tests.reference.iteration_ports import path_between

if TYPE_CHECKING:
    from lightloom.training.result import Training

# Orders whose iterations drift into each other slowly take hundreds until two are alike.
MOST_ITERATIONS = 2000
RESTING = "resting"


@dataclass(frozen=True)
class Use:
    """The use of a port by an event: the circuits that it takes (any of these) and leaves, and dark time after it."""

    needs: frozenset[Hashable]
    leaves: Hashable
    dark_s: float


@dataclass(frozen=True)
class Iteration:
    """Events by number: durations, predecessors, and the things that do one at a time."""

    delay_s: float
    durations_s: list[float]
    before: list[set[int]]
    # Who computes, by event; who communicates, by event and port of a rank.
    computing: list[frozenset[int]]
    uses: list[dict[Hashable, Use]]


def read(training: Training) -> Iteration:
    """The iteration of a document."""
    told = json.loads(training.to_json())
    workload, delay_s = told["workload"], told["fabric"]["reconfiguration_delay_s"]
    members = Members(workload)
    nodes: list[dict[str, Any]] = workload["nodes"]
    places = {node["id"]: place for place, node in enumerate(nodes)}
    before = [{places[name] for name in node["after"]} for node in nodes]
    last: dict[tuple[str, int], int] = {}
    for place, node in enumerate(nodes):
        if node["kind"] == "collective" and node.get("stream") is not None:
            for rank in members.ranks_of(node):
                key = (node["stream"], rank)
                before[place] |= {last[key]} if key in last else set()
                last[key] = place
    computing, uses = [], []
    for node, event in zip(nodes, told["events"], strict=True):
        ranks = members.ranks_of(node)
        computing.append(frozenset(ranks) if node["kind"] == "compute" else frozenset())
        uses.append({} if node["kind"] == "compute" else _uses(told, node, event, members, delay_s))
    durations_s = [event["end_s"] - event["start_s"] for event in told["events"]]
    return _merged(Iteration(delay_s, durations_s, before, computing, uses))


def _uses(
    told: dict[str, Any], node: dict[str, Any], event: dict[str, Any], members: Members, delay_s: float
) -> dict[Hashable, Use]:
    ports = tuple(event["ports"])
    first: Hashable
    last: Hashable
    rests: Hashable
    of_rank: dict[int, Hashable]
    if node["kind"] == "collective":
        plan = told["plans"][event["plan"]]
        links = {topology["id"]: _links(topology) for topology in plan["topologies"]}
        first, last = (links[plan["steps"][at]["topology"]] for at in (0, -1))
        rests = links.get(plan["initial_topology"]) if event["returns"] else None
        of_rank = {rank: (group,) for group in members.groups_of(node) for rank in group}
    elif event["direct"]:
        pairs = sorted(members.pairs_of(node))
        of_rank = {rank: ("messages", *(pair for pair in pairs if rank in pair)) for pair in pairs for rank in pair}
        first, last, rests = "messages", "messages", None
    else:
        topology = told["topologies"][event["topology"]]
        first = last = _links(topology)
        rests = first if topology["rests"] else None
        group_of = {rank: group for group in members.groups_along(topology["axis"]) for rank in group}
        messages = members.pairs_of(node)
        of_rank = {rank: (group_of[rank],) for pair in messages for rank in pair}
        if any(_hops(topology["links"], group_of[source], source, to) > 1 for source, to in messages):
            # Messages that pass other ranks hold the ports of all of their groups.
            of_rank |= {rank: (group_of[end],) for end in [*of_rank] for rank in group_of[end]}
    made: dict[Hashable, Use] = {}
    for rank, whose in of_rank.items():
        needs: set[Hashable] = {(whose, first, ports), *([RESTING] if rests == first else [])}
        leaves: Hashable = RESTING if event["returns"] else (whose, last, ports)
        dark_s = delay_s if event["returns"] and rests != last else 0.0
        made |= {(rank, port): Use(frozenset(needs), leaves, dark_s) for port in ports}
    return made


def _hops(links: list[list[int]], group: tuple[int, ...], source: int, destination: int) -> int:
    circuits = [(tail, head) for tail, head, _ in links]
    return len(path_between(circuits, group.index(source), group.index(destination))) - 1


def _links(topology: dict[str, Any]) -> Hashable:
    return tuple(sorted(tuple(link) for link in topology["links"]))


def _merged(iteration: Iteration) -> Iteration:
    """Ranks and ports that always do the same, once."""
    ranks = {rank for ranks in iteration.computing for rank in ranks}
    alike: dict[Hashable, int] = {}
    for rank in sorted(ranks):
        alike.setdefault(tuple(rank in computing for computing in iteration.computing), rank)
    kept = set(alike.values())
    ports = {port for uses in iteration.uses for port in uses}
    # Circuits differ from group to group: only whether a port has the needed circuits counts.
    profiles: dict[Hashable, Hashable] = {}
    for port in sorted(ports, key=repr):
        of = [uses.get(port) for uses in iteration.uses]
        profile = tuple(
            None if one is None else (one.dark_s, *(two is not None and two.leaves in one.needs for two in of))
            for one in of
        )
        profiles.setdefault(profile, port)
    chosen = set(profiles.values())
    return Iteration(
        iteration.delay_s,
        iteration.durations_s,
        iteration.before,
        [frozenset(computing & kept) for computing in iteration.computing],
        [{port: use for port, use in uses.items() if port in chosen} for uses in iteration.uses],
    )


def orders(before: list[set[int]], begun: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All orders in which each comes after all that it waits for."""
    if len(begun) == len(before):
        yield begun
    for event, waits in enumerate(before):
        if event not in begun and waits <= set(begun):
            yield from orders(before, (*begun, event))


def period_s(iteration: Iteration, order: tuple[int, ...]) -> float | None:
    """Time of an iteration in an order; None where they do not become alike."""
    ports: dict[Hashable, tuple[float, Hashable]] = {}
    for _ in range(MOST_ITERATIONS):
        began = dict(ports)
        ends = [0.0] * len(order)
        busy: dict[int, float] = {}
        for event in order:
            start_s = max((ends[other] for other in iteration.before[event]), default=0.0)
            for rank in iteration.computing[event]:
                start_s = max(start_s, busy.get(rank, 0.0))
            for port, use in iteration.uses[event].items():
                free_s, circuits = ports.get(port, (-iteration.delay_s, None))
                start_s = max(start_s, free_s + (0.0 if circuits in use.needs else iteration.delay_s))
            ends[event] = end_s = start_s + iteration.durations_s[event]
            busy |= dict.fromkeys(iteration.computing[event], end_s)
            ports |= {port: (end_s + use.dark_s, use.leaves) for port, use in iteration.uses[event].items()}
        total_s = max(ends)
        ports = {port: (free_s - total_s, circuits) for port, (free_s, circuits) in ports.items()}
        if began.keys() == ports.keys() and all(
            abs(ports[port][0] - free_s) <= 1e-12 * total_s and ports[port][1] == circuits
            for port, (free_s, circuits) in began.items()
        ):
            return total_s
    return None


def least_s(iteration: Iteration) -> float:
    """The least time of all orders."""
    times = (period_s(iteration, order) for order in orders(iteration.before))
    return min(time_s for time_s in times if time_s is not None)

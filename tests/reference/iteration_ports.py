"""The circuits on ports of ranks that the events of a planned iteration need and leave, by its document alone.

A circuit joins a port of one rank to a port of another, in one direction: port p of a rank sends over one circuit and
receives over another. (docs/cost-model.md, training iterations; docs/reference/json.md, `lightloom.training/1`.)
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.reference.plan_document import Link, by_rate, circuits_of
from tests.reference.workloads import axis_groups, groups_of, ranks_of

# A port of a rank: the rank, and the place of the port.
End = tuple[int, int]


@dataclass(frozen=True)
class Joined:
    """The circuits of a port: where what it sends arrives, and whence it receives; `name` says whose they are.

    Two ports have the same circuits where the names are equal.
    """

    name: Hashable
    to: End | None
    back: End | None


@dataclass
class Use:
    """What an event does with ports.

    needs, leaves: the circuits of the ports that it holds, at its beginning and at its end. returns: whether these go
    back to their resting circuits after it, and `changes_back`, whether that takes a change. rests: the resting
    circuits, where the event says which. needs_resting: whether those that it needs are those in which its group rests.
    ways: by message the circuits that its packets may take, hop by hop, each several in parallel.
    """

    needs: dict[End, Joined] = field(default_factory=dict)
    leaves: dict[End, Joined] = field(default_factory=dict)
    returns: bool = False
    changes_back: bool = False
    rests: dict[End, Joined] | None = None
    needs_resting: bool = False
    ways: list[list[list[tuple[End, End]]]] = field(default_factory=list)


# Circuits by source, destination, and the place of their rate.
Wires = dict[tuple[int, int, int], int]


def wired(
    group: Sequence[int], circuits: Wires, ports: Sequence[int], rates_bps: Sequence[float] = (1.0,)
) -> dict[End, Joined]:
    """The circuits of a topology on ports of a group's ranks, each rank's on its ports of a rate in ascending order.

    rates_bps: the rate of all ports, or of each port of a GPU.
    """
    of_ports = {port: rates_bps[port if len(rates_bps) > 1 else 0] for port in ports}
    rates = sorted({*of_ports.values()}, reverse=True)
    of_rates = [[port for port in ports if of_ports[port] == rate] for rate in rates]
    to: dict[End, End] = {}
    back: dict[End, End] = {}
    sent, received = defaultdict[Link, int](int), defaultdict[Link, int](int)
    for (src, dst, rate), count in sorted(circuits.items()):
        for _ in range(count):
            # More circuits than ports end in an IndexError here.
            out = (group[src], of_rates[rate][sent[src, rate]])
            into = (group[dst], of_rates[rate][received[dst, rate]])
            to[out], back[into] = into, out
            sent[src, rate] += 1
            received[dst, rate] += 1
    name = ("group", tuple(group), tuple(sorted(circuits.items())), tuple(ports))
    return {
        (rank, port): Joined(name, to.get((rank, port)), back.get((rank, port))) for rank in group for port in ports
    }


def between(joined: Mapping[End, Joined]) -> dict[tuple[int, int], list[tuple[End, End]]]:
    """By pair of ranks the circuits from one to the other, by port."""
    found: dict[tuple[int, int], list[tuple[End, End]]] = defaultdict(list)
    for end, has in sorted(joined.items()):
        if has.to is not None:
            found[end[0], has.to[0]].append((end, has.to))
    return found


def plan_circuits(plan: dict[str, Any]) -> dict[int, Wires]:
    """The circuits of each of a plan's topologies, by its number."""
    return {topology["id"]: by_rate(topology, circuits_of(topology, plan["gpus"])) for topology in plan["topologies"]}


def rates_of_ports(told: dict[str, Any]) -> tuple[float, ...]:
    """The rate of all ports, or that of each, bit/s."""
    rates = told["fabric"]["bandwidth_bps"]
    return tuple(rates) if isinstance(rates, list) else (rates,)


def use_of(told: dict[str, Any], place: int) -> Use:
    """What the event at a place of the document does with ports."""
    node, event = told["workload"]["nodes"][place], told["events"][place]
    if node["kind"] == "compute":
        return Use()
    return _collective(told, node, event) if node["kind"] == "collective" else _send(told, node, event)


def _collective(told: dict[str, Any], node: dict[str, Any], event: dict[str, Any]) -> Use:
    plan = told["plans"][event["plan"]]
    circuits = plan_circuits(plan)
    first, last = (circuits[plan["steps"][at]["topology"]] for at in (0, -1))
    initial = plan["initial_topology"]
    resting = None if initial is None or plan["fabric"]["initial"] == "free" else circuits[initial]
    groups = groups_of(told["workload"], node)
    changes_back = event["returns"] and resting != last

    def on_ports(of: Wires) -> dict[End, Joined]:
        rates_bps = rates_of_ports(told)
        return {end: has for group in groups for end, has in wired(group, of, event["ports"], rates_bps).items()}

    return Use(
        needs=on_ports(first),
        leaves=on_ports(last),
        returns=event["returns"],
        changes_back=changes_back,
        rests=on_ports(resting) if event["returns"] and resting is not None else None,
        needs_resting=resting == first,
    )


def pairs_of(node: dict[str, Any]) -> list[tuple[int, int]]:
    """Source and destination of every message of a send."""
    ends = [node[end] if isinstance(node[end], list) else [node[end]] for end in ("source", "destination")]
    return list(zip(*ends, strict=True))


def _send(told: dict[str, Any], node: dict[str, Any], event: dict[str, Any]) -> Use:
    pairs, ports = pairs_of(node), event["ports"]
    if event["direct"]:
        to, back = dict(pairs), {destination: source for source, destination in pairs}
        needs = {
            (rank, port): Joined(
                ("messages", to.get(rank), back.get(rank), tuple(ports)),
                (to[rank], port) if rank in to else None,
                (back[rank], port) if rank in back else None,
            )
            for rank in sorted({*to, *back})
            for port in ports
        }
        ways = [[[((source, port), (destination, port)) for port in ports]] for source, destination in pairs]
        returns = event["returns"]
        return Use(needs, needs, returns, changes_back=returns, ways=ways)
    over = told["topologies"][event["topology"]]
    circuits = {(src, dst): count for src, dst, count in over["links"]}
    wires = by_rate(over, circuits)
    groups = [ranks_of(told["workload"], None)] if over["axis"] is None else axis_groups(told["workload"], over["axis"])
    ends = {rank for pair in pairs for rank in pair}
    made = Use(returns=event["returns"], needs_resting=over["rests"])
    made.changes_back = made.returns and not over["rests"]
    group_of = {rank: tuple(group) for group in groups for rank in group}
    joined = {tuple(group): wired(group, wires, ports, rates_of_ports(told)) for group in groups}
    held = {*ends}
    for source, destination in pairs:
        group = group_of[source]
        path = [group[at] for at in path_between(circuits, group.index(source), group.index(destination))]
        links = between(joined[group])
        made.ways.append([links[link] for link in pairwise(path)])
        if len(path) > 2:
            # They may share circuits with messages of any ranks of their groups.
            held.update(*(group_of[rank] for rank in ends))
    made.needs = {end: has for of_group in joined.values() for end, has in of_group.items() if end[0] in held}
    made.leaves = made.needs
    return made


def path_between(circuits: Iterable[tuple[int, int]], source: int, destination: int) -> list[int]:
    """The first shortest path of a search by breadth that looks at neighbours in ascending order."""
    found = {source: [source]}
    reached = deque([source])
    while destination not in found:
        at = reached.popleft()
        for tail, head in sorted(circuits):
            if tail == at and head not in found:
                found[head] = [*found[at], head]
                reached.append(head)
    return found[destination]

"""Paths of messages over the circuits of groups."""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom import _core
    from lightloom.training.result import Event, Training

__all__ = ["Paths", "paths_of"]

Links = tuple[tuple[int, int, int], ...]


class Paths(NamedTuple):
    """The paths of the messages of an event.

    paths: by message the ranks on its way, both ends included. circuits: of every link in use, by its two ranks, how
    many there are in parallel. holders: ranks that hold their ports, rising: the ends of messages; where any of them
    passes other ranks, all of their groups. rates_bps: the rates of the ports that they hold, in their order.
    by_rate: where these differ, of every link in use its circuits by rate, the fastest first.
    """

    paths: tuple[tuple[int, ...], ...]
    circuits: dict[tuple[int, int], int]
    holders: tuple[int, ...]
    rates_bps: tuple[float, ...]
    by_rate: dict[tuple[int, int], tuple[int, ...]]

    @property
    def hops(self) -> tuple[int, ...]:
        """Circuits on the way, by message."""
        return tuple(len(path) - 1 for path in self.paths)


def _rising(ranks: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({rank for some in ranks for rank in some}))


def paths_of(training: Training, index: int, event: Event) -> Paths:
    """The paths of an event's messages: one hop over all ports if they have their own circuits, else shortest paths.

    Among several shortest ones, the path of a breadth-first search with neighbours in ascending order, as the verifier
    of iterations has it. Raises `InputError` that names `training` where no topology is stated, or it has no path.
    """
    pairs = training.members.pairs_of(training.nodes[index])
    of_ports = training.fabric.rates_bps
    rates_bps = tuple(of_ports[port if len(of_ports) > 1 else 0] for port in event.ports)
    is_mixed = len(set(rates_bps)) > 1
    if event.direct:
        each = tuple(rates_bps.count(rate) for rate in sorted(set(rates_bps), reverse=True))
        by_rate = dict.fromkeys(pairs, each) if is_mixed else {}
        return Paths(tuple(pairs), dict.fromkeys(pairs, len(event.ports)), _rising(pairs), rates_bps, by_rate)
    over = training.message_topologies[index]
    if over is None:
        raise refuse("training", f"node `{event.node[:60]}`: it does not say which topology its messages go over")
    group_of = {rank: group for group in training.members.groups_along(over.axis) for rank in group}
    links = _links(over.topology)
    counts = {(source, destination): count for source, destination, count in links}
    paths: list[tuple[int, ...]] = []
    circuits: dict[tuple[int, int], int] = {}
    by_rate = {}
    for source, destination in pairs:
        group = group_of[source]
        path = _path(links, group.index(source), group.index(destination)) if destination in group else None
        if path is None:
            raise refuse(
                "training", f"node `{event.node[:60]}`: its topology has no path from {source} to {destination}"
            )
        paths.append(tuple(group[place] for place in path))
        for tail, head in pairwise(path):
            circuits[group[tail], group[head]] = counts[tail, head]
            if is_mixed:
                by_rate[group[tail], group[head]] = over.by_rate[tail, head]
    passes = any(len(path) > 2 for path in paths)
    holders = _rising(group_of[source] for source, _ in pairs) if passes else _rising(pairs)
    return Paths(tuple(paths), circuits, holders, rates_bps, by_rate)


def _links(topology: _core.Topology) -> Links:
    return tuple((int(source), int(destination), int(count)) for source, destination, count in topology.links.tolist())


@lru_cache(maxsize=1024)
def _came_from(links: Links, source: int) -> dict[int, int]:
    """By place that can be reached, the one before it."""
    heads: dict[int, list[int]] = {}
    for tail, head, _ in sorted(links):
        heads.setdefault(tail, []).append(head)
    before = {source: source}
    reached = deque([source])
    while reached:
        place = reached.popleft()
        for head in heads.get(place, ()):
            if head not in before:
                before[head] = place
                reached.append(head)
    return before


def _path(links: Links, source: int, destination: int) -> list[int] | None:
    before = _came_from(links, source)
    if destination not in before:
        return None
    path = [destination]
    while path[-1] != source:
        path.append(before[path[-1]])
    return path[::-1]

"""Demands of an interval of steps on one topology, and their cost on a topology."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

Arc = tuple[int, int, float]
Links = tuple[tuple[int, int, int], ...]


class Demand(NamedTuple):
    """Traffic of a step, or of steps alike, with the seconds per hop and per unit of load that it costs."""

    arcs: tuple[Arc, ...]
    hop_s: float
    load_s: float

    @property
    def node_load(self) -> float:
        """The largest sum of weights that one rank sends or receives."""
        sums: dict[tuple[str, int], float] = defaultdict(float)
        for src, dst, weight in self.arcs:
            sums["out", src] += weight
            sums["in", dst] += weight
        return max(sums.values())

    def least_s(self, ports: int) -> float:
        """No topology with that many ports takes less: one hop, and all of a rank's ports at once."""
        return self.hop_s + self.load_s * self.node_load / ports

    def mirrored(self) -> Demand:
        """The same traffic backwards: a topology serves it as its own mirror image serves this."""
        return Demand(tuple(sorted((dst, src, weight) for src, dst, weight in self.arcs)), self.hop_s, self.load_s)


def merged(demands: Iterable[Demand]) -> tuple[Demand, ...]:
    """The same demands, sorted; where hops cost nothing, alike ones are one, since their best routes are the same."""
    load_s: dict[tuple[Arc, ...], float] = defaultdict(float)
    apart: list[Demand] = []
    for demand in demands:
        if demand.hop_s > 0:
            apart.append(demand)
        else:
            load_s[demand.arcs] += demand.load_s
    return tuple(sorted(apart + [Demand(arcs, 0.0, seconds) for arcs, seconds in load_s.items()]))


class PricedTopology:
    """A topology with the hops-load fronts of the demands that it was asked for."""

    def __init__(self, topology: _core.Topology) -> None:
        self.topology = topology
        self._fronts: dict[tuple[Arc, ...], list[tuple[int, float, float]]] = {}

    @cached_property
    def links(self) -> Links:
        """Source, destination, parallel circuits; sorted."""
        return tuple((int(src), int(dst), int(count)) for src, dst, count in self.topology.links)

    def point(self, demand: Demand) -> tuple[int, float] | None:
        """(hops, load) of the cheapest routes of a demand; None when some pair is not joined."""
        if demand.arcs not in self._fronts:
            self._fronts[demand.arcs] = _core.profile(self.topology, demand.arcs, "concurrent-flow")
        front = self._fronts[demand.arcs]
        cost = lambda point: demand.hop_s * point[0] + demand.load_s * point[1]  # noqa: E731
        return min(((hops, load) for hops, load, _ in front), key=cost, default=None)

    def seconds(self, demands: Iterable[Demand]) -> float:
        """Seconds of the demands one after the other, without startup; infinite when some pair is not joined."""
        total = 0.0
        for demand in demands:
            point = self.point(demand)
            if point is None:
                return float("inf")
            total += demand.hop_s * point[0] + demand.load_s * point[1]
        return total


def topology_of(links: Links, gpus: int, name: str) -> PricedTopology:
    """A topology of these circuits."""
    return PricedTopology(_core.Topology.from_links(name, gpus, links))

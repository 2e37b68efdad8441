"""A plan without its barriers: a step's traffic starts when its data and its circuits are there."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.clocks.parts import Configuration, Transmission

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightloom.clocks.rates import Matching, Rates
    from lightloom.clocks.start import OnSwitches
    from lightloom.plans import Plan

__all__ = ["relaxed"]


class _Flow(NamedTuple):
    """Part of a transfer that takes one way through the switches."""

    transfer: int
    size_bytes: float
    path: tuple[tuple[int, int, int], ...]


class _Transfer(NamedTuple):
    source: int
    destination: int
    chunks: NDArray[np.uint32]


def relaxed(
    plan: Plan, on: OnSwitches, rates: Rates
) -> tuple[tuple[tuple[Configuration, ...], ...], tuple[Transmission, ...]]:
    """Configurations by switch, and transmissions, of the plan without barriers; never later than in the plan.

    A switch turns once its circuits are idle, and only if a step needs one that it lacks. Traffic of a step that shares
    circuits starts together, α after all of it is at its sources and its switches are ready, when earlier traffic on
    its circuits is over. It lasts as long as its busiest circuit needs.
    """
    switches = [_Switch(matching, is_free=on.before is None) for matching in on.before or on.held[0]]
    arrived = np.full((plan.gpus, len(plan.chunks())), -rates.startup_s)
    left = np.zeros_like(arrived)
    idle_s: dict[tuple[int, int], float] = {}
    sent: list[Transmission] = []
    for step in range(len(plan.steps)):
        held = on.held[on.of_step[step]]
        transfers = _transfers(plan, step)
        flows = list(_flows(plan, step, held, transfers))
        for k, matching in enumerate(held):
            used = {(u, v) for flow in flows for switch, u, v in flow.path if switch == k}
            switches[k].turn_for(used, matching, rates.turn_s)
        ready_s = [
            max(
                arrived[one.source, one.chunks].max() + rates.startup_s,
                arrived[one.destination, one.chunks].max(),
                left[one.destination, one.chunks].max(),
            )
            for one in transfers
        ]
        over_s = np.zeros(len(transfers))
        for group in _sharing_circuits(flows):
            start_s = max(ready_s[flow.transfer] for flow in group)
            loads: dict[tuple[int, int], float] = {}
            for flow in group:
                for k, u, _ in flow.path:
                    start_s = max(start_s, switches[k].ready_s + rates.startup_s, idle_s.get((k, u), 0.0))
                    loads[k, u] = loads.get((k, u), 0.0) + flow.size_bytes
            duration_s = max(loads.values()) * rates.byte_s
            hops = max(len(flow.path) for flow in group)
            end_s = start_s + duration_s + hops * rates.hop_s
            for circuit in loads:
                idle_s[circuit] = end_s
                switches[circuit[0]].end_s = max(switches[circuit[0]].end_s, end_s)
            for flow in group:
                one = transfers[flow.transfer]
                ends = (step, one.source, one.destination)
                sent.append(Transmission(float(start_s), duration_s, flow.size_bytes, *ends, flow.path))
                arrival_s = start_s + duration_s + len(flow.path) * rates.hop_s
                over_s[flow.transfer] = max(over_s[flow.transfer], arrival_s)
        for one, end_s in zip(transfers, over_s.tolist(), strict=True):
            arrived[one.destination, one.chunks] = np.maximum(arrived[one.destination, one.chunks], end_s)
            left[one.source, one.chunks] = np.maximum(left[one.source, one.chunks], end_s)
    return tuple(switch.history() for switch in switches), tuple(sent)


class _Switch:
    """A switch's circuits now, since when, until when they are used, and what it held before."""

    def __init__(self, matching: Matching, *, is_free: bool) -> None:
        self.matching, self.is_free = matching, is_free
        self.ready_s = self.end_s = 0.0
        self.before: list[Configuration] = []

    def turn_for(self, used: set[tuple[int, int]], matching: Matching, turn_s: float) -> None:
        """Hold the matching, if a circuit is used that is not held."""
        if all(self.matching[u] == v for u, v in used):
            return
        if self.is_free and self.end_s == 0.0:
            self.matching = matching
            return
        self.before.append(self._now())
        self.matching = matching
        self.ready_s = self.end_s = self.end_s + turn_s

    def history(self) -> tuple[Configuration, ...]:
        return (*self.before, self._now())

    def _now(self) -> Configuration:
        circuits = tuple((u, v) for u, v in enumerate(self.matching) if v >= 0)
        return Configuration(float(self.ready_s), float(self.end_s), circuits)


def _transfers(plan: Plan, step: int) -> list[_Transfer]:
    """By source and destination, all that goes from the one to the other in a step."""
    chunks: dict[tuple[int, int], list[NDArray[np.uint32]]] = {}
    for one in plan.transfers(step):
        chunks.setdefault((one.source, one.destination), []).append(one.chunks)
    return [_Transfer(*ends, np.concatenate(parts)) for ends, parts in chunks.items()]


def _flows(plan: Plan, step: int, held: tuple[Matching, ...], transfers: list[_Transfer]) -> Iterator[_Flow]:
    """The step's traffic by path; what goes over parallel circuits is divided evenly among them."""
    place = {(one.source, one.destination): i for i, one in enumerate(transfers)}
    joined: dict[tuple[int, int], list[int]] = {}
    for k, matching in enumerate(held):
        for u, v in enumerate(matching):
            joined.setdefault((u, v), []).append(k)
    for path in plan.routes(step):
        links = list(pairwise(path.gpus.tolist()))
        ways = [joined[link] for link in links]
        parts = math.lcm(*map(len, ways))
        for part in range(parts):
            circuits = tuple((way[part % len(way)], u, v) for way, (u, v) in zip(ways, links, strict=True))
            yield _Flow(place[path.source, path.destination], path.size_bytes / parts, circuits)


def _sharing_circuits(flows: list[_Flow]) -> list[list[_Flow]]:
    """The flows in groups, of which no two share a circuit."""
    root: dict[tuple[int, int], tuple[int, int]] = {}

    def find(circuit: tuple[int, int]) -> tuple[int, int]:
        while root.setdefault(circuit, circuit) != circuit:
            root[circuit] = root[root[circuit]]
            circuit = root[circuit]
        return circuit

    for flow in flows:
        first = find(flow.path[0][:2])
        for k, u, _ in flow.path[1:]:
            root[find((k, u))] = first
    groups: dict[tuple[int, int], list[_Flow]] = {}
    for flow in flows:
        groups.setdefault(find(flow.path[0][:2]), []).append(flow)
    return list(groups.values())

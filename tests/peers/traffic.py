"""A plan as explicit traffic: circuits, routes, packets. It reads the plan's JSON and nothing else of ours.

The rules, which both our simulator and this module follow on their own, but for the first:

- The bytes of a transfer are rounded up to whole bytes, of which peers' packets are made; a number within 1e-6 of a
  whole one, relative, is that one. Our simulator takes the time of the exact bytes, so that sizes here are to be whole.
- A transfer is ceil(bytes / payload) packets, the last one short.
- With several paths with shares, packet i takes the one with the largest share·(i + 1) - sent, the first of equals.
- A link of count c is c circuits; the k-th packet of a path uses circuit k mod c at every hop. Where these have
  different rates, the k-th packet uses that of a row, over and over: each time the one with the largest
  rate·(i + 1)/sum - turns so far, until all have their whole share.
- Transfers are ordered by the element of the step's symmetry that makes them, then as they are written.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any, Protocol

WHOLE_BYTES_SLACK = 1e-6

Pair = tuple[int, int]
Nodes = tuple[int, ...]
Routes = Mapping[Pair, Sequence[tuple[float, Nodes]]]


class HasJson(Protocol):
    """A plan object."""

    def to_json(self) -> str: ...


@dataclass(frozen=True)
class Circuit:
    """One of the parallel circuits from `src` to `dst`; translates of each other have the same `orbit`."""

    src: int
    dst: int
    index: int
    orbit: int
    rate_bps: float


@dataclass(frozen=True)
class Packets:
    """`count` packets of `payload` bytes, but for the last, which has `last`."""

    count: int
    payload: int
    last: int

    @property
    def payload_bytes(self) -> int:
        return self.payload * (self.count - 1) + self.last

    def wire_bytes(self, header: int) -> int:
        """With `header` bytes on each packet."""
        return self.payload_bytes + self.count * header


@dataclass(frozen=True)
class Flow:
    """Packets of one transfer that take the same circuits: one per hop, as indices into the step's circuits."""

    src: int
    dst: int
    nodes: Nodes
    circuits: tuple[int, ...]
    packets: Packets


@dataclass(frozen=True)
class Transfer:
    """The data from `src` to `dst`: flows, and the order of its packets as runs (flow, packets)."""

    src: int
    dst: int
    size_bytes: int
    flows: tuple[Flow, ...]
    runs: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class FluidFlow:
    """Bytes of one transfer on one path, not cut into packets; `share` of the transfer's."""

    size_bytes: float
    share: float
    nodes: Nodes


@dataclass(frozen=True)
class StepTraffic:
    """One step, between two barriers: after `dark_s`, `circuits` are attached; after `startup_s` more, data flow."""

    topology: int
    circuits: tuple[Circuit, ...]
    dark_s: float
    startup_s: float
    hops: int
    load: float
    transfers: tuple[Transfer, ...]
    fluid: tuple[FluidFlow, ...]


@dataclass(frozen=True)
class Traffic:
    """A whole plan, cut into packets of `payload` bytes.

    in_turn: whether a burst hands over one packet of each transfer after the other, as on circuits of different rates.
    """

    gpus: int
    bandwidth_bps: float
    hop_delay_s: float
    payload: int
    in_turn: bool
    steps: tuple[StepTraffic, ...]

    @property
    def packets(self) -> int:
        """Number of packets of all steps."""
        return sum(f.packets.count for step in self.steps for t in step.transfers for f in t.flows)

    @property
    def packet_hops(self) -> int:
        """Number of times that a packet crosses a circuit."""
        flows = (f for step in self.steps for t in step.transfers for f in t.flows)
        return sum(flow.packets.count * len(flow.circuits) for flow in flows)


def traffic(plan: HasJson | str, payload: int) -> Traffic:
    """The traffic of a plan, or of its JSON, in packets of at most `payload` bytes."""
    document: dict[str, Any] = json.loads(plan if isinstance(plan, str) else plan.to_json())
    fabric = document["fabric"]
    stated = fabric["bandwidth_bps"]
    rates = sorted(set(stated if isinstance(stated, list) else [stated]), reverse=True)
    circuits = [_circuits(topology, rates) for topology in document["topologies"]]
    return Traffic(
        gpus=document["gpus"],
        bandwidth_bps=rates[0],
        hop_delay_s=fabric["hop_delay_s"],
        payload=payload,
        in_turn=len(rates) > 1,
        steps=tuple(_step(document, step, circuits[step["topology"]], payload) for step in document["steps"]),
    )


def whole_bytes(size: float) -> int:
    """`size` rounded up, unless it is a whole number but for 1e-6 of it."""
    nearest = round(size)
    return nearest if nearest > 0 and abs(size - nearest) <= WHOLE_BYTES_SLACK * size else math.ceil(size)


@lru_cache(maxsize=256)
def path_of_each(shares: tuple[float, ...], packets: int) -> tuple[int, ...]:
    """The path that each packet takes, by largest deficit."""
    if len(shares) == 1:
        return (0,) * packets
    sent = [0] * len(shares)
    taken = []
    for packet in range(packets):
        deficits = [share * (packet + 1) - count for share, count in zip(shares, sent, strict=True)]
        path = deficits.index(max(deficits))
        sent[path] += 1
        taken.append(path)
    return tuple(taken)


def translations(symmetry: Sequence[tuple[int, int]]) -> list[int]:
    """The elements of a group of digits (stride, radix), each named by the image of rank 0, ascending."""
    elements = [0]
    for stride, radix in sorted(map(tuple, symmetry)):
        elements = [element + value * stride for value in range(radix) for element in elements]
    return elements


def moved(symmetry: Sequence[tuple[int, int]], element: int, rank: int) -> int:
    """`element` applied to a rank: its digits are added, each without carry."""
    for stride, radix in symmetry:
        digit = rank // stride % radix
        rank += ((digit + element // stride) % radix - digit) * stride
    return rank


def _circuits(topology: dict[str, Any], rates: Sequence[float]) -> tuple[Circuit, ...]:
    symmetry = topology["symmetry"]
    elements = translations(symmetry)
    orbits: dict[Pair, int] = {}
    circuits = []
    by_rate = topology.get("circuits_by_rate") or [[count] for *_, count in topology["links"]]
    for (src, dst, _), counts in zip(topology["links"], by_rate, strict=True):
        orbit = orbits.setdefault((src, dst), len(orbits))
        for element in elements:
            orbits.setdefault((moved(symmetry, element, src), moved(symmetry, element, dst)), orbit)
        of_circuits = [rate for rate, count in zip(rates, counts, strict=False) for _ in range(count)]
        circuits += [Circuit(src, dst, index, orbit, rate) for index, rate in enumerate(of_circuits)]
    return tuple(circuits)


def _step(document: dict[str, Any], step: dict[str, Any], circuits: tuple[Circuit, ...], payload: int) -> StepTraffic:
    routes = _routes(step["routes"])
    parallel: dict[Pair, list[int]] = {}
    for position, circuit in enumerate(circuits):
        parallel.setdefault((circuit.src, circuit.dst), []).append(position)
    for pair, positions in parallel.items():
        rates = [circuits[position].rate_bps for position in positions]
        if len(set(rates)) > 1:
            in_turn = round(sum(rates)) // math.gcd(*map(round, rates))
            turns = path_of_each(tuple(rate / sum(rates) for rate in rates), in_turn)
            parallel[pair] = [positions[turn] for turn in turns]
    transfers, fluid = [], []
    for src, dst, size in _transfers(document, step):
        transfers.append(_transfer(src, dst, whole_bytes(size), routes[src, dst], parallel, payload))
        fluid += [FluidFlow(size * share, share, nodes) for share, nodes in routes[src, dst]]
    return StepTraffic(
        topology=step["topology"],
        circuits=circuits,
        dark_s=step["reconfiguration_s"],
        startup_s=step["startup_s"],
        hops=step["hops"],
        load=step["load"],
        transfers=tuple(transfers),
        fluid=tuple(fluid),
    )


def _routes(routes: dict[str, Any]) -> Routes:
    """Every arc's paths, from the representatives that the plan states."""
    symmetry = routes["symmetry"]
    return {
        (moved(symmetry, element, src), moved(symmetry, element, dst)): [
            (share, tuple(moved(symmetry, element, node) for node in nodes)) for share, nodes in paths
        ]
        for element in translations(symmetry)
        for src, dst, paths in routes["arcs"]
    }


def _transfers(document: dict[str, Any], step: dict[str, Any]) -> Iterator[tuple[int, int, float]]:
    """(source, destination, bytes) of every transfer, in order."""
    symmetry = step["symmetry"]
    sizes = [_transfer_bytes(document, runs) for *_, runs in step["transfers"]]
    for element in translations(symmetry):
        for (src, dst, _, _), size in zip(step["transfers"], sizes, strict=True):
            yield moved(symmetry, element, src), moved(symmetry, element, dst), size


def _transfer_bytes(document: dict[str, Any], runs: Sequence[int | Sequence[int]]) -> float:
    size = float(document["size_bytes"])
    chunks: dict[str, Any] = document["chunks"]
    if chunks["kind"] == "pieces":
        return size * math.fsum(chunks["pieces"][chunk][2] for chunk in _expanded(runs))
    buffers: int = chunks["parts"] * (1 if chunks["kind"] == "buffer" else document["gpus"])
    return size * sum(1 for _ in _expanded(runs)) / buffers


def _expanded(runs: Sequence[int | Sequence[int]]) -> Iterator[int]:
    for run in runs:
        if isinstance(run, int):
            yield run
        else:
            first, last, stride = run
            yield from range(first, last + 1, stride)


def _transfer(
    src: int,
    dst: int,
    size: int,
    paths: Sequence[tuple[float, Nodes]],
    parallel: Mapping[Pair, Sequence[int]],
    payload: int,
) -> Transfer:
    count = -(-size // payload)
    taken = path_of_each(tuple(share for share, _ in paths), count)
    choices = [[parallel[hop] for hop in pairwise(nodes)] for _, nodes in paths]
    periods = [math.lcm(*map(len, hops)) for hops in choices]
    # A flow is a path and the packet's place in the period in which the parallel circuits repeat.
    sent: Counter[int] = Counter()
    sequence = []
    for path in taken:
        sequence.append((path, sent[path] % periods[path]))
        sent[path] += 1
    counts = Counter(sequence)
    keys = sorted(counts)
    numbers = {key: number for number, key in enumerate(keys)}
    flows = []
    for path, phase in keys:
        last = size - payload * (count - 1) if (path, phase) == sequence[-1] else payload
        circuits = tuple(hop[phase % len(hop)] for hop in choices[path])
        flows.append(Flow(src, dst, paths[path][1], circuits, Packets(counts[path, phase], payload, last)))
    runs = tuple((numbers[key], sum(1 for _ in group)) for key, group in groupby(sequence))
    return Transfer(src, dst, size, tuple(flows), runs)


def by_path(transfer: Transfer) -> list[Transfer]:
    """The transfer as one of each path, with that path's packets in their order."""
    paths: dict[Nodes, list[int]] = {}
    for number, flow in enumerate(transfer.flows):
        paths.setdefault(flow.nodes, []).append(number)
    parts = []
    for numbers in paths.values():
        flows = tuple(transfer.flows[number] for number in numbers)
        place = {number: index for index, number in enumerate(numbers)}
        kept = [place[flow] for flow, packets in transfer.runs if flow in place for _ in range(packets)]
        runs = tuple((flow, sum(1 for _ in group)) for flow, group in groupby(kept))
        parts.append(Transfer(transfer.src, transfer.dst, transfer.size_bytes, flows, runs))
    return parts

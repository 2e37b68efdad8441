"""The packets of a plan's steps, and of messages, each with the circuits on its way.

As docs/simulation.md has it: bursts, store and forward; packet k of a path takes circuit k mod c of each link of c;
with several paths, each packet goes to the path that is furthest behind its share. On circuits of different rates a
sender hands over the packets of all its transfers in turn, beginning with the GPU after it, and what arrives together
is served in that order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tests.reference.iteration_ports import End, Joined, Wires, between, plan_circuits, wired
from tests.reference.plan_costs import amounts_of
from tests.reference.plan_document import arcs_of, chunks_of, transfers_of
from tests.reference.plan_packets import dealt, exact_bytes, wire_fs


@dataclass(frozen=True)
class Packet:
    """A packet. flow: transfer, path and circuit in parallel; number: its place in its transfer, and on its path.

    way: the circuits that it takes, each as the port that sends and the port that receives; wire_fs: its time on each.
    turn: where circuits have different rates, what decides among packets that arrive together.
    """

    flow: tuple[int, int, int]
    numbers: tuple[int, int]
    payload_bytes: Fraction
    wire_fs: tuple[int, ...]
    way: tuple[tuple[End, End], ...]
    turn: tuple[int, ...] = ()


@dataclass(frozen=True)
class Framing:
    """Payload and header of packets, bytes, and the rate of circuits: of all, or by port."""

    payload_bytes: int
    header_bytes: int
    rates_bps: tuple[float, ...]

    def rate_bps(self, end: End) -> float:
        """The rate of a port."""
        return self.rates_bps[end[1] if len(self.rates_bps) > 1 else 0]

    def turns(self, circuits: Sequence[tuple[End, End]], packets: int) -> Sequence[int]:
        """The places of parallel circuits in the order in which packets take them: each as often as it is fast."""
        rates = [self.rate_bps(out) for out, _ in circuits]
        if len(set(rates)) == 1:
            return range(len(circuits))
        fastest_first = sorted(range(len(circuits)), key=lambda place: -rates[place])
        of_all = [rates[place] / sum(rates) for place in fastest_first]
        return [fastest_first[place] for place in dealt(packets, of_all)]

    def are_alike(self, ports: Sequence[int]) -> bool:
        """Whether ports have one rate."""
        return len(self.rates_bps) == 1 or len({self.rates_bps[port] for port in ports}) == 1

    def packets(
        self,
        size_bytes: Fraction,
        listed: int,
        paths: Sequence[tuple[float, Sequence[Sequence[tuple[End, End]]]]],
        turn: tuple[int, ...] = (),
    ) -> list[Packet]:
        """The packets of a transfer; of each path its share, and by hop the parallel circuits.

        turn: where rates differ, how far the receiver is behind the sender, and the sender.
        """
        count = math.ceil(size_bytes / self.payload_bytes)
        path_of = [0] * count if len(paths) == 1 else dealt(count, [share for share, _ in paths])
        in_turn = [
            [[hop[place] for place in self.turns(hop, path_of.count(path))] for hop in hops]
            for path, (_, hops) in enumerate(paths)
        ]
        sent = [0] * len(paths)
        found = []
        for number, path in enumerate(path_of):
            hops = in_turn[path]
            order, sent[path] = sent[path], sent[path] + 1
            way = tuple(circuits[order % len(circuits)] for circuits in hops)
            payload = min(Fraction(self.payload_bytes), size_bytes - number * self.payload_bytes)
            found.append(
                Packet(
                    (listed, path, order % math.lcm(*map(len, hops))),
                    (number, order),
                    payload,
                    tuple(_wire_fs(payload + self.header_bytes, self.rate_bps(out)) for out, _ in way),
                    way,
                    (number, *turn) if turn else (),
                )
            )
        return found


@lru_cache(maxsize=10_000)
def _wire_fs(size_bytes: Fraction, bandwidth_bps: float) -> int:
    return wire_fs(size_bytes, bandwidth_bps)


@dataclass(frozen=True)
class Step:
    """A step of a plan at one group. joined: the circuits of its ports; received: bytes that each rank must receive."""

    circuits: Wires
    joined: dict[End, Joined]
    packets: list[Packet]
    received: dict[int, Fraction]


def steps_of(plan: dict[str, Any], group: Sequence[int], ports: Sequence[int], framing: Framing) -> list[Step]:
    """A plan's steps, carried out by a group on ports."""
    gpus, chunks, circuits = plan["gpus"], chunks_of(plan), plan_circuits(plan)
    found = []
    for step in plan["steps"]:
        amounts = amounts_of(transfers_of(step, chunks, gpus), chunks, plan["size_bytes"])
        has = circuits[step["topology"]]
        joined = wired(group, has, ports, framing.rates_bps)
        links = between(joined)
        packets = []
        received: dict[int, Fraction] = dict.fromkeys(group, Fraction())
        for arc in arcs_of(step, gpus):
            size_bytes = exact_bytes(amounts[arc.src, arc.dst])
            received[group[arc.dst]] += size_bytes
            paths = [
                (share, [links[group[tail], group[head]] for tail, head in pairwise(nodes)])
                for share, nodes in arc.paths
            ]
            turn = () if framing.are_alike(ports) else ((arc.dst - arc.src) % gpus, arc.src)
            packets += framing.packets(size_bytes, arc.listed, paths, turn)
        found.append(Step(has, joined, packets, received))
    return found

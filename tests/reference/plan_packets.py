"""One step of a plan packet by packet, every packet and every hop an event of its own (docs/simulation.md, defaults).

Packets of 4096 B without headers, handed over at the start of the step, store and forward, in whole femtoseconds.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from fractions import Fraction

from tests.reference.plan_document import Arc, Circuits, Link

PAYLOAD_BYTES = 4096
FEMTOSECONDS = 10**15


def exact_bytes(amount: Fraction) -> Fraction:
    """Bytes of a transfer: to the fraction, unless they differ from a whole number by no more than rounding."""
    nearest = round(amount)
    is_whole = nearest > 0 and abs(float(amount - nearest)) <= 1e-6 + 4e-15 * float(amount)
    return Fraction(nearest) if is_whole else amount


def femtoseconds(seconds: float) -> int:
    """A time as the simulator counts it: to the nearest femtosecond."""
    return math.floor(seconds * 1e15 + 0.5)


def wire_fs(size_bytes: Fraction, bandwidth_bps: float) -> int:
    """How long a packet takes on a circuit, rounded up; a fraction's rounding error counts for nothing."""
    slack = 0 if size_bytes.denominator == 1 else Fraction(1, 10**12)
    return math.ceil(8 * FEMTOSECONDS * size_bytes / Fraction(bandwidth_bps) * (1 - slack))


# Shares are whole multiples of this.
ROUNDING = 2.0**-40


def dealt(packets: int, shares: list[float]) -> list[int]:
    """The path of every packet: the one that is furthest behind its share, the first of equals."""
    sent = [0] * len(shares)
    paths = []
    for number in range(1, packets + 1):
        behind = [share * number - had for share, had in zip(shares, sent, strict=True)]
        path = 0
        for other, amount in enumerate(behind):
            # A difference of two shares in their last bits decides nothing.
            if amount > behind[path] + 2 * number * ROUNDING:
                path = other
        sent[path] += 1
        paths.append(path)
    return paths


def packet_hops(arcs: list[Arc], amounts: dict[Link, Fraction]) -> int:
    """About how many events a step has."""
    return sum(
        math.ceil(exact_bytes(amounts[arc.src, arc.dst]) / PAYLOAD_BYTES)
        * max(len(nodes) - 1 for _, nodes in arc.paths)
        for arc in arcs
    )


def transfer_fs(
    arcs: list[Arc], amounts: dict[Link, Fraction], circuits: Circuits, bandwidth_bps: float, hop_delay_s: float
) -> int:
    """From the first packet of a step to the end of its last, fs. `amounts` are the bytes of every pair."""
    delay_fs = femtoseconds(hop_delay_s)
    times = {size: wire_fs(size, bandwidth_bps) for size in (Fraction(PAYLOAD_BYTES),)}
    # An arrival: when, the flow (transfer, path, circuit in parallel), hop, order; then the packet and its way.
    events: list[tuple[int, int, int, int, int, int, int, tuple[int, ...]]] = []
    numbers: dict[tuple[int, int, int], int] = defaultdict(lambda: len(numbers))
    flows: dict[int, tuple[int, int, int]] = {}
    for arc in arcs:
        size = exact_bytes(amounts[arc.src, arc.dst])
        packets = math.ceil(size / PAYLOAD_BYTES)
        on_path = [0] * len(arc.paths)
        paths = [0] * packets if len(arc.paths) == 1 else dealt(packets, [share for share, _ in arc.paths])
        totals = [paths.count(path) for path in range(len(arc.paths))]
        for number, path in enumerate(paths):
            nodes = arc.paths[path][1]
            links = list(itertools.pairwise(nodes))
            counts = [circuits[link] for link in links]
            order, on_path[path] = on_path[path], on_path[path] + 1
            parallel = order % min(math.lcm(*counts), totals[path])
            payload = min(Fraction(PAYLOAD_BYTES), size - number * PAYLOAD_BYTES)
            if payload not in times:
                times[payload] = wire_fs(payload, bandwidth_bps)
            way = tuple(numbers[src, dst, parallel % count] for (src, dst), count in zip(links, counts, strict=True))
            packet = len(flows)
            flows[packet] = (path, parallel, order)
            # A sender hands data over transfer by transfer, in the order of the transfer's packets.
            events.append((0, arc.listed, 0, 0, 0, number, packet, (times[payload], *way)))
    heapq.heapify(events)
    free_fs = [0] * len(numbers)
    end_fs = 0
    while events:
        now_fs, listed, _, _, hop, _, packet, way = heapq.heappop(events)
        server = way[hop + 1]
        out_fs = max(now_fs, free_fs[server]) + way[0]
        free_fs[server] = out_fs
        if hop + 2 < len(way):
            path, parallel, order = flows[packet]
            heapq.heappush(events, (out_fs + delay_fs, listed, path, parallel, hop + 1, order, packet, way))
        else:
            end_fs = max(end_fs, out_fs + delay_fs)
    return end_fs

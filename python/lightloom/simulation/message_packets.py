"""The time that the packets of messages take on their paths."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lightloom.plans import Plan
from lightloom.simulation import Simulation, SimulationSettings

if TYPE_CHECKING:
    from lightloom.simulation.message_paths import Paths
    from lightloom.training.result import Training

__all__ = ["MessageTimes", "packets_each"]

# Links with their circuits; where ports have different rates, circuits by rate of each; the rates of ports, bit/s.
Circuits = tuple[tuple[tuple[int, int, int], ...], tuple[tuple[int, ...], ...], tuple[float, ...]]


class MessageTimes:
    """Times of messages under settings; messages that share circuits are simulated, once where they are alike.

    Docs: docs/simulation.md. Barriers, pacing and buffers apply only to collectives.
    """

    def __init__(self, training: Training, settings: SimulationSettings) -> None:
        self._fabric = training.fabric
        self._settings = replace(
            settings, injection="burst", sync="barrier", barrier_s=0.0, buffer_bytes=None, symmetry="full"
        )
        self._known: dict[object, float] = {}

    def seconds(self, paths: Paths, size_bytes: int) -> float:
        """The arrival of the last packet of messages of a size, s: startup, a delay for each hop, packets on the wire.

        Packet k of a path takes circuit k mod c of each link of c.
        """
        crossed = Counter(link for path in paths.paths for link in pairwise(path))
        longest = max(paths.hops)
        is_alike = longest == 1 or len(set(paths.circuits.values())) == 1
        if not paths.by_rate and max(crossed.values()) == 1 and is_alike:
            return self._alone_s(longest, (min(paths.circuits.values()), paths.rates_bps[0]), size_bytes)
        numbers = {rank: number for number, rank in enumerate(sorted({rank for path in paths.paths for rank in path}))}
        shape = tuple(tuple(numbers[rank] for rank in path) for path in paths.paths)
        links = sorted((numbers[tail], numbers[head], (tail, head)) for tail, head in paths.circuits)
        circuits = tuple((tail, head, paths.circuits[link]) for tail, head, link in links)
        by_rate = tuple(paths.by_rate[link] for *_, link in links) if paths.by_rate else ()
        rates_bps = paths.rates_bps if by_rate else paths.rates_bps[:1]
        key = (shape, circuits, by_rate, rates_bps, size_bytes)
        if key not in self._known:
            self._known[key] = self._together_s(shape, (circuits, by_rate, rates_bps), size_bytes)
        return self._known[key]

    def _alone_s(self, hops: int, circuits_bps: tuple[int, float], size_bytes: int) -> float:
        """The time of messages that share no circuit, over the same number of circuits of one rate at every hop.

        Over several hops the first packet is waited for at each of them, or its header with cut-through.
        """
        (circuits, rate_bps), settings, fabric = circuits_bps, self._settings, self._fabric
        payload, header = settings.packet_bytes, settings.header_bytes
        if settings.level == "flow":
            busiest = (size_bytes + packets_each(size_bytes, settings) * header) / circuits
            first = 0
        else:
            busiest = _first_circuit_bytes(size_bytes, circuits, settings)
            first = header if settings.forwarding == "cut-through" else min(payload, size_bytes) + header
        wire_bytes = busiest + (hops - 1) * first
        return fabric.startup_s + hops * fabric.hop_delay_s + wire_bytes * 8.0 / rate_bps

    def _together_s(self, paths: tuple[tuple[int, ...], ...], circuits: Circuits, size_bytes: int) -> float:
        """The time of messages that share circuits: that of an unequal All-to-All in one step."""
        plan = Plan.from_json(json.dumps(self._plan(paths, circuits, size_bytes)))
        return Simulation(plan, self._settings).total_s

    def _plan(self, paths: tuple[tuple[int, ...], ...], circuits: Circuits, size_bytes: int) -> dict[str, Any]:
        fabric, (links, by_rate, rates_bps) = self._fabric, circuits
        fastest_bps, rates = max(rates_bps), sorted(set(rates_bps), reverse=True)
        capacities = {(tail, head): float(count) for tail, head, count in links}
        for (tail, head, _), counts in zip(links, by_rate, strict=False):
            capacities[tail, head] = sum(n * rate for n, rate in zip(counts, rates, strict=True)) / fastest_bps
        gpus = 1 + max(rank for path in paths for rank in path)
        crossed = Counter(link for path in paths for link in pairwise(path))
        load = max(crossed[link] / capacity for link, capacity in capacities.items())
        hops = max(len(path) - 1 for path in paths)
        costs_s = {
            "startup_s": fabric.startup_s,
            "propagation_s": hops * fabric.hop_delay_s,
            "transmission_s": size_bytes * load * 8.0 / fastest_bps,
            "reconfiguration_s": 0.0,
        }
        by_rate_of = {"circuits_by_rate": by_rate} if by_rate else {}
        step = {
            "index": 0,
            "topology": 0,
            "reconfigured": False,
            "transfer_bytes": float(size_bytes),
            "hops": hops,
            "load": load,
            **costs_s,
            "symmetry": [],
            "transfers": [[path[0], path[-1], "copy", [chunk]] for chunk, path in enumerate(paths)],
            "routes": {"symmetry": [], "arcs": [[path[0], path[-1], [[1.0, path]]] for path in paths]},
        }
        return {
            "schema": "lightloom.plan/1",
            "collective": "all-to-all",
            "algorithm": "direct",
            "planner": "static",
            "gpus": gpus,
            "size_bytes": size_bytes,
            "fabric": {
                "dims": [gpus],
                "ports": len(rates_bps) if by_rate else fabric.ports,
                "bandwidth_bps": rates_bps if by_rate else fastest_bps,
                "startup_s": fabric.startup_s,
                "hop_delay_s": fabric.hop_delay_s,
                "reconfiguration_delay_s": 0.0,
                "reconfiguration_delay_per_port_s": 0.0,
                "background_reconfiguration": False,
                "window_s": 0.0,
                "windows_s": [],
                "initial": "free",
            },
            "routing": "single-path",
            "propagation": "hops",
            "overlap": "additive",
            "chunks": {"kind": "pieces", "pieces": [[path[0], path[-1], 1.0] for path in paths]},
            "total_s": sum(costs_s.values()),
            "reconfigurations": 0,
            "lower_bound_s": 0.0,
            "bound_class": "none",
            "initial_topology": None,
            "topologies": [{"id": 0, "name": "paths", "symmetry": [], "links": links} | by_rate_of],
            "steps": [step],
        }


def packets_each(size_bytes: int, settings: SimulationSettings) -> int:
    """Packets of one message."""
    return -(-size_bytes // settings.packet_bytes)


def _first_circuit_bytes(size_bytes: int, circuits: int, settings: SimulationSettings) -> int:
    """Bytes that one message sends over the first of this many parallel circuits, which has most, with headers."""
    packets = packets_each(size_bytes, settings)
    on_first = -(-packets // circuits)
    # The last packet is short.
    short = packets * settings.packet_bytes - size_bytes if (packets - 1) % circuits == 0 else 0
    return on_first * (settings.packet_bytes + settings.header_bytes) - short

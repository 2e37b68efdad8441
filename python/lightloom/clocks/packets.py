"""The packets of a timeline, event by event: circuits are queues, and switches turn when the last packet is through."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lightloom.clocks.parts import Parts
    from lightloom.clocks.waiting import Waits
    from lightloom.plans import Plan

__all__ = ["PacketSettings", "PacketTimes", "packets_of", "times_of"]


class PacketSettings(NamedTuple):
    """Payload and header of a packet in bytes; whether it goes on once its header is there, or its last bit."""

    packet_bytes: int
    header_bytes: int
    forwarding: str


class PacketTimes(NamedTuple):
    """Seconds: of transmissions, when the first bit leaves and the last is there; of configurations, as in a timeline.

    end_s of a configuration is when the last packet over its circuits is through, or when it is ready if none is.
    """

    starts_s: tuple[float, ...]
    arrivals_s: tuple[float, ...]
    ready_s: tuple[tuple[float, ...], ...]
    end_s: tuple[tuple[float, ...], ...]


def packets_of(size_bytes: float, settings: PacketSettings) -> int:
    """Packets of so many bytes; the last may be short."""
    return max(1, math.ceil(size_bytes / settings.packet_bytes * (1.0 - 1e-12)))


def times_of(parts: Parts, plan: Plan, waits: Waits, settings: PacketSettings) -> PacketTimes:
    """Follow every packet.

    A transmission begins no earlier than the timeline says, and a startup after its data and all its circuits are
    there; its packets are handed over evenly, and wait at circuits that others use. A switch turns once the packets of
    its configuration are through, and no configuration is ready earlier than the timeline says.
    """
    return _Packets(parts, plan, waits, settings).times()


class _Packets:
    """Events in the order of time; those of one moment in the order in which they were found."""

    def __init__(self, parts: Parts, plan: Plan, waits: Waits, settings: PacketSettings) -> None:
        self.parts, self.plan, self.waits, self.settings = parts, plan, waits, settings
        self.byte_s = 8.0 / plan.bandwidth_bps
        self.turn_s = float(parts.plan["fabric"]["reconfiguration_delay_s"])
        sent = parts.transmissions
        used = [{(k, i) for k, i, _, _ in path} for path in waits.circuits]
        self.open = [len(used[index]) + len(waits.data[index]) for index in range(len(sent))]
        self.begins_s = [one.start_s for one in sent]
        self.brings: list[list[int]] = [[] for _ in sent]
        self.needs: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for index in range(len(sent)):
            for other in waits.data[index]:
                self.brings[other].append(index)
            for held in used[index]:
                self.needs[held].append(index)
        self.passing = {
            (k, i): sum(1 for index in self.needs[k, i] for hop in waits.circuits[index] if hop[:2] == (k, i))
            for k, switch in enumerate(parts.switches)
            for i in range(len(switch))
        }
        self.counts = [packets_of(one.size_bytes, settings) for one in sent]
        self.left = [[count] * len(one.path) for count, one in zip(self.counts, sent, strict=True)]
        self.arrivals_s = [0.0] * len(sent)
        self.ready_s = [[0.0] * len(switch) for switch in parts.switches]
        self.end_s = [[0.0] * len(switch) for switch in parts.switches]
        self.free_s: defaultdict[tuple[int, int], float] = defaultdict(float)
        # Events: time, number, transmission, packet, hop.
        self.events: list[tuple[float, int, int, int, int]] = []
        self.number = 0

    def times(self) -> PacketTimes:
        for k, switch in enumerate(self.parts.switches):
            if switch:
                self._ready(k, 0, switch[0].ready_s)
        while self.events:
            self._step(*heapq.heappop(self.events))
        return PacketTimes(
            tuple(self.begins_s),
            tuple(self.arrivals_s),
            tuple(map(tuple, self.ready_s)),
            tuple(map(tuple, self.end_s)),
        )

    def _put(self, time_s: float, index: int, packet: int, hop: int) -> None:
        self.number += 1
        heapq.heappush(self.events, (time_s, self.number, index, packet, hop))

    def _wire_s(self, index: int, packet: int) -> float:
        """Time of a packet on a circuit."""
        size = self.settings.packet_bytes
        payload = min(size, self.parts.transmissions[index].size_bytes - packet * size)
        return (max(payload, 0.0) + self.settings.header_bytes) * self.byte_s

    def _step(self, time_s: float, _: int, index: int, packet: int, hop: int) -> None:
        """A packet comes to the circuit of a hop, or to its end where there is no further circuit."""
        path = self.waits.circuits[index]
        if hop > 0:
            self._passed(time_s, index, hop - 1)
        if hop == len(path):
            return
        k, _, u, _ = path[hop]
        wire_s = self._wire_s(index, packet)
        begin_s = max(time_s, self.free_s[k, u])
        self.free_s[k, u] = begin_s + wire_s
        on_s = wire_s
        if self.settings.forwarding == "cut-through" and hop + 1 < len(path):
            on_s = self.settings.header_bytes * self.byte_s
        self._put(begin_s + on_s + self.plan.hop_delay_s, index, packet, hop + 1)
        if hop == 0 and packet + 1 < self.counts[index]:
            one = self.parts.transmissions[index]
            part = min(1.0, (packet + 1) * self.settings.packet_bytes / one.size_bytes)
            self._put(self.begins_s[index] + part * one.duration_s, index, packet + 1, 0)

    def _passed(self, time_s: float, index: int, hop: int) -> None:
        """A packet is through the circuit of a hop; in cut-through its header, whose last bits follow at that pace."""
        self.left[index][hop] -= 1
        if self.left[index][hop]:
            return
        path = self.waits.circuits[index]
        k, i, _, _ = path[hop]
        if self.settings.forwarding == "cut-through" and hop + 1 < len(path):
            time_s += self._wire_s(index, self.counts[index] - 1) - self.settings.header_bytes * self.byte_s
        self.passing[k, i] -= 1
        self.end_s[k][i] = max(self.end_s[k][i], time_s)
        if not self.passing[k, i]:
            self._turn(k, i)
        if hop == len(path) - 1:
            self.arrivals_s[index] = time_s
            for other in self.brings[index]:
                self._settled(other, time_s)

    def _turn(self, k: int, i: int) -> None:
        """A configuration has carried all that it is for."""
        if i + 1 < len(self.parts.switches[k]):
            self._ready(k, i + 1, self.end_s[k][i] + self.turn_s)

    def _ready(self, k: int, i: int, time_s: float) -> None:
        time_s = max(time_s, self.parts.switches[k][i].ready_s)
        self.ready_s[k][i] = self.end_s[k][i] = time_s
        for index in self.needs[k, i]:
            self._settled(index, time_s)
        if not self.passing[k, i]:
            self._turn(k, i)

    def _settled(self, index: int, time_s: float) -> None:
        """Something that a transmission waits for is there."""
        self.open[index] -= 1
        self.begins_s[index] = max(self.begins_s[index], time_s + self.plan.startup_s)
        if not self.open[index]:
            self._put(self.begins_s[index], index, 0, 0)

"""Packets on circuits between ports, one event for each packet and hop, in whole femtoseconds.

Every port is dark or joined to others; a packet that is sent on a dark port, or to another than it is joined to, is a
fault. Circuits are FIFO: what arrives together is served by flow, then hop, then order.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import count
from typing import Any

from tests.reference.iteration_ports import End, Joined
from tests.reference.iteration_traffic import Packet


class Moment:
    """Something that happens once."""

    def __init__(self) -> None:
        self.happened = False
        self._then: list[Callable[[], None]] = []

    def then(self, action: Callable[[], None]) -> None:
        """Do something when it happens, or now if it has happened."""
        if self.happened:
            action()
        else:
            self._then.append(action)

    def happen(self) -> None:
        """It happens now."""
        assert not self.happened
        self.happened = True
        for action in self._then:
            action()
        self._then.clear()


def when_all(moments: Iterable[Moment], action: Callable[[], None]) -> None:
    """Do something once all of these have happened."""
    open_ones = [moment for moment in moments if not moment.happened]
    left = len(open_ones)

    def one_less() -> None:
        nonlocal left
        left -= 1
        if not left:
            action()

    for moment in open_ones:
        moment.then(one_less)
    if not open_ones:
        action()


class Batch:
    """Packets that are handed over together; `then` is called when the last of them is received."""

    def __init__(self, packets: int, then: Callable[[Batch], None]) -> None:
        self.left, self._then = packets, then
        self.received: dict[int, Fraction] = defaultdict(Fraction)

    def receive(self, rank: int, packet: Packet) -> None:
        """A packet is there."""
        self.received[rank] += packet.payload_bytes
        self.left -= 1
        if not self.left:
            self._then(self)


class Network:
    """All ports of all ranks, the packets on their circuits, and a clock. Times in femtoseconds."""

    def __init__(self, delay_fs: int) -> None:
        self.now_fs = 0
        self.packet_hops = 0
        self._delay_fs = delay_fs
        self._joined: dict[End, Joined | None] = {}
        self._free_fs: dict[End, int] = defaultdict(int)
        self._numbers = count()
        # When; whether an arrival; then what decides among those of one time.
        self._events: list[tuple[int, bool, tuple[int, ...], int, Any]] = []

    def after(self, wait_fs: int, action: Callable[[], None]) -> None:
        """Do something so much later, before the packets that arrive then."""
        heapq.heappush(self._events, (self.now_fs + wait_fs, False, (), next(self._numbers), action))

    def join(self, joined: dict[End, Joined]) -> None:
        """Ports that were dark have circuits."""
        for end, has in joined.items():
            assert self._joined.get(end) is None, f"port {end} has circuits already"
            self._joined[end] = has

    def darken(self, ends: Iterable[End]) -> None:
        """Ports lose their circuits, over which no packet may be on its way."""
        for end in ends:
            assert self._free_fs[end] <= self.now_fs, f"port {end} goes dark while it sends"
            self._joined[end] = None

    def change(self, joined: dict[End, Joined], takes_fs: int, then: Callable[[], None]) -> None:
        """Ports are dark for some time and have other circuits then."""
        self.darken(joined)

        def done() -> None:
            self.join(joined)
            then()

        self.after(takes_fs, done)

    def send(self, packets: list[Packet], then: Callable[[Batch], None]) -> None:
        """Packets are handed over at once, transfer by transfer, each in the order of its packets, or in turn."""
        batch = Batch(len(packets), then)
        for packet in packets:
            key = packet.turn or (packet.flow[0], 0, 0, 0, packet.numbers[0])
            self._arrives(self.now_fs, key, (packet, 0, batch))

    def run(self, until: Moment) -> None:
        """Event after event."""
        while not until.happened:
            self.now_fs, is_packet, _, _, what = heapq.heappop(self._events)
            if is_packet:
                self._serve(*what)
            else:
                what()

    def _arrives(self, time_fs: int, key: tuple[int, ...], what: tuple[Packet, int, Batch]) -> None:
        heapq.heappush(self._events, (time_fs, True, key, next(self._numbers), what))

    def _serve(self, packet: Packet, hop: int, batch: Batch) -> None:
        """A packet is at a port; it is received, or sent on over the next circuit."""
        if hop == len(packet.way):
            batch.receive(packet.way[-1][1][0], packet)
            return
        out, into = packet.way[hop]
        sender, receiver = self._joined.get(out), self._joined.get(into)
        assert sender is not None, f"a packet is sent on the dark port {out}"
        assert receiver is not None, f"a packet is sent to the dark port {into}"
        assert (sender.to, receiver.back) == (into, out), f"a packet of {out} to {into} arrives elsewhere"
        self._free_fs[out] = sent_fs = max(self.now_fs, self._free_fs[out]) + packet.wire_fs[hop]
        self.packet_hops += 1
        key = packet.turn or (*packet.flow, hop + 1, packet.numbers[1])
        self._arrives(sent_fs + self._delay_fs, key, (packet, hop + 1, batch))

"""One rank of a host: in every step it sends, passes on and receives its messages over the connections of circuits.

A message goes over all parallel circuits to the next rank, a piece over each; a rank that passes it on has it whole
first.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.running.hosts.exchange import Exchange, Incoming, Outgoing, piece_of
from lightloom.running.rank_memory import RankMemory

if TYPE_CHECKING:
    from threading import Event

    import numpy as np
    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.hosts.connections import Connections
    from lightloom.running.program import Program

    Array = NDArray[Any]

__all__ = ["HostRank", "StepMoments"]


class StepMoments(NamedTuple):
    """Moments of a rank in a step on its host's clock, seconds; circuits: by port bytes, first and last moment."""

    released_s: float
    sent_s: float
    received_s: float
    arrived_s: float
    circuits: NDArray[np.float64]


class HostRank:
    """A rank of a program; what it needs is held between runs.

    configuration: of every step.
    """

    def __init__(
        self,
        program: Program,
        kind: DataType,
        rank: int,
        ports: int,
        configuration: list[int],
        connections: Connections,
    ) -> None:
        self.memory = RankMemory(program, kind, rank)
        self._rank, self._ports, self._configuration, self._connections = rank, ports, configuration, connections

    def step(self, index: int, reduction: str, limit_s: float, is_over: Event) -> StepMoments:
        """Carry out a step, whose circuits have connections.

        Raises `FailedError` where it takes longer than `limit_s` seconds, `PeerError` where another rank's connection
        ends, and `RunOverError`.
        """
        released_s = time.perf_counter()
        part = self.memory.parts[index]
        links = self._connections.links(self._rank, self._configuration[index])
        exchange = Exchange(self._rank, index, self._ports)
        free = self.memory.buffer
        arriving = []
        for message in part.incoming:
            place, free = free[: message.size], free[message.size :]
            arriving.append(place)
        for origin, connections in links.receiving.items():
            for piece, connection in enumerate(connections):
                places = {
                    message.origin_tag: (order, piece_of(place, piece, len(connections)))
                    for order, (message, place) in enumerate(zip(part.incoming, arriving, strict=True))
                    if message.origin == origin
                }
                if places:
                    exchange.incoming.append(Incoming(connection, origin, places))
        onward = Counter([send.to for send in part.sends] + [forward.to for forward in part.forwards])
        for to, outgoing in links.sending.items():
            if to in onward:
                exchange.outgoing[to] = [Outgoing(connection, port, onward[to]) for port, connection in outgoing]
        for send in part.sends:
            packed, free = self.memory.packed(send, free)
            exchange.put(send.to, send.to_tag, packed)
        # How many pieces of every incoming message are missing.
        missing = [len(links.receiving[message.origin]) for message in part.incoming]

        def arrived(order: int) -> None:
            missing[order] -= 1
            if missing[order] == 0 and order >= len(part.receives):
                forward = part.forwards[order - len(part.receives)]
                exchange.put(forward.to, forward.to_tag, arriving[order])

        exchange.carry_out(arrived, limit_s, is_over)
        self.memory.keep(part, arriving, reduction)
        return StepMoments(released_s, exchange.sent_s, exchange.received_s, time.perf_counter(), exchange.circuits)

"""The exchange of one rank in a step: pieces of messages over connections, in both directions at once."""

from __future__ import annotations

import selectors
import struct
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import FailedError
from lightloom.running.hosts.waiting import PeerError, ready

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from threading import Event

    from numpy.typing import NDArray

    Array = NDArray[Any]

__all__ = ["Exchange", "Incoming", "Outgoing", "piece_of"]

# Before every piece: the tag of its message among those between the same two ranks, and the step.
HEAD = struct.Struct("<II")


def piece_of(message: Array, place: int, count: int) -> memoryview:
    """The bytes of one of so many pieces of a message, whole elements."""
    begin, end = (len(message) * at // count for at in (place, place + 1))
    return message[begin:end].view(np.uint8).data


class Incoming:
    """What one connection brings in a step.

    peer: the rank at its other end. places: by tag, the message's place in the order of what arrives, and where the
    piece goes.
    """

    def __init__(self, connection: socket.socket, peer: int, places: dict[int, tuple[int, memoryview]]) -> None:
        self.connection, self.peer = connection, peer
        self._places = places
        self._head = bytearray(HEAD.size)
        self._free, self._order = memoryview(self._head), -1

    @property
    def is_done(self) -> bool:
        """Whether all has come."""
        return self._order < 0 and not self._places

    def advance(self, step: int) -> list[int]:
        """Take in what has come; the messages whose pieces are whole now.

        Raises `OSError`, and `FailedError` for what does not belong to the step.
        """
        whole = []
        with suppress(BlockingIOError):
            while not self.is_done:
                if self._free:
                    size = self.connection.recv_into(self._free)
                    if size == 0:
                        raise ConnectionResetError(None, "the other side has closed it")
                    self._free = self._free[size:]
                elif self._order < 0:
                    tag, of_step = HEAD.unpack(self._head)
                    if of_step != step or tag not in self._places:
                        raise FailedError(f"message {tag} of step {of_step + 1} came from rank {self.peer}, unasked")
                    self._order, self._free = self._places.pop(tag)
                else:
                    whole.append(self._order)
                    self._order, self._free = -1, memoryview(self._head)
        return whole


class Outgoing:
    """What one connection takes away in a step.

    port: of the rank. left: pieces that have not left, those included that are still to come.
    """

    def __init__(self, connection: socket.socket, port: int, left: int) -> None:
        self.connection, self.port, self.left = connection, port, left
        # Heads and data in turn.
        self.waiting: deque[memoryview] = deque()

    def advance(self) -> int:
        """Send what leaves now; how many bytes of data that was. Raises `OSError`."""
        sent = 0
        with suppress(BlockingIOError):
            while self.waiting:
                one = self.waiting[0]
                size = self.connection.send(one)
                is_data = not one.readonly  # heads are constant bytes
                sent += size if is_data else 0
                if size < len(one):
                    self.waiting[0] = one[size:]
                    break
                self.waiting.popleft()
                self.left -= is_data
        return sent


class Exchange:
    """All connections of a rank in a step.

    outgoing: by next rank. After `carry_out`: sent_s and received_s, when all had left and come, by the clock of the
    machine; circuits: by port the bytes of data that it sent, and when it began and ended to.
    """

    def __init__(self, rank: int, step: int, ports: int) -> None:
        self.incoming: list[Incoming] = []
        self.outgoing: dict[int, list[Outgoing]] = {}
        self.sent_s = self.received_s = time.perf_counter()
        self.circuits = np.zeros((ports, 3))
        self._rank, self._step = rank, step
        self._selector = selectors.DefaultSelector()

    def put(self, to: int, tag: int, message: Array) -> None:
        """Give a message to the connections to its next rank."""
        outgoing = self.outgoing[to]
        for place, one in enumerate(outgoing):
            if not one.waiting:
                self._selector.register(one.connection, selectors.EVENT_WRITE, one)
            one.waiting += (memoryview(HEAD.pack(tag, self._step)), piece_of(message, place, len(outgoing)))

    def carry_out(self, arrived: Callable[[int], None], limit_s: float, is_over: Event) -> None:
        """Send and receive everything; `arrived` is told each time that a piece of a message has come.

        Raises `FailedError` where that takes longer than `limit_s` seconds, `PeerError` where a connection ends, and
        `RunOverError`.
        """
        deadline = time.monotonic() + limit_s
        with self._selector:
            for incoming in self.incoming:
                self._selector.register(incoming.connection, selectors.EVENT_READ, incoming)
            coming = len(self.incoming)
            leaving = sum(one.left for of_peer in self.outgoing.values() for one in of_peer)
            while coming or leaving:
                for key, _ in ready(self._selector, is_over):
                    if isinstance(key.data, Incoming):
                        coming -= self._take(key.data, arrived)
                        self.received_s = time.perf_counter()
                    else:
                        leaving -= self._send(key.data)
                        self.sent_s = time.perf_counter()
                if (coming or leaving) and time.monotonic() > deadline:
                    said = f"not all was sent and received within {limit_s:g} s"
                    raise FailedError(f"rank {self._rank}, step {self._step + 1}: {said}")

    def _take(self, incoming: Incoming, arrived: Callable[[int], None]) -> bool:
        """Whether it is the end of what this connection brings."""
        try:
            whole = incoming.advance(self._step)
        except OSError as error:
            raise self._lost(f"the connection from rank {incoming.peer}", error) from error
        for order in whole:
            arrived(order)
        if incoming.is_done:
            self._selector.unregister(incoming.connection)
        return incoming.is_done

    def _send(self, outgoing: Outgoing) -> int:
        """How many pieces have left."""
        before, began_s = outgoing.left, time.perf_counter()
        try:
            sent = outgoing.advance()
        except OSError as error:
            raise self._lost(f"the connection of port {outgoing.port}", error) from error
        if not outgoing.waiting:
            self._selector.unregister(outgoing.connection)
        used = self.circuits[outgoing.port]
        used[1] = used[1] if used[0] else began_s
        used[0] += sent
        used[2] = time.perf_counter()
        return before - outgoing.left

    def _lost(self, what: str, error: OSError) -> PeerError:
        return PeerError(f"rank {self._rank}, step {self._step + 1}: {what} broke: {error.strerror}")

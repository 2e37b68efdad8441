"""Connections that are opened for circuits, by both sides at once."""

from __future__ import annotations

import selectors
import socket
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import FailedError
from lightloom.running.hosts.waiting import LOOK_S, ready

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from threading import Event
    from typing import Self

    Circuit = tuple[int, int]
    Place = tuple[str, int]

__all__ = ["Ends", "Opening"]

# The sender's first message after the token of the run: its port and the receiver's.
CIRCUIT = struct.Struct("<II")
# Seconds between two attempts: a port whose light has come back may take its time.
AGAIN_S = 0.1


class Ends(NamedTuple):
    """One host's ends of circuits.

    listeners: by port of a receiver, its listening socket. transmitters: by port, the address that it sends from, text
    without anything where any does. places: of all ports of all hosts, where their receivers listen. token: of the run,
    which every connection begins with. name: a circuit in words.
    """

    listeners: Mapping[int, socket.socket]
    transmitters: Mapping[int, str]
    places: Sequence[Place]
    token: bytes
    name: Callable[[Circuit], str]


class Opening:
    """Opens connections, as a context: those that are not there at its end are given up.

    sending, receiving: connections by circuit, as far as they are open.
    """

    def __init__(self, ends: Ends, is_over: Event) -> None:
        self._ends, self._is_over = ends, is_over
        self._selector = selectors.DefaultSelector()
        self._half_open: set[socket.socket] = set()
        self._why: dict[Circuit, str] = {}
        # When to try a circuit next.
        self._due: dict[Circuit, float] = {}
        self._awaited: set[Circuit] = set()
        self.sending: dict[Circuit, socket.socket] = {}
        self.receiving: dict[Circuit, socket.socket] = {}

    def open(self, out: set[Circuit], into: set[Circuit], limit_s: float) -> None:
        """Open the connections of circuits that begin here, and wait for those of circuits that end here.

        Raises `FailedError` that names a circuit without a connection after `limit_s` seconds.
        """
        deadline = time.monotonic() + limit_s
        for port, listener in self._ends.listeners.items():
            self._selector.register(listener, selectors.EVENT_READ, (self._accept, port, listener))
        self._due = dict.fromkeys(sorted(out), 0.0)
        self._awaited = set(into)
        while len(self.sending) < len(out) or self._awaited:
            for circuit in [one for one, at in self._due.items() if at <= time.monotonic()]:
                del self._due[circuit]
                self._connect(circuit)
            for key, _ in ready(self._selector, self._is_over, AGAIN_S if self._due else LOOK_S):
                act, *told = key.data
                act(*told)
            if time.monotonic() > deadline:
                circuit = min((out - set(self.sending)) or self._awaited)
                why = f" ({self._why[circuit]})" if circuit in self._why else ""
                raise FailedError(f"{self._ends.name(circuit)} leads nowhere: no connection within {limit_s:g} s{why}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for one in self._half_open:
            one.close()

    def _connect(self, circuit: Circuit) -> None:
        address, number = self._ends.places[circuit[1]]
        one = None
        try:
            family, kind, _, _, target = socket.getaddrinfo(address, number, type=socket.SOCK_STREAM)[0]
            one = socket.socket(family, kind)
            self._half_open.add(one)
            one.setblocking(False)
            if source := self._ends.transmitters[circuit[0]]:
                one.bind((source, 0))
            with suppress(BlockingIOError):
                one.connect(target)
        except OSError as error:
            self._fail(circuit, one, error)
        else:
            self._selector.register(one, selectors.EVENT_WRITE, (self._connected, circuit, one))

    def _connected(self, circuit: Circuit, one: socket.socket) -> None:
        self._selector.unregister(one)
        try:
            # An empty buffer takes these few bytes at once; a connection that was refused says so here.
            one.send(self._ends.token + CIRCUIT.pack(*circuit))
        except OSError as error:
            self._fail(circuit, one, error)
        else:
            self._take(self.sending, circuit, one)

    def _fail(self, circuit: Circuit, one: socket.socket | None, error: OSError) -> None:
        self._why[circuit] = error.strerror or type(error).__name__
        self._due[circuit] = time.monotonic() + AGAIN_S
        if one is not None:
            self._half_open.discard(one)
            one.close()

    def _accept(self, port: int, listener: socket.socket) -> None:
        with suppress(BlockingIOError, ConnectionError):
            one, _ = listener.accept()
            self._half_open.add(one)
            one.setblocking(False)
            self._selector.register(one, selectors.EVENT_READ, (self._introduced, port, one, bytearray()))

    def _introduced(self, port: int, one: socket.socket, found: bytearray) -> None:
        size = len(self._ends.token) + CIRCUIT.size
        part = b""
        with suppress(OSError):
            part = one.recv(size - len(found))
        found += part
        if part and len(found) < size:
            return
        self._selector.unregister(one)
        circuit = CIRCUIT.unpack(found[-CIRCUIT.size :]) if len(found) == size else (-1, -1)
        is_right = found.startswith(self._ends.token) and circuit in self._awaited and circuit[1] == port
        if not is_right:  # a stranger
            self._half_open.discard(one)
            one.close()
            return
        self._awaited.discard(circuit)
        self._take(self.receiving, circuit, one)

    def _take(self, connections: dict[Circuit, socket.socket], circuit: Circuit, one: socket.socket) -> None:
        self._half_open.discard(one)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connections[circuit] = one

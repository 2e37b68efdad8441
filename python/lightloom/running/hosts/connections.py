"""The connections of a host's ranks: one for every circuit that is there, from one rank's port to the other's.

A connection is opened when its circuit is lit, and closed by both sides before the circuit is taken away, so that
nothing is sent on a port without a circuit. Data go from the transmitter's address of one port to the receiver's of the
other; what the receiving kernel acknowledges goes back as its routes say, since a circuit leads one way.
"""

from __future__ import annotations

import selectors
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import FailedError
from lightloom.running.hosts.opening import Ends, Opening
from lightloom.running.hosts.waiting import PeerError, ready

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    from lightloom.running.hosts.description import PortAddresses

    Circuit = tuple[int, int]
    Place = tuple[str, int]

__all__ = ["Connections", "Links"]


class Links(NamedTuple):
    """The connections of one rank, by other rank: of parallel circuits in the order of the sender's ports.

    sending: each with this rank's port.
    """

    sending: dict[int, list[tuple[int, socket.socket]]]
    receiving: dict[int, list[socket.socket]]


class Connections:
    """All connections that begin or end at the ranks of one host.

    ports: of a rank. first: the host's first rank. own: addresses by rank of the host and port; here: the address where
    these say nothing. configurations: of all ranks, each its circuits from port to port, both counted rank by rank.
    token: of the run. Raises `FailedError` where an address is not this host's.
    """

    def __init__(
        self,
        ports: int,
        first: int,
        own: Sequence[PortAddresses],
        here: str,
        configurations: Sequence[Sequence[Circuit]],
        token: bytes,
    ) -> None:
        self._ports, self._token = ports, token
        self._configurations = [{(begin, end) for begin, end in circuits} for circuits in configurations]
        self._sending: dict[Circuit, socket.socket] = {}
        self._receiving: dict[Circuit, socket.socket] = {}
        self._transmitters = {first * ports + place: one.transmitter for place, one in enumerate(own)}
        self._listeners: dict[int, socket.socket] = {}
        try:
            for port, one in zip(self._transmitters, own, strict=True):
                self._listeners[port] = self._listening(port, one.receiver or here)
        except FailedError:
            self.end()
            raise

    @property
    def places(self) -> list[Place]:
        """Address and number of the listening socket of each of the host's ports."""
        return [listener.getsockname()[:2] for listener in self._listeners.values()]

    def links(self, rank: int, configuration: int) -> Links:
        """The connections of a rank in a configuration, which are open."""
        links = Links({}, {})
        for begin, end in sorted(self._configurations[configuration]):
            if begin // self._ports == rank:
                one = begin % self._ports, self._sending[begin, end]
                links.sending.setdefault(end // self._ports, []).append(one)
            if end // self._ports == rank:
                links.receiving.setdefault(begin // self._ports, []).append(self._receiving[begin, end])
        return links

    def open(self, configuration: int, places: Sequence[Place], limit_s: float, is_over: Event) -> None:
        """Open the connections of a configuration that are not open, together with all other hosts.

        places: of all ports. limit_s: seconds after which a circuit is held to lead nowhere. Raises `FailedError` that
        names the circuit, and `RunOverError`.
        """
        wanted = self._configurations[configuration]
        out = {one for one in wanted if one[0] in self._listeners} - set(self._sending)
        into = {one for one in wanted if one[1] in self._listeners} - set(self._receiving)
        ends = Ends(self._listeners, self._transmitters, places, self._token, self._name)
        with Opening(ends, is_over) as opening:
            try:
                opening.open(out, into, limit_s)
            finally:
                self._sending |= opening.sending
                self._receiving |= opening.receiving

    def close_all_but(self, configuration: int, limit_s: float, is_over: Event) -> None:
        """Close the connections that a configuration does not have, together with all other hosts.

        Both sides have closed them then, and no kernel has anything left to send. Raises `FailedError`, `PeerError`
        where the other side does not close one, and `RunOverError`.
        """
        kept = self._configurations[configuration]
        sending = {one: self._sending[one] for one in set(self._sending) - kept}
        receiving = {one: self._receiving[one] for one in set(self._receiving) - kept}
        for connection in sending.values():
            with suppress(OSError):  # what is wrong with it shows below
                connection.shutdown(socket.SHUT_WR)
        for ending, connections in ((receiving, self._receiving), (sending, self._sending)):
            self._until_ended(ending, limit_s, is_over)
            for circuit in ending:
                connections.pop(circuit).close()

    def end(self) -> None:
        """Let go of everything at once."""
        for of_kind in (self._listeners, self._sending, self._receiving):
            for one in of_kind.values():
                one.close()

    def _until_ended(self, connections: dict[Circuit, socket.socket], limit_s: float, is_over: Event) -> None:
        deadline = time.monotonic() + limit_s
        left = dict(connections)
        with selectors.DefaultSelector() as selector:
            for circuit, one in connections.items():
                selector.register(one, selectors.EVENT_READ, circuit)
            while left:
                for key, _ in ready(selector, is_over):
                    one = left.pop(key.data)
                    selector.unregister(one)
                    try:
                        late = one.recv(1)
                    except OSError as error:
                        raise PeerError(f"{self._name(key.data)}: {error.strerror}") from error
                    if late:
                        raise FailedError(f"{self._name(key.data)}: data came that belong to no step")
                if left and time.monotonic() > deadline:
                    raise PeerError(f"{self._name(min(left))}: the other side has not closed it within {limit_s:g} s")

    def _listening(self, port: int, address: str) -> socket.socket:
        try:
            family, kind, _, _, place = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
            one = socket.socket(family, kind)
            try:
                one.bind(place)
                one.listen(128)
            except OSError:
                one.close()
                raise
        except OSError as error:
            raise FailedError(f"{self._port_name(port)} is not reached at {address} here: {error.strerror}") from error
        one.setblocking(False)
        return one

    def _name(self, circuit: Circuit) -> str:
        return f"the circuit from {self._port_name(circuit[0])} to {self._port_name(circuit[1])}"

    def _port_name(self, port: int) -> str:
        rank, place = divmod(port, self._ports)
        return f"rank {rank}" if self._ports == 1 else f"port {place} of rank {rank}"

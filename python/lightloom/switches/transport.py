"""Lines over TCP: sending and receiving take bounded time and memory with any behaviour of the other side."""

from __future__ import annotations

import socket
from time import monotonic
from typing import TYPE_CHECKING

from lightloom.switches.failures import LostError, SwitchError

if TYPE_CHECKING:
    from lightloom.switches.address import Address

# Bytes of an answer that are read: 1024 circuits are some 10 kB.
LONGEST_ANSWER = 1 << 18
# Bytes of all answers to commands sent at once.
MOST_BYTES = 1 << 22
CHUNK = 1 << 14


class Connection:
    """Bytes to and from a switch. After an error nothing is left of it, and the next call connects anew."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._timeout_s = address.seconds("timeout")
        self._socket: socket.socket | None = None
        self._received = b""
        self._deadline_s = 0.0
        self._count = 0

    @property
    def is_open(self) -> bool:
        """Whether there is a connection."""
        return self._socket is not None

    def send(self, content: bytes) -> None:
        """Send all of it, connecting first where there is no connection; the time for its answer begins.

        Raises `SwitchError`.
        """
        self._deadline_s = monotonic() + self._timeout_s
        self._count = 0
        try:
            if self._socket is None:
                self._socket = connected(self._address, self._deadline_s)
            self._socket.settimeout(self._left_s())
            self._socket.sendall(content)
        except (OSError, UnicodeError) as error:
            raise self._failed(error) from error

    def line(self) -> bytes:
        """The next line without its end. Raises `SwitchError`, also for a line that does not end."""
        while b"\n" not in self._received:
            if len(self._received) > LONGEST_ANSWER:
                self.close()
                raise SwitchError(f"its answer does not end within {LONGEST_ANSWER} bytes")
            self._receive()
        line, _, self._received = self._received.partition(b"\n")
        return line.rstrip(b"\r")

    def exactly(self, count: int) -> bytes:
        """The next bytes; `count` has been checked. Raises `SwitchError`."""
        while len(self._received) < count:
            self._receive()
        content, self._received = self._received[:count], self._received[count:]
        return content

    def close(self) -> None:
        """Let go of the connection and of received bytes."""
        opened, self._socket = self._socket, None
        self._received = b""
        if opened is not None:
            opened.close()

    def _receive(self) -> None:
        try:
            if self._socket is None:
                raise ConnectionError("it was not connected")
            self._socket.settimeout(self._left_s())
            received = self._socket.recv(CHUNK)
        except OSError as error:
            raise self._failed(error) from error
        if not received:
            self.close()
            raise LostError(f"{self._address.place} ended the connection before its answer")
        self._received += received
        self._count += len(received)
        if self._count > MOST_BYTES:
            self.close()
            raise SwitchError(f"its answers are longer than {MOST_BYTES} bytes")

    def _left_s(self) -> float:
        return _left_s(self._deadline_s)

    def _failed(self, error: Exception) -> SwitchError:
        was_open = self.is_open
        self.close()
        return failed(self._address, error, was_open=was_open)


def connected(address: Address, deadline_s: float) -> socket.socket:
    """A connection to the first place of the address's that takes one, all tried by one deadline of `monotonic`.

    The rest of the time is the socket's timeout. Raises `OSError`, and `UnicodeError` for an invalid name.
    """
    failure: OSError = OSError("it has no address")
    for family, kind, protocol, _, place in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.settimeout(_left_s(deadline_s))
            opened.connect(place)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.settimeout(_left_s(deadline_s))
        except OSError as error:
            opened.close()
            failure = error
        else:
            return opened
    raise failure


def _left_s(deadline_s: float) -> float:
    left_s = deadline_s - monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s


def failed(address: Address, error: Exception, *, was_open: bool) -> SwitchError:
    """The error for a system error of a connection that was open, or was being opened."""
    if isinstance(error, TimeoutError):
        late = "no answer from" if was_open else "cannot be reached:"
        return SwitchError(f"{late} {address.place} within {address.seconds('timeout'):g} s")
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if was_open:
        return LostError(f"the connection to {address.place} was lost: {said}")
    return SwitchError(f"cannot be reached at {address.place}: {said}")

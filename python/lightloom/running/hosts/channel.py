"""Authenticated messages between the command and the agent of a host.

Both prove first that they know the secret, each by a keyed hash of both sides' random numbers (a challenge and response
as of ISO/IEC 9798-4); then every message has a keyed hash of its number, its direction and all of its content, so that
none is made up, changed, left out or said again. Nothing is encrypted but by TLS, where it is given.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import socket
import ssl
import struct
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import FailedError
from lightloom.running.hosts.tls import fault_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["HANDSHAKE_S", "Channel", "ChannelError", "answered", "asked", "secured"]

# The agent's first line; its number is the version of the messages.
GREETING = b"lightloom agent 2\n"
NONCE, HASH = 32, 32
# Lengths of a message's text and of its data.
HEAD = struct.Struct("<QQ")
# No message is longer: a plan's text, and the data of a host's ranks.
MOST_TEXT, MOST_DATA = 1 << 28, 1 << 36
# Bytes that are taken from the network at once, so that memory grows only with what has come, and given to it.
PIECE = 1 << 20
# Seconds in which the other side proves that it knows the secret, and in which it takes or sends a piece of a message.
HANDSHAKE_S, MESSAGE_S = 10.0, 15.0
# The shortest wait of a socket; none would be no limit.
LEAST_S = 1e-3


class ChannelError(FailedError):
    """A connection that ended, or whose messages are not the other side's; `str(error)` says which."""


class Channel:
    """Messages over a connection on which both sides have proved themselves.

    key: of this connection. speaks, hears: the names of the two directions. Several threads may send.
    """

    def __init__(self, connection: socket.socket, key: bytes, speaks: bytes, hears: bytes) -> None:
        self.connection = connection
        self._key, self._speaks, self._hears = key, speaks, hears
        self._sent = self._heard = 0
        # One lock for both directions, because TLS takes one call of a connection at a time.
        self._lock = Lock()
        connection.settimeout(MESSAGE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, message: dict[str, Any], data: Sequence[Any] = ()) -> None:
        """Send a message of JSON, with data as bytes or contiguous arrays. Raises `ChannelError`."""
        views = [memoryview(one).cast("B") for one in data if memoryview(one).nbytes]
        text = json.dumps({**message, "sizes": [memoryview(one).nbytes for one in data]}).encode()
        with self._lock:
            head = HEAD.pack(len(text), sum(view.nbytes for view in views))
            code = self._code(self._speaks, self._sent, head, text)
            for view in views:
                code.update(view)
            self._sent += 1
            try:
                self.connection.sendall(head + text)
                for view in views:
                    for begin in range(0, view.nbytes, PIECE):
                        self.connection.sendall(view[begin : begin + PIECE])
                self.connection.sendall(code.digest())
            except OSError as error:
                raise ChannelError(_why(error)) from error

    def receive(self) -> tuple[dict[str, Any], list[memoryview]]:
        """The next message and its data, which are the caller's. Raises `ChannelError`."""
        with self._lock:
            return self._received()

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()

    def _received(self) -> tuple[dict[str, Any], list[memoryview]]:
        try:
            head = _exactly(self.connection, HEAD.size)
            text_size, data_size = HEAD.unpack(head)
            if text_size > MOST_TEXT or data_size > MOST_DATA:
                raise ChannelError("it sent a message that is too long")
            text, data = _exactly(self.connection, text_size), _exactly(self.connection, data_size)
            said = _exactly(self.connection, HASH)
        except OSError as error:
            raise ChannelError(_why(error)) from error
        code = self._code(self._hears, self._heard, head, text)
        code.update(data)
        if not hmac.compare_digest(code.digest(), said):
            raise ChannelError("it sent a message with a wrong hash")
        self._heard += 1
        message = json.loads(bytes(text))
        parts, at = [], 0
        for size in message.pop("sizes"):
            parts.append(memoryview(data)[at : at + size])
            at += size
        return message, parts

    def _code(self, direction: bytes, number: int, head: bytes | bytearray, text: bytes | bytearray) -> hmac.HMAC:
        code = hmac.new(self._key, direction + number.to_bytes(8, "little") + head, hashlib.sha256)
        code.update(text)
        return code


def secured(connection: socket.socket, tls: ssl.SSLContext, name: str | None = None) -> socket.socket:
    """The connection under TLS. Raises `ChannelError`; the connection is closed then.

    name: of the agent's host, for which the agent's certificate has to be; None at the agent.
    """
    connection.settimeout(HANDSHAKE_S)
    try:
        return tls.wrap_socket(connection, server_side=name is None, server_hostname=name)
    except OSError as error:
        connection.close()
        raise ChannelError(_why(error)) from error


def asked(connection: socket.socket, secret: bytes) -> Channel:
    """The channel of the command, which has connected. Raises `ChannelError` where the agent does not know the secret.

    The agent is the first to speak.
    """
    connection.settimeout(HANDSHAKE_S)
    greeted = False
    try:
        greeting = bytes(_exactly(connection, len(GREETING), monotonic() + HANDSHAKE_S))
        if greeting != GREETING:
            raise ChannelError("what listens there is no agent of this version")
        greeted = True
        end_s = monotonic() + HANDSHAKE_S
        theirs, mine = bytes(_exactly(connection, NONCE, end_s)), secrets.token_bytes(NONCE)
        connection.sendall(mine + _proof(secret, b"command", theirs, mine))
        proof = _exactly(connection, HASH, end_s)
    except OSError as error:
        ended = greeted and isinstance(error, EndedError | ConnectionError)
        reason = "it knows another secret" if ended else _why(error)
        if not greeted and not isinstance(connection, ssl.SSLSocket):
            reason += ", as agents with --tls do where the command has none"
        raise ChannelError(reason) from error
    if not hmac.compare_digest(_proof(secret, b"agent", theirs, mine), proof):
        raise ChannelError("it knows another secret")
    return Channel(connection, _proof(secret, b"messages", theirs, mine), b"command", b"agent")


def answered(connection: socket.socket, secret: bytes) -> Channel:
    """The channel of the agent, to which somebody has connected. Raises `ChannelError` where that does not know it."""
    mine = secrets.token_bytes(NONCE)
    try:
        connection.settimeout(HANDSHAKE_S)
        connection.sendall(GREETING + mine)
        told = _exactly(connection, NONCE + HASH, monotonic() + HANDSHAKE_S)
        theirs, proof = bytes(told[:NONCE]), told[NONCE:]
        if not hmac.compare_digest(_proof(secret, b"command", mine, theirs), proof):
            raise ChannelError("it knows another secret")
        connection.sendall(_proof(secret, b"agent", mine, theirs))
    except OSError as error:
        raise ChannelError(_why(error)) from error
    return Channel(connection, _proof(secret, b"messages", mine, theirs), b"agent", b"command")


class EndedError(OSError):
    """A connection that the other side has ended."""


def _proof(secret: bytes, who: bytes, of_agent: bytes, of_command: bytes) -> bytes:
    return hmac.new(secret, who + of_agent + of_command, hashlib.sha256).digest()


def _exactly(connection: socket.socket, size: int, end_s: float | None = None) -> bytearray:
    """So many bytes, by a moment where one is given, however slowly they come."""
    found = bytearray()
    while len(found) < size:
        if end_s is not None:
            connection.settimeout(max(end_s - monotonic(), LEAST_S))
        part = connection.recv(min(size - len(found), PIECE))
        if not part:
            raise EndedError
        found += part
    return found


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return fault_of(error)
    if isinstance(error, EndedError | ConnectionError):
        return "it closed its connection"
    if isinstance(error, TimeoutError):
        return "it does not answer"
    return f"its connection broke: {error.strerror or type(error).__name__}"

"""Commands that come to an agent: several prove themselves at once, and one after the other is served."""

from __future__ import annotations

import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import BoundedSemaphore, Lock, Thread
from typing import TYPE_CHECKING

from lightloom.running.hosts.channel import Channel, ChannelError, answered, secured

if TYPE_CHECKING:
    import socket
    import ssl

__all__ = ["Reception"]

# Connections that may prove themselves at once, and seconds before another is taken after one that failed.
MOST_AT_ONCE, AGAIN_S = 16, 0.1
# Seconds for which a command waits for the end of the one before, until it is told that the agent is busy.
TURN_S = 5.0


class Reception:
    """Takes connections in threads of its own; a connection whose other side does not know the secret is closed.

    A command has its turn from the moment when `awaited` returns its channel until `leave`. Other commands that come
    meanwhile are told since when the agent is busy.
    """

    def __init__(self, listener: socket.socket, secret: bytes, tls: ssl.SSLContext | None) -> None:
        self._listener, self._secret, self._tls = listener, secret, tls
        self._places = BoundedSemaphore(MOST_AT_ONCE)
        self._turn = Lock()
        self._since = ""
        self._next: SimpleQueue[Channel] = SimpleQueue()
        Thread(target=self._take, daemon=True).start()

    def awaited(self, within_s: float | None) -> Channel | None:
        """The channel of the next command; None where none comes within so many seconds."""
        try:
            return self._next.get(timeout=within_s)
        except Empty:
            return None

    def leave(self) -> None:
        """End the turn of a command."""
        self._turn.release()

    def _take(self) -> None:
        while self._listener.fileno() >= 0:
            self._places.acquire()
            try:
                connection, _ = self._listener.accept()
            except OSError:
                self._places.release()
                time.sleep(AGAIN_S)
                continue
            Thread(target=self._meet, args=(connection,), daemon=True).start()

    def _meet(self, connection: socket.socket) -> None:
        with suppress(ChannelError):
            channel = self._proved(connection)
            if not self._turn.acquire(timeout=TURN_S):
                channel.send({"kind": "busy", "since": self._since})
                channel.close()
                return
            self._since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
            try:
                channel.send({"kind": "ready"})
            except ChannelError:
                channel.close()
                self.leave()
                raise
            self._next.put(channel)

    def _proved(self, connection: socket.socket) -> Channel:
        try:
            if self._tls is not None:
                connection = secured(connection, self._tls)
            return answered(connection, self._secret)
        except ChannelError:
            connection.close()
            raise
        finally:
            self._places.release()

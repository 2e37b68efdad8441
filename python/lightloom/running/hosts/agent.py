"""The agent of a host: `python -m lightloom.running.hosts.agent --listen ADDRESS:PORT`, for `run --transport tcp`.

It takes one command after the other, each over a connection of its own, whose other side has to know the secret: that
of the environment variable `LIGHTLOOM_SECRET`, or the first line of standard input with `--secret-from-input`, which
then has to stay open as long as the agent is to live. With `--once` it ends with its first command. With `--tls FOLDER`
connections are encrypted, and both sides show certificates of one authority: cert.pem, key.pem and ca.pem of FOLDER.
"""

from __future__ import annotations

import argparse
import os
import select
import socket
import sys
import time
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from lightloom.base.errors import FailedError, InputError, printable, refuse
from lightloom.running.hosts.channel import Channel, ChannelError
from lightloom.running.hosts.part import HostPart
from lightloom.running.hosts.reception import Reception
from lightloom.running.hosts.secret import checked_secret, secret_told
from lightloom.running.hosts.tls import context_in
from lightloom.running.hosts.waiting import PeerError, RunOverError
from lightloom.running.lateness import probed

__all__ = ["Session", "listening", "main"]

# Kinds of messages that ask a host's part of a run to act; each is a method of `HostPart`.
ACTS = ("open", "close", "begin", "step", "finish")
# Seconds that an agent which was started for one command waits for it.
AWAITED_S = 120.0
MOST_PORT = 65_535
# Seconds after which a silent connection is tried, how often, and how many times.
KEEP_ALIVE = {"TCP_KEEPIDLE": 5, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}


class Session:
    """What one command asks of this host, until its connection ends.

    One thread hears the command, so that it is answered while another works.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._here = str(channel.connection.getsockname()[0])
        self._asked: SimpleQueue[tuple[dict[str, Any], list[memoryview]] | None] = SimpleQueue()
        self._is_over = Event()
        self._part: HostPart | None = None
        channel.connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEP_ALIVE.items():
            if hasattr(socket, name):
                channel.connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def serve(self) -> None:
        """Do what is asked until the command goes; nothing of its run is left then."""
        worker = Thread(target=self._work)
        worker.start()
        try:
            while True:
                select.select([self._channel.connection], [], [])
                message, data = self._channel.receive()
                if message.get("kind") == "ping":
                    self._channel.send({"kind": "pong", "number": message["number"], "clock_s": time.perf_counter()})
                else:
                    self._asked.put((message, data))
        except ChannelError:
            pass
        finally:
            self._is_over.set()
            self._asked.put(None)
            worker.join()
            self._channel.close()

    def _work(self) -> None:
        try:
            while (asked := self._asked.get()) is not None:
                try:
                    answer, data = self._done(*asked)
                    self._channel.send({"kind": "done", **answer}, data)
                except (InputError, FailedError) as error:
                    self._fail(str(error), is_peer=isinstance(error, PeerError))
                except RunOverError:
                    pass
                except Exception as error:
                    self._fail(printable(str(error) or type(error).__name__))
        except ChannelError:
            pass
        finally:
            self._end_part()

    def _done(self, message: dict[str, Any], data: list[memoryview]) -> tuple[dict[str, Any], Any]:
        kind = message.get("kind")
        if kind == "prepare":
            self._end_part()
            self._is_over.clear()
            self._part = HostPart(message, data, self._here, self._is_over)
            return {"places": self._part.places, "late_s": probed()}, ()
        if not isinstance(kind, str) or kind not in ACTS or self._part is None:
            raise FailedError(f"the command asks for `{printable(str(kind))[:40]}`, which is not its turn")
        answer: tuple[dict[str, Any], Any] = getattr(self._part, kind)(message)
        return answer

    def _fail(self, said: str, *, is_peer: bool = False) -> None:
        self._channel.send({"kind": "failed", "said": said, "is_peer": is_peer})

    def _end_part(self) -> None:
        if self._part is not None:
            self._part.end()
            self._part = None


def listening(place: str) -> socket.socket:
    """A socket that listens at `ADDRESS:PORT`, or at `:PORT` of all addresses. Raises `InputError`."""
    address, _, number = place.rpartition(":")
    if not (number.isascii() and number.isdecimal() and int(number) <= MOST_PORT):
        raise refuse("listen", f"`{place}` is not accepted; it takes ADDRESS:PORT or :PORT, ports 0 to {MOST_PORT}")
    try:
        family, kind, _, _, target = socket.getaddrinfo(
            address.strip("[]") or None, int(number), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        one = socket.socket(family, kind)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(target)
        one.listen(16)
    except (OSError, ValueError) as error:
        raise refuse("listen", f"`{place}` is not accepted: {getattr(error, 'strerror', None) or error}") from error
    return one


def serve(reception: Reception, *, once: bool) -> None:
    """Serve one command after the other, or one. An agent for one command ends where none comes in time."""
    while (channel := reception.awaited(AWAITED_S if once else None)) is not None:
        Session(channel).serve()
        if once:
            return
        reception.leave()


def main(arguments: list[str] | None = None) -> int:
    """Serve until interrupted; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m lightloom.running.hosts.agent", description=__doc__)
    parser.add_argument("--listen", required=True, metavar="ADDRESS:PORT")
    parser.add_argument("--once", action="store_true", help="end with the first command")
    parser.add_argument("--tls", metavar="FOLDER", help="encrypt, by cert.pem, key.pem and ca.pem of FOLDER")
    parser.add_argument("--secret-from-input", action="store_true", help="read the secret from standard input")
    told = parser.parse_args(arguments)
    try:
        secret = (
            checked_secret("standard input", sys.stdin.readline().strip()) if told.secret_from_input else secret_told()
        )
        tls = None if told.tls is None else context_in(told.tls, of_agent=True)
        listener = listening(told.listen)
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    if told.secret_from_input:
        Thread(target=_end_with_input, daemon=True).start()
    if not told.once:
        sys.stdout.write("listens at {}:{}\n".format(*listener.getsockname()[:2]))
        sys.stdout.flush()
    try:
        with listener:
            serve(Reception(listener, secret, tls), once=told.once)
    except KeyboardInterrupt:
        return 130
    return 0


def _end_with_input() -> None:
    """End where who started this process is gone."""
    while sys.stdin.readline():
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())

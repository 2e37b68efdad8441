"""The agents of all hosts, as the command sees them: everybody is asked, and everybody answers or is lost."""

from __future__ import annotations

import selectors
import socket
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse
from lightloom.running.controller import RunFailedError
from lightloom.running.hosts.channel import HANDSHAKE_S, Channel, ChannelError, asked, secured

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

    from lightloom.running.hosts.description import Host

    Answer = tuple[dict[str, Any], list[memoryview]]

__all__ = ["Agents"]

# Seconds until an agent that was started has to listen, and between two attempts.
START_S, AGAIN_S = 60.0, 0.1
# Seconds between two questions whether agents are there, and after which a silent one is lost.
PING_S, SILENT_S = 1.0, 15.0
# Seconds in which others may say what a failure is due to, and between two looks at the time.
GRACE_S, LOOK_S = 1.0, 0.5
# Ranks of failures: a host that is gone, one that says why it cannot go on, one that misses another.
LOST, FAILED, MISSED = range(3)


class Failure(NamedTuple):
    """What went wrong at a host; that of the least rank is nearest to the cause."""

    rank: int
    text: str


class Agents:
    """Connections to the agents of hosts.

    number: the TCP port of all agents. tls: of encrypted connections; None for plain ones. ended: says why, where the
    program that started an agent has ended. waits: whether agents are only just starting. Raises `RunFailedError` that
    names a host that is not reached, is busy, knows another secret, or shows no certificate that is accepted.
    """

    def __init__(
        self,
        hosts: Sequence[Host],
        number: int,
        secret: bytes,
        tls: ssl.SSLContext | None,
        *,
        waits: bool,
        ended: Callable[[], str | None],
    ) -> None:
        self._hosts = list(hosts)
        self._channels: list[Channel] = []
        deadline = time.monotonic() + (START_S if waits else 0.0)
        try:
            for host in hosts:
                self._channels.append(_connected(host, number, secret, tls, deadline, ended))
        except BaseException:
            self.close()
            raise

    def ask(
        self, message: dict[str, Any], where: str, of_host: Sequence[tuple[dict[str, Any], Sequence[Any]]] | None = None
    ) -> list[Answer]:
        """Ask all agents, and wait for the answers of all.

        where: the place in the run, for messages. of_host: what else is asked of each host, and its data. Raises
        `RunFailedError` that names the host that was lost or failed.
        """
        failures: list[Failure] = []
        for index, channel in enumerate(self._channels):
            more, data = ({}, ()) if of_host is None else of_host[index]
            try:
                channel.send(message | more, data)
            except ChannelError as error:
                failures.append(self._lost(index, where, str(error)))
        answers: list[Answer | None] = [None] * len(self._channels)
        if not failures:
            self._await(answers, failures, where)
        if failures:
            raise RunFailedError(f"{min(failures).text}; all hosts were told to stop")
        return [answer for answer in answers if answer is not None]

    def round_trips(self, count: int) -> list[list[tuple[float, float, float]]]:
        """By host so many exchanges: when the question left and the answer came, and the agent's clock in between.

        Raises `RunFailedError` as `ask` does.
        """
        return [[self._round_trip(index, number) for number in range(count)] for index in range(len(self._channels))]

    def close(self) -> None:
        """Let go of all agents, which end what they do then."""
        for channel in self._channels:
            channel.close()

    def _await(self, answers: list[Answer | None], failures: list[Failure], where: str) -> None:
        heard_s = [time.monotonic()] * len(answers)
        pinged_s, end_s = time.monotonic(), float("inf")
        left = set(range(len(answers)))
        with selectors.DefaultSelector() as selector:
            for index, channel in enumerate(self._channels):
                selector.register(channel.connection, selectors.EVENT_READ, index)
            while left and time.monotonic() < end_s:
                for key, _ in selector.select(LOOK_S):
                    index = key.data
                    try:
                        message, data = self._channels[index].receive()
                    except ChannelError as error:
                        failures.append(self._lost(index, where, str(error)))
                        selector.unregister(key.fileobj)
                        left.discard(index)
                        continue
                    heard_s[index] = time.monotonic()
                    if message["kind"] == "done":
                        answers[index] = message, data
                        left.discard(index)
                    elif message["kind"] == "failed":
                        said = f"host {self._hosts[index].name} failed {where}: {message['said']}"
                        failures.append(Failure(MISSED if message["is_peer"] else FAILED, said))
                        left.discard(index)
                now = time.monotonic()
                for index in [one for one in left if now - heard_s[one] > SILENT_S]:
                    failures.append(self._lost(index, where, f"it has not answered for {SILENT_S:g} s"))
                    left.discard(index)
                if now - pinged_s > PING_S:
                    pinged_s = now
                    self._ping(left, failures, where)
                if failures:
                    # An agent that only misses another may be the first to say so.
                    end_s = min(end_s, now + (GRACE_S if min(failures).rank < MISSED else SILENT_S + GRACE_S))

    def _ping(self, left: set[int], failures: list[Failure], where: str) -> None:
        for index in sorted(left):
            try:
                self._channels[index].send({"kind": "ping", "number": -1})
            except ChannelError as error:
                failures.append(self._lost(index, where, str(error)))
                left.discard(index)

    def _round_trip(self, index: int, number: int) -> tuple[float, float, float]:
        channel = self._channels[index]
        try:
            left_s = time.perf_counter()
            channel.send({"kind": "ping", "number": number})
            while True:
                message, _ = channel.receive()
                came_s = time.perf_counter()
                if message.get("number") == number:
                    return left_s, came_s, message["clock_s"]
        except ChannelError as error:
            lost = self._lost(index, "while clocks were compared", str(error)).text
            raise RunFailedError(f"{lost}; all hosts were told to stop") from error

    def _lost(self, index: int, where: str, why: str) -> Failure:
        return Failure(LOST, f"host {self._hosts[index].name} was lost {where}: {why}")


def _connected(
    host: Host,
    number: int,
    secret: bytes,
    tls: ssl.SSLContext | None,
    deadline: float,
    ended: Callable[[], str | None],
) -> Channel:
    while True:
        try:
            connection = socket.create_connection((host.address, number), timeout=HANDSHAKE_S)
        except socket.gaierror as error:
            raise refuse(
                "hosts", f"the address `{host.address}` of {host.name} is not known: {error.strerror}"
            ) from error
        except OSError as error:
            if (why := ended()) is not None:
                raise RunFailedError(why) from error
            if time.monotonic() > deadline:
                reason = error.strerror or "it does not answer"
                where = f"{host.address}:{number}"
                raise RunFailedError(f"host {host.name}: no agent is reached at {where}: {reason}") from error
            time.sleep(AGAIN_S)
            continue
        try:
            if tls is not None:
                connection = secured(connection, tls, host.name)
            return _admitted(connection, secret)
        except ChannelError as error:
            connection.close()
            raise RunFailedError(
                f"host {host.name}: the agent at {host.address}:{number} is not used: {error}"
            ) from error


def _admitted(connection: socket.socket, secret: bytes) -> Channel:
    """The channel over a connection, whose turn it is. Raises `ChannelError`."""
    channel = asked(connection, secret)
    told, _ = channel.receive()
    if told["kind"] == "busy":
        raise ChannelError(f"it is busy with another run since {told['since']}")
    return channel

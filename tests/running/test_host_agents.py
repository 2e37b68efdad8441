"""Agents of hosts: answers to whatever is asked, and what they refuse."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import lightloom as ll
from lightloom.running.controller import RunFailedError
from lightloom.running.hosts import channel as channel_of_agents
from lightloom.running.hosts.channel import asked
from lightloom.running.hosts.secret import SECRET
from tests.running.host_agents import ADDRESSES, SECRET_OF_TESTS, agents_here, free_port
from tests.running.processes import plan_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    number = free_port()
    with agents_here(number):
        yield number


@pytest.mark.parametrize("message", [{}, {"kind": 1}, {"kind": ["open"]}, {"kind": "prepare"}, {"kind": "step"}])
def test_an_agent_answers_whatever_a_command_asks(port: int, message: dict[str, object]) -> None:
    with socket.create_connection((ADDRESSES[0], port), timeout=30) as connection:
        channel = asked(connection, SECRET_OF_TESTS.encode())
        assert channel.receive()[0] == {"kind": "ready"}
        channel.send(message)
        answer, _ = channel.receive()
    assert answer["kind"] == "failed"
    assert answer["said"]


@pytest.mark.parametrize("side", [channel_of_agents.answered, channel_of_agents.asked])
def test_who_speaks_slowly_is_sent_away_in_time(
    monkeypatch: pytest.MonkeyPatch, side: Callable[[socket.socket, bytes], channel_of_agents.Channel]
) -> None:
    monkeypatch.setattr(channel_of_agents, "HANDSHAKE_S", 1.0)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stop = threading.Event()

        def dawdle() -> None:
            with contextlib.suppress(OSError):
                for byte in channel_of_agents.GREETING + bytes(1000):
                    if stop.wait(0.2):
                        break
                    theirs.sendall(bytes([byte]))

        thread = threading.Thread(target=dawdle)
        thread.start()
        began_s = time.monotonic()
        with pytest.raises(channel_of_agents.ChannelError):
            side(ours, b"a secret of sixteen")
        # Sixty-four bytes would take 12.8 seconds, those that a command waits for more.
        assert time.monotonic() - began_s < 8
        stop.set()
        thread.join()


def test_silent_strangers_keep_nobody_waiting(port: int) -> None:
    """Six of them, each of which an agent gives as long as the command waits for its greeting."""
    with contextlib.ExitStack() as strangers:
        for _ in range(6):
            strangers.enter_context(socket.create_connection((ADDRESSES[0], port)))
        with socket.create_connection((ADDRESSES[0], port), timeout=30) as connection:
            assert asked(connection, SECRET_OF_TESTS.encode()).receive()[0] == {"kind": "ready"}


def test_who_comes_during_a_run_is_told_since_when_the_agent_is_busy(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, SECRET_OF_TESTS)
    told: dict[str, Any] = {"hosts": ADDRESSES[0], "launch": "none", "agent_port": port, "runs": 1, "warm_ups": 0}
    before = datetime.now(UTC).replace(microsecond=0)
    with ll.Executor(transport="tcp", **told) as first, ll.Executor(transport="tcp", **told) as second:
        assert first.run(plan_of()).wrong == 0
        with pytest.raises(RunFailedError) as caught:
            second.run(plan_of())
        where = (
            f"host {ADDRESSES[0]}: the agent at {ADDRESSES[0]}:{port} is not used: it is busy with another run since "
        )
        assert str(caught.value).startswith(where)
        since = datetime.strptime(str(caught.value).removeprefix(where), "%Y-%m-%d %H:%M:%S %Z").replace(tzinfo=UTC)
        assert before <= since <= datetime.now(UTC)
        first.close()
        assert second.run(plan_of()).wrong == 0


def test_an_agent_takes_no_short_secret_from_its_input() -> None:
    command = [sys.executable, "-m", "lightloom.running.hosts.agent", "--listen", ":0", "--secret-from-input"]
    ran = subprocess.run(command, input="short\n", capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: standard input: it takes at least 16 characters")


@pytest.mark.parametrize("place", ["nonsense", ":99999", ":-1", "127.0.0.1:x"])
def test_an_agent_says_what_is_wrong_with_its_address(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, SECRET_OF_TESTS)
    command = [sys.executable, "-m", "lightloom.running.hosts.agent", "--listen", place]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: listen: `{place}` is not accepted; it takes ADDRESS:PORT")

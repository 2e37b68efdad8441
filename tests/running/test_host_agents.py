"""Agents of hosts: answers to whatever is asked, and what they refuse."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from lightloom.running.hosts import channel as channel_of_agents
from lightloom.running.hosts.channel import asked
from lightloom.running.hosts.secret import SECRET
from tests.running.host_agents import ADDRESSES, SECRET_OF_TESTS, agents_here, free_port

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
        channel.send(message)
        answer, _ = channel.receive()
    assert answer["kind"] == "failed"
    assert answer["said"]


def test_who_speaks_slowly_is_sent_away_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_of_agents, "HANDSHAKE_S", 1.0)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stop = threading.Event()

        def dawdle() -> None:
            with contextlib.suppress(OSError):
                while not stop.wait(0.2):
                    theirs.sendall(b"x")

        thread = threading.Thread(target=dawdle)
        thread.start()
        began_s = time.monotonic()
        with pytest.raises(channel_of_agents.ChannelError):
            channel_of_agents.answered(ours, b"a secret of sixteen")
        # Sixty-four bytes would take 12.8 seconds.
        assert time.monotonic() - began_s < 8
        stop.set()
        thread.join()


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

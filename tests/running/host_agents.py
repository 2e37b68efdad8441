"""Agents on this machine, each with an address of its own, for tests of runs on hosts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from lightloom.running.hosts.secret import SECRET

SECRET_OF_TESTS = "a secret of tests only"  # noqa: S105
ADDRESSES = ("127.0.0.1", "127.0.0.2")


def free_port() -> int:
    """A TCP port that is free at all addresses."""
    with socket.socket() as one:
        one.bind(("", 0))
        return int(one.getsockname()[1])


def await_listening(places: Sequence[tuple[str, int]], within_s: float = 30.0) -> None:
    """Wait until somebody listens at all places."""
    deadline = time.monotonic() + within_s
    for place in places:
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(place, 1.0):
                break
            time.sleep(0.05)


@contextmanager
def agents_here(port: int, *told: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Agents at all of `ADDRESSES`, told these options too, which are ended again."""
    command = [sys.executable, "-m", "lightloom.running.hosts.agent", "--listen"]
    environment = os.environ | {SECRET: SECRET_OF_TESTS}
    agents = [
        subprocess.Popen([*command, f"{address}:{port}", *told], env=environment, stdout=subprocess.DEVNULL)
        for address in ADDRESSES
    ]
    try:
        await_listening([(address, port) for address in ADDRESSES])
        yield agents
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()

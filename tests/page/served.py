"""A server in a process of its own, as the command line starts it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 60.0
# Where the packages are, for processes in other folders.
PATHS = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
LIMITED = """
import json, sys
from lightloom.page.limits import Limits
from lightloom.page.server import address_of, bound_socket, serve
listening = bound_socket("127.0.0.1", 0)
serve(listening, Limits(**json.loads(sys.argv[1])), (), lambda: print(address_of(listening), flush=True))
"""


@dataclass
class Served:
    """A running server: its process, and where it answers."""

    process: subprocess.Popen[str]
    address: str
    # The whole first line that was printed.
    line: str = ""

    @classmethod
    def start(cls, *options: object) -> Served:
        """`lightloom serve` on a free port."""
        return cls._of(["-m", "lightloom", "serve", "--port", "0", *map(str, options)])

    @classmethod
    def limited(cls, **limits: float) -> Served:
        """One with limits that the command line does not have, or that are too tight for it."""
        return cls._of(["-c", LIMITED, json.dumps(limits)])

    @classmethod
    def _of(cls, words: list[str]) -> Served:
        words = [sys.executable, *words]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("http://127.0.0.1:"), line + process.communicate()[1]
        return cls(process, line.split()[0].partition("?")[0].rstrip("/"), line)

    @property
    def port(self) -> int:
        """Where it listens."""
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @cached_property
    def client(self) -> httpx.Client:
        """A browser of sorts."""
        return httpx.Client(base_url=self.address, timeout=SECONDS, trust_env=False)

    def post(self, task: str, **asked: Any) -> httpx.Response:
        """The answer to a task."""
        return self.client.post(f"/api/{task}", json=asked)

    def raw(self, sent: bytes, seconds: float = SECONDS) -> bytes:
        """The answer to these bytes, until the server closes or the time is over."""
        found = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.sendall(sent)
            try:
                while part := connection.recv(1 << 16):
                    found += part
            except (TimeoutError, ConnectionResetError):
                pass
        return found

    def workers(self) -> list[int]:
        """Numbers of the processes that work for it, which are its children."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(word) for word in children.read_text("ascii").split()]

    def resident_bytes(self) -> int:
        """Memory of the server's own process."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Tell it to end: its exit status, and its standard error."""
        self.client.close()
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, said


def served(*options: object) -> Iterator[Served]:
    """A server while a fixture is in use, which ends well."""
    server = Served.start(*options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            assert server.end() == (0, "")

"""The controller process, as seen by its starter: requests go to it, results come back.

It is a fresh process with one thread, so that it can fork; it forks a process for every rank and one for the switch.
They die with it, and it ends when its socket is closed, so that nothing outlives the process that started it.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.base.errors import FailedError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Controller", "RunFailedError"]

# Kind and length of a message.
HEAD = struct.Struct("<cI")
RUN, SAID, PROGRESS, OUTSIDE, REPORT, FAULT = (bytes([kind]) for kind in b"rspoRF")
# Seconds that a controller has to end once it is told to.
END_S = 5.0
# The controller reports every second; one that is silent for this long is stopped.
SILENT_S = 20.0
# The program of the process, which finds this package where this process did.
PROGRAM = "import sys; sys.path.insert(0, {0!r}); from lightloom._core import serve_runs; serve_runs({1})"


class RunFailedError(FailedError):
    """A run that ended before its end; `str(error)` says who failed, and at which step."""


class Controller:
    """A controller process; it is started at once, and ends with `close`."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(SILENT_S)
        with theirs:
            program = PROGRAM.format(str(Path(__file__).parents[2]), theirs.fileno())
            self._process = subprocess.Popen(  # noqa: S603 (this interpreter, on the program above)
                [sys.executable, "-I", "-S", "-c", program],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                # An interrupt from the keyboard ends the process that started it, which ends it.
                process_group=0,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )

    @property
    def number(self) -> int:
        """The number of the process."""
        return self._process.pid

    def run(
        self,
        request: bytes,
        workspaces: int,
        *,
        progress: Callable[[int], None] | None = None,
        outside: Callable[[int], str] | None = None,
    ) -> bytes:
        """The results of the runs that are asked for, as `_core.run_report` reads them.

        request: of `_core.run_request`. workspaces: descriptor of the memory that holds them. progress: told how many
        runs are measured. outside: has the outside switch make a configuration, and says why it did not; empty text
        where it did; None without such a switch. Raises `RunFailedError`.
        """
        try:
            socket.send_fds(self._socket, [HEAD.pack(RUN, len(request))], [workspaces])
            self._socket.sendall(request)
            while True:
                kind, message = self._hear()
                if kind == PROGRESS:
                    if progress is not None:
                        progress(int.from_bytes(message, "little"))
                elif kind == OUTSIDE:
                    said = "no outside switch was named"
                    if outside is not None:
                        said = outside(int.from_bytes(message, "little"))
                    self._say(SAID, said.encode())
                elif kind == REPORT:
                    return message
                else:
                    raise RunFailedError(message.decode("utf-8", "replace"))
        except TimeoutError as error:
            self._process.kill()
            said = f"the controller process has said nothing for {SILENT_S:g} s; all processes were ended"
            raise RunFailedError(said) from error
        except OSError as error:
            raise RunFailedError(f"the controller process ended: {self._words()}; all processes were ended") from error

    def close(self) -> None:
        """End the process, and with it all others of its runs."""
        self._socket.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _say(self, kind: bytes, message: bytes) -> None:
        self._socket.sendall(HEAD.pack(kind, len(message)) + message)

    def _hear(self) -> tuple[bytes, bytes]:
        kind, size = HEAD.unpack(self._exactly(HEAD.size))
        return kind, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            part = self._socket.recv(min(size - len(found), 1 << 20))
            if not part:
                raise ConnectionResetError
            found += part
        return bytes(found)

    def _words(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)
        status = self._process.returncode
        if status is None:
            return "it closed its socket"
        if status < 0:
            return f"killed by signal {-status} ({signal.Signals(-status).name})"
        return f"exit status {status}"

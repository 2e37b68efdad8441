"""A process that works, as the server holds it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from lightloom.page.frames import HEADER, Kind, as_bytes, header_of
from lightloom.page.job import ROW, Event
from lightloom.page.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.page.job import Job
    from lightloom.page.limits import Limits

__all__ = ["DiedError", "Process"]

EVENTS = {Kind.ROW: ROW, Kind.PROGRESS: "progress"}
# Seconds that a process may take to be ready, on a busy machine.
START_S = 30.0
# Seconds that a process may take to end once it is killed.
GONE_S = 5.0
MODULE = "lightloom.page.worker"


class DiedError(Exception):
    """The process ended though it had work."""


class Process:
    """A child that answers one request after the other."""

    def __init__(self, child: asyncio.subprocess.Process) -> None:
        self._child = child
        self._is_spent = False

    @classmethod
    async def start(cls, limits: Limits) -> Process:
        """A process that is ready. Raises `DiedError` and `OSError` if no process can be started."""
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            MODULE,
            json.dumps(limits.as_dict()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # An interrupt from the keyboard is for the server, which ends its processes itself.
            start_new_session=True,
        )
        made = cls(child)
        try:
            async with asyncio.timeout(START_S):
                kind, _ = await made._frame()
        except BaseException:
            await made.kill()
            raise
        assert kind is Kind.READY  # noqa: S101 (nothing was asked)
        return made

    @property
    def is_able(self) -> bool:
        """Whether it can be asked, and did not grow too large."""
        return self._child.returncode is None and not self._is_spent

    async def carry_out(self, job: Job, tell: Callable[[Event], None]) -> Outcome | None:
        """Ask, pass on rows, and return the outcome; None if it was paused. Raises `DiedError`."""
        if rows := job.rows:
            self._send(as_bytes(Kind.TOLD, b"[%s]" % b",".join(rows)))
        self._send(as_bytes(Kind.ASKED, job.text))
        with suppress(ConnectionError):  # the reader of its answer finds that it is gone
            assert self._child.stdin is not None  # noqa: S101 (it is a pipe)
            await self._child.stdin.drain()
        content = b""
        while True:
            kind, told = await self._frame()
            if kind in EVENTS:
                tell(Event(EVENTS[kind], told))
            elif kind is Kind.CONTENT:
                content = told
            else:
                head = json.loads(told)
                self._is_spent = head.pop("is_spent")
                return None if kind is Kind.PAUSED else Outcome(content=content, **head)

    def pause(self) -> None:
        """Ask it to pause its work, to be resumed later; most work goes on nevertheless."""
        self._send(as_bytes(Kind.PAUSE))

    def _send(self, frame: bytes) -> None:
        assert self._child.stdin is not None  # noqa: S101 (it is a pipe)
        with suppress(ConnectionError):
            self._child.stdin.write(frame)

    def stop(self) -> None:
        """Ask it to stop its work; the outcome is still sent."""
        self._send(as_bytes(Kind.STOP))

    async def _frame(self) -> tuple[Kind, bytes]:
        assert self._child.stdout is not None  # noqa: S101 (it is a pipe)
        try:
            kind, length = header_of(await self._child.stdout.readexactly(HEADER.size))
            return kind, await self._child.stdout.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            raise DiedError from error

    async def kill(self) -> None:
        """End it at once."""
        # Not by the child's own method, which would take the exit status before the loop does.
        if self._child.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._child.pid, signal.SIGKILL)
        if self._child.stdin is not None:
            self._child.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._child.wait(), GONE_S)

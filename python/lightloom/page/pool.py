"""Processes that work, the queue before them, and what becomes of a process that fails or takes too long."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from lightloom.page.cache import Cache
from lightloom.page.job import Job
from lightloom.page.outcome import Outcome
from lightloom.page.process import DiedError, Process

if TYPE_CHECKING:
    from lightloom.page.limits import Limits

__all__ = ["BusyError", "EndingError", "Pool"]

UNAVAILABLE, OVER_TIME = 503, 504
# What may be done about it.
LESS = "fewer GPUs or points take less"
# How long work that nobody waits for any more may go on: killing a process costs more than that.
GRACE_S = 0.3
# How long work may go on once the server is told to end.
END_S = 2.0
# Pause before a process is tried again that could not be started.
RETRY_S = 1.0
# How much the last request weighs in what one takes.
WEIGHT = 0.2
LONGEST_WAIT_S = 60


class BusyError(Exception):
    """As many wait as may; `retry_after_s` says when to ask again."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class EndingError(Exception):
    """The server ends and takes no more work."""


class Pool:
    """So many processes, each with one request at a time; requests wait in the order in which they came."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.cache = Cache(limits.cache_bytes)
        self._jobs: dict[str, Job] = {}
        self._waiting: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._slots: list[asyncio.Task[None]] = []
        self._processes: set[Process] = set()
        self._spare: asyncio.Task[Process] | None = None
        self._is_ending = False
        self._usual_s = 0.1

    async def start(self) -> None:
        """Start the processes; they are waited for when there is work."""
        self._slots = [asyncio.create_task(self._work()) for _ in range(self.limits.workers)]

    def known(self, key: str) -> Outcome | None:
        """The answer that is kept, if there is one."""
        return self.cache.get(key)

    def submit(self, key: str, text: bytes) -> Job:
        """The job that does this; one that is under way where there is one. Whoever submits must `leave` it.

        Raises `BusyError` and `EndingError`.
        """
        if self._is_ending:
            raise EndingError
        job = self._jobs.get(key)
        if job is None or job.abandoned.is_set():
            self._drop_abandoned()
            if len(self._waiting) >= self.limits.queued:
                raise BusyError(self._retry_after_s())
            job = Job(key, text)
            self._jobs[key] = job
            self._waiting.append(job)
            self._arrived.set()
        job.follow()
        return job

    def _drop_abandoned(self) -> None:
        """Those that nobody waits for leave the queue."""
        for job in [job for job in self._waiting if job.abandoned.is_set()]:
            self._waiting.remove(job)
            self._forget(job)

    def _retry_after_s(self) -> int:
        ahead_s = self._usual_s * (len(self._waiting) + 1) / self.limits.workers
        return min(max(math.ceil(ahead_s), 1), LONGEST_WAIT_S)

    def _forget(self, job: Job) -> None:
        if self._jobs.get(job.key) is job:
            del self._jobs[job.key]

    async def _work(self) -> None:
        """One slot: a process, replaced when it is gone, and one job after the other."""
        process: Process | None = None
        try:
            while True:
                if process is None or not process.is_able:
                    if process is not None:
                        await process.kill()
                    process = await self._ready_process()
                job = await self._next()
                outcome = await self._outcome(process, job)
                if outcome is not None:
                    self._usual_s += WEIGHT * (monotonic() - job.began_s - self._usual_s)
                    if outcome.is_done:
                        self.cache.put(job.key, outcome)
                    job.end(outcome)
                self._forget(job)
        finally:
            if process is not None:
                await process.kill()

    async def _ready_process(self) -> Process:
        """The spare process, or a new one; another spare is started behind it."""
        while True:
            spare, self._spare = self._spare, None
            try:
                process = await (self._started() if spare is None else spare)
            except (DiedError, OSError):
                await asyncio.sleep(RETRY_S)
                continue
            self._spare = self._spare or asyncio.create_task(self._started())
            if process.is_able:
                return process
            self._processes.discard(process)

    async def _started(self) -> Process:
        process = await Process.start(self.limits)
        self._processes = {one for one in self._processes if one.is_able} | {process}
        return process

    async def _next(self) -> Job:
        while True:
            while self._waiting:
                job = self._waiting.popleft()
                if not job.abandoned.is_set():
                    job.began_s = monotonic()
                    return job
                self._forget(job)
            self._arrived.clear()
            await self._arrived.wait()

    async def _outcome(self, process: Process, job: Job) -> Outcome | None:
        """What comes of the job; None where nobody waits for it any more. A process that is not done is killed."""
        work = asyncio.create_task(process.carry_out(job))
        left = asyncio.create_task(job.abandoned.wait())
        try:
            done, _ = await asyncio.wait({work, left}, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED)
            if work not in done and left in done:
                done, _ = await asyncio.wait({work}, timeout=GRACE_S)
            if work in done:
                return work.result()
            await process.kill()
            if left.done():
                return None
            reason = f"it takes longer than the {self.limits.seconds:g} s that a request may; {LESS}"
            return Outcome.error(OVER_TIME, reason)
        except DiedError:
            await process.kill()
            return Outcome.error(UNAVAILABLE, "the process that worked on it ended, perhaps for want of memory")
        finally:
            for task in (work, left):
                task.cancel()
                with suppress(asyncio.CancelledError, DiedError):
                    await task

    def refuse_more(self) -> None:
        """Take no more work, and let go of what waits."""
        self._is_ending = True
        while self._waiting:
            self._end_unfinished(self._waiting.popleft())

    def _end_unfinished(self, job: Job) -> None:
        job.end(Outcome.error(UNAVAILABLE, "the server ends"))
        self._forget(job)

    async def end(self) -> None:
        """Wait a little for what is worked on, then end all processes; again, it does nothing."""
        self.refuse_more()
        with suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                while self._jobs:
                    await next(iter(self._jobs.values())).result()
                    await asyncio.sleep(0)
        for job in list(self._jobs.values()):
            self._end_unfinished(job)
        tasks: list[asyncio.Task[None] | asyncio.Task[Process]] = [*self._slots]
        if self._spare is not None:
            tasks.append(self._spare)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for process in list(self._processes):
            await process.kill()

"""Processes that work, the order of waiting jobs, and the end of processes that fail or take too long.

As many processes work on any job as there are workers. One more, the reserve, is for jobs that are not known to take
long: one that goes on for longer than a turn is taken from it, and waits for a worker. Work of a worker that can be
gone on with, as maps can, is paused after a turn where others wait for it; its rows are kept where it ends without an
answer, so that a later request for the same goes on from there.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from lightloom.page.cache import Cache
from lightloom.page.job import Job, Length
from lightloom.page.outcome import Outcome
from lightloom.page.process import DiedError, Process
from lightloom.page.queue import FullError, Queue

if TYPE_CHECKING:
    from lightloom.page.job import Event
    from lightloom.page.limits import Limits

__all__ = ["BUSY", "OVER_TIME", "BusyError", "EndingError", "Pool", "busy"]

BUSY, UNAVAILABLE, OVER_TIME = 429, 503, 504
# Advice to the asker: what is asked may have nothing that could be less.
ELSEWHERE = "the command line has no limit, and `lightloom serve --most-time` sets that of the server"
# Seconds that work may go on which no request waits for any more, or whose turn on the reserve is over: killing a
# process costs more than that.
GRACE_S = 0.3
# Seconds that a process may take to stop its work when it is asked to; then it is killed.
STOPPING_S = 2.0
# Seconds that work may go on once the server is told to end.
END_S = 2.0
# Pause before a process is tried again that could not be started.
RETRY_S = 1.0
# Weight of the last request in the mean time of one.
WEIGHT = 0.2
LONGEST_WAIT_S = 60
# The end of the key of rows that were found of an answer, after the key of the answer.
BEGUN = " begun"


class BusyError(Exception):
    """The queue is full; `retry_after_s` says when to ask again."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(retry_after_s)
        self.retry_after_s = retry_after_s


class EndingError(Exception):
    """The server ends and takes no more work."""


def busy(retry_after_s: int) -> Outcome:
    """The answer to a request that there is no room for."""
    reason = f"the server is busy; try again in {retry_after_s} s"
    return Outcome.error(BUSY, reason, retry_after_s=retry_after_s)


class Pool:
    """The processes, each with one request at a time, and the requests that wait for them."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.cache = Cache(limits.cache_bytes)
        self._jobs: dict[str, Job] = {}
        self._queue = Queue(limits.queued)
        # Workers that wait for a job.
        self._idle = 0
        self._arrived = asyncio.Event()
        self._slots: list[asyncio.Task[None]] = []
        self._processes: set[Process] = set()
        self._spare: asyncio.Task[Process] | None = None
        self._is_ending = False
        self._usual_s = 0.1

    async def start(self) -> None:
        """Start the processes; they are waited for when there is work."""
        self._slots = [asyncio.create_task(self._work()) for _ in range(self.limits.workers)]
        self._slots.append(asyncio.create_task(self._work(is_reserve=True)))

    def known(self, key: str) -> Outcome | None:
        """The answer that is kept, if there is one."""
        return self.cache.get(key)

    def submit(self, key: str, text: bytes, client: str = "", length: Length = Length.SHORT) -> Job:
        """The job that does this, one under way if there is one. The caller must `leave` it.

        client: who asks. length: of the work, as far as it is known. Raises `BusyError` and `EndingError`.
        """
        if self._is_ending:
            raise EndingError
        job = self._jobs.get(key)
        if job is None or job.abandoned.is_set():
            for dropped in self._queue.drop_abandoned():
                self._forget(dropped)
            try:
                leaving = self._queue.make_room(client)
            except FullError:
                raise BusyError(self._retry_after_s()) from None
            if leaving is not None:
                leaving.end(busy(self._retry_after_s()))
                self._forget(leaving)
            if job is not None:
                self._forget(job)
            begun = self.cache.pop(key + BEGUN)
            job = Job(key, text, client, length, () if begun is None else begun.content.splitlines())
            self._jobs[key] = job
            self._wait(job)
        job.follow()
        return job

    def _wait(self, job: Job) -> None:
        self._queue.put(job)
        self._arrived.set()

    def _retry_after_s(self) -> int:
        ahead_s = self._usual_s * (len(self._queue) + 1) / self.limits.workers
        return min(max(math.ceil(ahead_s), 1), LONGEST_WAIT_S)

    def _forget(self, job: Job) -> None:
        """Hold the job no longer, but its rows where it can go on from them, and has not ended by itself."""
        if self._jobs.get(job.key) is not job:
            return
        del self._jobs[job.key]
        has_ended = job.outcome is not None and job.outcome.status not in {OVER_TIME, UNAVAILABLE}
        if job.goes_on and job.rows and not has_ended:
            self.cache.put(job.key + BEGUN, Outcome(OVER_TIME, b"\n".join(job.rows)))

    async def _work(self, *, is_reserve: bool = False) -> None:
        """One slot: a process, replaced when it is gone, and one job after the other."""
        process: Process | None = None
        try:
            while True:
                # The reserve starts when it is needed: with the process that is ready for when another one fails.
                job = await self._next(is_reserve=True) if is_reserve else None
                if process is None or not process.is_able:
                    if process is not None:
                        await process.kill()
                    process = await self._ready_process()
                job = job or await self._next(is_reserve=False)
                await self._carry_out(process, job, is_reserve=is_reserve)
                if not process.is_able:
                    # Now: the reserve may not be asked again for long.
                    await process.kill()
        finally:
            if process is not None:
                await process.kill()

    async def _carry_out(self, process: Process, job: Job, *, is_reserve: bool) -> None:
        """Have the process carry out the job, which ends, or waits again where it was paused for others."""
        began_s = monotonic()
        outcome = await (self._try(process, job) if is_reserve else self._outcome(process, job))
        took_s = monotonic() - began_s
        self._queue.put_down(job, took_s)
        if outcome is None and not job.abandoned.is_set():
            job.length = Length.LONG
            if self._is_ending:
                self._end_unfinished(job)
            else:
                self._wait(job)
            return
        if outcome is not None:
            self._usual_s += WEIGHT * (took_s - self._usual_s)
            if outcome.is_done:
                self.cache.put(job.key, outcome)
            job.end(outcome)
        self._forget(job)

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

    async def _next(self, *, is_reserve: bool) -> Job:
        """The next job; for the reserve, one that may be short and that no worker is there for."""
        self._idle += not is_reserve
        try:
            while True:
                job = None if is_reserve and self._idle else self._queue.take(is_short=is_reserve)
                if job is None:
                    self._arrived.clear()
                    await self._arrived.wait()
                elif job.abandoned.is_set():
                    self._queue.put_down(job, 0.0)
                    self._forget(job)
                else:
                    return job
        finally:
            self._idle -= not is_reserve
            # Other waiting jobs may go to the reserve now.
            self._arrived.set()

    async def _outcome(self, process: Process, job: Job) -> Outcome | None:
        """The outcome of the job at a worker.

        None where nobody waits for it any more, and where it was paused for others. A process that is not done is asked
        to leave off, and killed where it does not.
        """
        work = asyncio.create_task(process.carry_out(job, job.tell))
        left = asyncio.create_task(job.abandoned.wait())
        began_s = monotonic()
        end_s = began_s + self.limits.seconds - job.worked_s
        try:
            done: set[asyncio.Task[Outcome | None] | asyncio.Task[bool]] = set()
            while not done and (left_s := end_s - monotonic()) > 0:
                done, _ = await asyncio.wait(
                    {work, left}, timeout=min(self.limits.turn_s, left_s), return_when=asyncio.FIRST_COMPLETED
                )
                if not done and self._queue.has_other_than(job):
                    process.pause()
            if left in done and work not in done:
                await asyncio.wait({work}, timeout=GRACE_S)
            if work.done():
                job.worked_s += monotonic() - began_s
                return work.result()
            process.stop()
            done, _ = await asyncio.wait({work}, timeout=STOPPING_S)
            if work not in done:
                await process.kill()
            if left.done():
                return None
            reason = f"the work takes longer than the limit of {self.limits.seconds:g} s; {ELSEWHERE}"
            return Outcome.error(OVER_TIME, reason)
        except DiedError:
            await process.kill()
            return Outcome.error(
                UNAVAILABLE, "the process that worked on the request ended, perhaps because memory ran out"
            )
        finally:
            await _ended(work, left)

    async def _try(self, process: Process, job: Job) -> Outcome | None:
        """The outcome of the job at the reserve within a turn; None if it is to wait for a worker.

        Its messages are passed on at the end: it may begin anew, and tell the same again.
        """
        told: list[Event] = []
        work = asyncio.create_task(process.carry_out(job, told.append))
        left = asyncio.create_task(job.abandoned.wait())
        seconds = min(self.limits.turn_s, self.limits.seconds)
        try:
            await asyncio.wait({work, left}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                process.pause()
                await asyncio.wait({work}, timeout=GRACE_S)
            if work.done():
                outcome = work.result()
                for event in told:
                    job.tell(event)
                job.worked_s += seconds if outcome is None else 0.0
                return outcome
        except DiedError:
            await process.kill()
            return Outcome.error(
                UNAVAILABLE, "the process that worked on the request ended, perhaps because memory ran out"
            )
        else:
            await process.kill()
            return None
        finally:
            await _ended(work, left)

    def refuse_more(self) -> None:
        """Take no more work, and let waiting jobs go."""
        self._is_ending = True
        while (job := self._queue.take()) is not None:
            self._queue.put_down(job, 0.0)
            self._end_unfinished(job)

    def _end_unfinished(self, job: Job) -> None:
        job.end(Outcome.error(UNAVAILABLE, "the server ends"))
        self._forget(job)

    async def end(self) -> None:
        """Wait a little for current work, then end all processes; a second call does nothing."""
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


async def _ended(*tasks: asyncio.Task[Outcome | None] | asyncio.Task[bool]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError, DiedError):
            await task

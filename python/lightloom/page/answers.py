"""From a request to its answer: read, looked up, worked on, and sent, whole or as a stream of events."""

from __future__ import annotations

import asyncio
import hashlib
import json
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse

from lightloom.page.bodies import Bodies
from lightloom.page.outcome import Outcome
from lightloom.page.parser import RefusedError, as_text
from lightloom.page.pool import BUSY, OVER_TIME, BusyError, EndingError, busy
from lightloom.page.queue import client_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from lightloom.page.job import Job
    from lightloom.page.pool import Pool
    from lightloom.page.tasks import Task

__all__ = ["Answers"]

ENDING = 503
# Body of a request without options.
NOTHING = b"{}"
STREAM = "text/event-stream"
# Between two signs of life of a stream that has nothing to say.
QUIET_S = 10.0
ALIVE = b": working\n\n"


class Answers:
    """Answers to tasks, by a pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._bodies = Bodies(pool.limits)

    async def answer(self, task: Task, request: Request) -> Response:
        """The answer, or the error in its place, with the time of the server and whether it was kept."""
        began_s = perf_counter()
        try:
            text = as_text(task.name, await self._bodies.read(request) if task.is_asked else NOTHING)
        except RefusedError as refused:
            return _response(refused.outcome, began_s)
        key = hashlib.sha256(text).hexdigest()
        as_stream = task.streams and STREAM in request.headers.get("accept", "")
        known = self._pool.known(key)
        if known is not None:
            return _stream_of(known) if as_stream else _response(known, began_s, is_kept=True)
        client = client_name(request.client.host if request.client is not None else None)
        try:
            job = self._pool.submit(key, text, client, task.length)
        except BusyError as error:
            return _response(busy(error.retry_after_s), began_s)
        except EndingError:
            return _response(Outcome.error(ENDING, "the server ends"), began_s)
        if as_stream:
            headers = {"cache-control": "no-store", "x-lightloom-cache": "miss"}
            return EventStream(job, _events(job), media_type=STREAM, headers=headers)
        outcome = await _while_connected(job, request)
        if outcome.status == OVER_TIME and job.rows:
            outcome = outcome.with_more(rows=[json.loads(row) for row in job.rows])
        return _response(outcome, began_s)


def _response(outcome: Outcome, began_s: float, *, is_kept: bool = False) -> Response:
    headers = {
        "cache-control": "no-store",
        "server-timing": f"work;dur={(perf_counter() - began_s) * 1e3:.1f}",
        "x-lightloom-cache": "hit" if is_kept else "miss",
    }
    if outcome.status == BUSY:
        headers["retry-after"] = str(_retry_after_s(outcome))
    if outcome.name:
        headers["content-disposition"] = f'attachment; filename="{outcome.name}"'
    return Response(outcome.content, outcome.status, headers, outcome.media_type)


def _retry_after_s(outcome: Outcome) -> int:
    return int(json.loads(outcome.content)["retry_after_s"])


async def _while_connected(job: Job, request: Request) -> Outcome:
    """The outcome of the job; if the browser leaves first, the job is left."""
    left = asyncio.create_task(_gone(request))
    result = asyncio.create_task(job.result())
    try:
        await asyncio.wait({left, result}, return_when=asyncio.FIRST_COMPLETED)
        if result.done():
            return result.result()
        return Outcome.error(ENDING, "nobody waits for it")
    finally:
        job.leave()
        for task in (left, result):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class EventStream(StreamingResponse):
    """A job's events; the request leaves the job when the stream ends, also before the first event is sent."""

    def __init__(self, job: Job, events: AsyncIterator[bytes], **more: Any) -> None:
        super().__init__(events, **more)
        self._job = job

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them until they or the browser are gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._job.leave()


async def _events(job: Job) -> AsyncIterator[bytes]:
    """The job as server-sent events."""
    events = job.events()
    following = None
    try:
        while True:
            following = following or asyncio.ensure_future(anext(events, None))
            done, _ = await asyncio.wait({following}, timeout=QUIET_S)
            if not done:
                yield ALIVE
                continue
            event, following = following.result(), None
            if event is None:
                break
            yield b"event: %s\ndata: %s\n\n" % (event.name.encode(), event.line)
        yield _last_event(await job.result())
    finally:
        if following is not None:
            following.cancel()


def _last_event(outcome: Outcome) -> bytes:
    """The answer, or the error with the status that it has outside a stream, whose own status was sent before."""
    name = b"end" if outcome.is_done else b"error"
    if not outcome.is_done:
        outcome = outcome.with_more(status=outcome.status)
    lines = b"".join(b"data: %s\n" % line for line in outcome.content.split(b"\n"))
    return b"event: %s\n%s\n" % (name, lines)


def _stream_of(outcome: Outcome) -> Response:
    """The answer that is kept, as the stream of events that it ended."""
    headers = {"cache-control": "no-store", "x-lightloom-cache": "hit"}
    return Response(_last_event(outcome), media_type=STREAM, headers=headers)

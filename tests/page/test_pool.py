"""Requests for the same are one piece of work, which ends when the last who asked has left."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest

from lightloom.page import process
from lightloom.page.job import Event, Job
from lightloom.page.limits import Limits
from lightloom.page.outcome import Outcome
from lightloom.page.parser import SMALL_BYTES, RefusedError, as_text, read_text
from lightloom.page.pool import BusyError, EndingError, Pool
from tests.page.own_loop import run_in_own_loop

if TYPE_CHECKING:
    from pathlib import Path


def test_requests_for_the_same_are_joined() -> None:
    async def run() -> None:
        # No process is started: submitted jobs wait.
        pool = Pool(Limits(queued=2))
        first, again, other = pool.submit("a", b"{}"), pool.submit("a", b"{}"), pool.submit("b", b"{}")
        assert first is again
        assert first is not other
        with pytest.raises(BusyError) as busy:
            pool.submit("c", b"{}")
        assert busy.value.retry_after_s >= 1
        assert pool.submit("b", b"{}") is other
        first.leave()
        assert not first.abandoned.is_set()
        again.leave()
        assert first.abandoned.is_set()
        # A job that was abandoned makes room, and is done anew for whoever asks again.
        assert pool.submit("a", b"{}") is not first
        await pool.end()
        assert other.outcome is not None
        assert other.outcome.status == 503
        with pytest.raises(EndingError):
            pool.submit("d", b"{}")

    run_in_own_loop(run())


def test_who_comes_late_is_told_all_events() -> None:
    async def run() -> None:
        job = Job("a", b"{}")
        early = asyncio.create_task(_all(job))
        await asyncio.sleep(0)
        job.tell(Event("row", b"1"))
        await asyncio.sleep(0)
        late = asyncio.create_task(_all(job))
        job.tell(Event("row", b"2"))
        job.end(Outcome(200, b"{}"))
        job.end(Outcome.error(503, "too late"))
        assert await early == await late == [b"1", b"2"]
        assert (await job.result()).status == 200

    run_in_own_loop(run())


async def _all(job: Job) -> list[bytes]:
    return [event.line async for event in job.events()]


def test_one_text_for_all_that_asks_for_the_same() -> None:
    text = as_text("plan", b' {"b": [1, {"d": "\xc3\xa4", "c": null}], "a": 1.50}')
    assert text == as_text("plan", '{"a": 1.5, "b": [1, {"c": null, "d": "ä"}]}'.encode())
    assert read_text(text) == ("plan", {"a": 1.5, "b": [1, {"c": None, "d": "ä"}]})
    assert text != as_text("bound", b'{"b": [1, {"d": "\xc3\xa4", "c": null}], "a": 1.5}')
    for wrong in (b'{"a": 1e999}', b"{", b"[]", b"\xff", b'{"a": NaN}'):
        with pytest.raises(RefusedError):
            as_text("plan", wrong)
        # Large ones are read by the process that works.
        padded = wrong + b" " * SMALL_BYTES
        with pytest.raises(RefusedError):
            read_text(as_text("plan", padded))


def test_a_process_that_does_not_start_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    idle = tmp_path / "idle"
    idle.write_text("#!/bin/sh\nexec sleep 60\n")
    idle.chmod(0o755)
    monkeypatch.setattr(process, "START_S", 0.5)
    monkeypatch.setattr(sys, "executable", str(idle))
    with pytest.raises(TimeoutError):
        run_in_own_loop(process.Process.start(Limits()))

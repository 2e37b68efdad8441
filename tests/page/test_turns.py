"""Turns of the pool, on processes that only seem to work: nobody is kept waiting by those who take long."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from lightloom.page import pool as pools
from lightloom.page.job import Event, Job, Length
from lightloom.page.limits import Limits
from lightloom.page.outcome import Outcome
from lightloom.page.pool import BEGUN, Pool
from lightloom.page.process import Process
from tests.page.own_loop import run_in_own_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

TURN_S = 0.05
DONE = Outcome(200, b"{}")


class Worker:
    """A process that obeys the text of a job: `short`, `stubborn`, or `patient`, which makes room.

    begun: texts in the order in which work on them began, at any worker.
    """

    begun: list[str]
    killed: int
    release: asyncio.Event

    def __init__(self) -> None:
        self.is_able = True
        self._pause = asyncio.Event()

    async def carry_out(self, job: Job, tell: Callable[[Event], None]) -> Outcome | None:
        text = job.text.decode()
        Worker.begun.append(text)
        self._pause.clear()
        if text.startswith("short"):
            return DONE
        tell(Event("row", json.dumps(len(job.rows)).encode()))
        released = asyncio.ensure_future(Worker.release.wait())
        paused = asyncio.ensure_future(self._pause.wait())
        waited = {released, paused} if text.startswith("patient") else {released}
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        for one in (released, paused):
            one.cancel()
        return DONE if Worker.release.is_set() else None

    def pause(self) -> None:
        self._pause.set()

    def stop(self) -> None:
        self._pause.set()

    async def kill(self) -> None:
        Worker.killed += self.is_able
        self.is_able = False


@pytest.fixture(autouse=True)
def workers(monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(_limits: Limits) -> Any:
        return Worker()

    monkeypatch.setattr(Process, "start", start)
    monkeypatch.setattr(pools, "GRACE_S", TURN_S / 5)
    monkeypatch.setattr(pools, "STOPPING_S", TURN_S)
    monkeypatch.setattr(pools, "END_S", TURN_S)
    Worker.begun, Worker.killed = [], 0


def run(what: Callable[[Pool], Coroutine[Any, Any, None]], **limits: float) -> None:
    async def all_of_it() -> None:
        Worker.release = asyncio.Event()
        pool = Pool(Limits(**{"workers": 1, "turn_s": TURN_S, **limits}))  # type: ignore[arg-type]
        await pool.start()
        try:
            await asyncio.wait_for(what(pool), 20)
        finally:
            Worker.release.set()
            await pool.end()

    run_in_own_loop(all_of_it())


def asked(pool: Pool, text: str, client: str = "a", length: Length = Length.SHORT) -> Job:
    return pool.submit(text, text.encode(), client, length)


async def all_but_one(jobs: list[Job]) -> None:
    """Until all are known to take long but the one that is worked on since."""
    while sum(job.is_long for job in jobs) < len(jobs) - 1:
        await asyncio.sleep(TURN_S)


@pytest.mark.parametrize("kind", ["patient", "stubborn"])
def test_short_work_does_not_wait_for_long_work(kind: str) -> None:
    async def what(pool: Pool) -> None:
        long = [asked(pool, f"{kind} {number}") for number in range(8)]
        # Long enough for the reserve to have found that they take long.
        await all_but_one(long)
        for number in range(3):
            assert (await asked(pool, f"short {number}").result()).is_done
        assert all(job.outcome is None for job in long)
        Worker.release.set()
        assert [(await job.result()).is_done for job in long] == [True] * 8

    run(what)


def test_maps_make_room_for_other_clients_and_keep_what_they_have() -> None:
    async def what(pool: Pool) -> None:
        many = [asked(pool, f"patient {number}") for number in range(4)]
        await all_but_one(many)
        other = asked(pool, "patient other", "b")
        while not other.rows:
            await asyncio.sleep(TURN_S)
        # Each goes on from the rows that it has.
        while max(len(job.rows) for job in many) < 3:
            await asyncio.sleep(TURN_S)
        for job in (*many, other):
            assert job.rows == [b"%d" % number for number in range(len(job.rows))]
        assert Worker.killed == 0

    run(what)


def test_a_client_keeps_its_order_where_nobody_else_waits() -> None:
    async def what(pool: Pool) -> None:
        jobs = [asked(pool, f"patient {number}") for number in range(3)]
        await all_but_one(jobs)
        begun = len(Worker.begun)
        await asyncio.sleep(5 * TURN_S)
        # Taking turns among one client's would only end all of them later.
        assert len(Worker.begun) <= begun + 1

    run(what)


def test_what_the_reserve_does_not_end_is_told_once() -> None:
    async def what(pool: Pool) -> None:
        asked(pool, "stubborn first")
        job = asked(pool, "stubborn second")
        while not job.is_long:
            await asyncio.sleep(TURN_S)
        assert (Worker.killed, job.rows) == (1, [])
        Worker.release.set()
        assert (await job.result()).is_done
        assert job.rows == [b"0"]
        assert Worker.begun.count("stubborn second") == 2

    run(what)


def test_limits_of_time_count_all_turns() -> None:
    async def what(pool: Pool) -> None:
        jobs = [asked(pool, f"patient {client}", client) for client in "abc"]
        outcomes = [await job.result() for job in jobs]
        assert {outcome.status for outcome in outcomes} == {504}

    run(what, seconds=4 * TURN_S)


@pytest.mark.large
@pytest.mark.parametrize("kind", ["patient", "stubborn"])
def test_a_map_goes_on_from_where_it_was_left_or_its_time_was_over(kind: str) -> None:
    async def what(pool: Pool) -> None:
        for number in range(3):
            job = asked(pool, f"{kind} map", length=Length.LONG)
            assert job.rows == [b"%d" % row for row in range(number)]
            if number == 1:
                while len(job.rows) <= number:
                    await asyncio.sleep(TURN_S)
                job.leave()
                while pool.known(job.key + BEGUN) is None:
                    await asyncio.sleep(TURN_S)
            else:
                assert (await job.result()).status == 504
        # Other work has to begin anew.
        other = asked(pool, f"{kind} plan")
        assert (await other.result()).status == 504
        assert asked(pool, f"{kind} plan").rows == []
        Worker.release.set()
        job = asked(pool, f"{kind} map", length=Length.LONG)
        assert (await job.result()).is_done
        assert job.rows == [b"0", b"1", b"2", b"3"]
        # An answer is no beginning.
        assert pool.known(job.key + BEGUN) is None

    run(what, seconds=4 * TURN_S)


def test_work_that_is_paused_ends_with_the_server() -> None:
    async def what(pool: Pool) -> None:
        jobs = [asked(pool, f"patient {client}", client) for client in "abcd"]
        while not any(job.is_long for job in jobs):
            await asyncio.sleep(TURN_S)
        await pool.end()
        assert {(await job.result()).status for job in jobs} == {503}

    run(what)

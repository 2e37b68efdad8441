"""Processes that die or take too long, clients that leave or dawdle, and more work than there is room for."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.page.served import SECONDS, Served

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"collective": "all-reduce", "size": "1MiB", "gpus": 4}
# Takes a minute or more, however fast the machine is.
LONG: dict[str, Any] = {"collective": "all-to-all", "size": "64MiB", "gpus": 512, "ports": 6, "matrix": "zipf:0.4"}
SOON_S = 20.0


@contextmanager
def limited(**limits: float) -> Iterator[Served]:
    server = Served.limited(**{"workers": 1, **limits})
    try:
        # So that its processes are there: until a worker has started, the reserve answers, and is killed after a turn.
        assert server.post("plan", **SMALL).status_code == 200
        rested(server)
        yield server
    finally:
        if server.process.poll() is None:
            assert server.end() == (0, "")


def seeded(number: int) -> dict[str, Any]:
    """Long work that is no other's."""
    return {**LONG, "seed": number}


class Asked(threading.Thread):
    """A request that is made meanwhile."""

    def __init__(self, server: Served, task: str, asked: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.address, self.asked = f"{server.address}/api/{task}", asked
        self.answer: httpx.Response | None = None
        self.start()

    def run(self) -> None:
        self.answer = httpx.post(self.address, json=self.asked, timeout=300, trust_env=False)

    def result(self) -> httpx.Response:
        self.join(60)
        assert self.answer is not None
        return self.answer


def leave(server: Served, asked: dict[str, Any], after_s: float) -> None:
    """Ask, and go away without the answer."""
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.address}/api/plan", json=asked, timeout=httpx.Timeout(10, read=after_s), trust_env=False)


def status_when_there_is_room(server: Served, asked: dict[str, Any]) -> int:
    """The status of an answer, asking again for a while as long as there is no room."""
    end_s = time.monotonic() + SOON_S
    while True:
        status = server.post("plan", **asked).status_code
        if status != 429 or time.monotonic() > end_s:
            return status
        time.sleep(0.1)


def ticks(server: Served) -> dict[int, int]:
    """Processor time that each process of the server used, in ticks of the clock."""
    found = {}
    for pid in server.workers():
        with open(f"/proc/{pid}/stat", encoding="ascii") as stream:  # noqa: PTH123
            found[pid] = sum(map(int, stream.read().rpartition(")")[2].split()[11:13]))
    return found


def rested(server: Served) -> dict[int, int]:
    """`ticks` once no process uses any: all of them have started."""
    end_s = time.monotonic() + SECONDS
    before = ticks(server)
    while time.monotonic() < end_s:
        time.sleep(0.5)
        now = ticks(server)
        if now == before:
            return now
        before = now
    raise AssertionError("the processes do not come to rest")


def busiest(server: Served, before: dict[int, int]) -> int:
    """The process that works: the first that has used a fifth of a second of processor time."""
    end_s = time.monotonic() + SECONDS
    while time.monotonic() < end_s:
        time.sleep(0.02)
        for pid, used in ticks(server).items():
            if used - before.get(pid, used) >= os.sysconf("SC_CLK_TCK") / 5:
                return pid
    raise AssertionError("no process works")


@pytest.mark.large
def test_a_process_that_is_killed_is_replaced() -> None:
    with limited() as server:
        before = rested(server)
        asked = Asked(server, "plan", LONG)
        os.kill(busiest(server, before), signal.SIGKILL)
        answer = asked.result()
        assert answer.status_code == 503
        assert "process" in answer.json()["error"]
        assert server.post("plan", **{**SMALL, "gpus": 8}).status_code == 200
        # Processes that are idle, too.
        for pid in server.workers():
            os.kill(pid, signal.SIGKILL)
        found = [server.post("plan", **{**SMALL, "gpus": gpus}).status_code for gpus in (5, 6, 7)]
        assert found[-1] == 200
        assert set(found) <= {200, 503}


@pytest.mark.large
def test_work_that_takes_too_long_is_ended() -> None:
    with limited(seconds=1.0) as server:
        # Where the worker was not there yet, the reserve tried, and its process is another now.
        assert server.post("plan", **seeded(1)).status_code == 504
        before = set(server.workers())
        answer = server.post("plan", **LONG)
        assert answer.status_code == 504
        assert "1 s" in answer.json()["error"]
        # The refusal names ways out: a request need not have GPUs or points that could be fewer.
        assert "the command line has no limit, and `lightloom serve --most-time`" in answer.json()["error"]
        assert server.post("plan", **{**SMALL, "gpus": 8}).status_code == 200
        # Its process was told to leave off, and did.
        assert before <= set(server.workers())


@pytest.mark.large
def test_a_process_that_does_not_leave_off_is_killed() -> None:
    with limited(seconds=2.0) as server:
        before = rested(server)
        asked = Asked(server, "plan", LONG)
        os.kill(busiest(server, before), signal.SIGSTOP)
        assert asked.result().status_code == 504
        assert server.post("plan", **{**SMALL, "gpus": 8}).status_code == 200
        assert not set(before) <= set(server.workers())


@pytest.mark.large
def test_work_that_takes_too_much_memory_is_ended() -> None:
    server = Served.limited(workers=1, memory_bytes=700 << 20)
    answer = server.post("plan", collective="all-to-all", size="1GiB", gpus=160, matrix="zipf:0.4", planner="bvn")
    assert answer.status_code in {422, 503}, answer.text
    assert server.post("plan", **SMALL).status_code == 200
    status, said = server.end()
    # The last words of the process that ended are for whoever runs the server.
    assert status == 0
    assert said == "" or said.startswith("memory allocation of"), said


@pytest.mark.large
def test_a_process_that_grew_is_replaced_when_it_has_answered() -> None:
    with limited(memory_bytes=1 << 30) as server:
        before = set(server.workers())
        assert server.post("plan", **{**SMALL, "gpus": 8}).status_code == 200
        assert before <= set(server.workers())
        # Takes some 470 MiB.
        grown = {"collective": "all-to-all", "size": "1GiB", "gpus": 112, "matrix": "zipf:0.4", "planner": "bvn"}
        assert server.post("plan", **grown).status_code == 200
        assert server.post("plan", **{**SMALL, "gpus": 9}).status_code == 200
        end_s = time.monotonic() + SECONDS
        while before <= set(server.workers()) and time.monotonic() < end_s:
            time.sleep(0.05)
        assert not before <= set(server.workers())


@pytest.mark.large
def test_more_than_there_is_room_for_is_told_to_come_again() -> None:
    with limited(queued=2, seconds=6.0) as server:
        # One is computed, one is tried by the reserve, if it is free yet, and two wait.
        asked = [Asked(server, "plan", seeded(number)) for number in range(8)]
        end_s = time.monotonic() + SOON_S
        while sum(one.answer is not None for one in asked) < 4 and time.monotonic() < end_s:
            time.sleep(0.05)
        time.sleep(1.0)
        refused = [one.answer for one in asked if one.answer is not None]
        for answer in refused:
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) == answer.json()["retry_after_s"] >= 1
        # A request for an answer that is being computed is let in.
        let_in = [one for one in asked if one.answer is None]
        again = Asked(server, "plan", let_in[0].asked)
        assert 4 <= len(refused) <= 5
        assert {one.result().status_code for one in (*let_in, again)} == {504}


@pytest.mark.large
def test_work_that_nobody_waits_for_is_ended() -> None:
    # A turn is long enough for small work on a busy machine.
    with limited(queued=1, seconds=300.0, turn_s=SOON_S) as server:
        before = set(server.workers())
        leave(server, seeded(0), 1.0)
        began_s = time.monotonic()
        assert server.post("plan", **{**SMALL, "gpus": 8}).status_code == 200
        assert time.monotonic() - began_s < SOON_S
        assert before <= set(server.workers())
        # And a job that the reserve tries, or that only waits, makes room.
        first = Asked(server, "plan", seeded(1))
        time.sleep(2.0)
        leave(server, seeded(2), 0.5)
        leave(server, seeded(3), 0.5)
        # The server hears of who left when it hears of it.
        assert status_when_there_is_room(server, {**SMALL, "gpus": 9}) == 200
        assert first.is_alive()
        assert server.end() == (0, "")
        assert first.result().status_code == 503


@pytest.mark.large
def test_streams_that_are_left_are_ended() -> None:
    with limited() as server:
        asked = {"json": {**LONG, "planner": None}, "headers": {"accept": "text/event-stream"}}
        with (
            httpx.Client(base_url=server.address, timeout=60, trust_env=False) as client,
            client.stream("POST", "/api/compare", **asked) as answer,  # type: ignore[arg-type]
        ):
            assert answer.status_code == 200
        began_s = time.monotonic()
        assert server.post("plan", **{**SMALL, "gpus": 8}).status_code == 200
        assert time.monotonic() - began_s < SOON_S


@pytest.mark.large
def test_dawdling_clients_are_let_go() -> None:
    with limited(reading_s=1.0) as server:
        head = b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        for sent in (
            b"",
            b"GET / HT",
            head,
            head + b"Content-Length: 100\r\n\r\n",
            head + b"Content-Length: 9\r\n\r\n{",
        ):
            began_s = time.monotonic()
            answer = server.raw(sent, seconds=SOON_S)
            assert time.monotonic() - began_s < SOON_S, sent
            assert not answer or answer.split()[1] == b"408", answer
        # A connection that is kept alive is let go too, and not before its next request could come.
        with socket.create_connection(("127.0.0.1", server.port)) as kept:
            kept.settimeout(SOON_S)
            for _ in range(2):
                kept.sendall(b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n")
                found = b""
                while b"}" not in found:
                    found += kept.recv(1 << 16)
                assert found.startswith(b"HTTP/1.1 404")
            assert kept.recv(1) == b""


@pytest.mark.large
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_while_it_works(number: int) -> None:
    server = Served.limited(workers=1)
    assert server.post("plan", **SMALL).status_code == 200
    before = rested(server)
    asked = [Asked(server, "plan", seeded(number)) for number in (1, 2)]
    busiest(server, before)
    time.sleep(0.5)
    workers = server.workers()
    assert server.end(number) == (0, "")
    assert {one.result().status_code for one in asked} == {503}
    assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)  # noqa: PTH110


@pytest.mark.large
def test_processes_end_with_a_server_that_is_killed() -> None:
    server = Served.limited(workers=1)
    with pytest.raises(httpx.TimeoutException):
        httpx.post(f"{server.address}/api/plan", json=LONG, timeout=httpx.Timeout(10, read=1), trust_env=False)
    workers = server.workers()
    assert workers
    server.process.kill()
    server.process.communicate()
    deadline_s = time.monotonic() + SOON_S
    while any(os.path.exists(f"/proc/{pid}") for pid in workers):  # noqa: PTH110
        assert time.monotonic() < deadline_s
        time.sleep(0.1)

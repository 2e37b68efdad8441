"""Connections that only hold room: nobody else is kept waiting for them, and nothing is kept for them for long."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from lightloom.page.answers import EventStream
from lightloom.page.guard import HEADERS, PIECE_BYTES, Guard
from lightloom.page.job import Job
from tests.page.own_loop import run_in_own_loop
from tests.page.served import Served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {"collective": "all-reduce", "size": "1MiB", "gpus": 4}
HEAD = b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SOON_S = 20.0


@pytest.fixture
def limited() -> Iterator[Callable[..., Served]]:
    """Servers with limits, each of which says nothing and ends well."""
    servers: list[Served] = []

    def make(**limits: float) -> Served:
        servers.append(Served.limited(**{"workers": 1, **limits}))
        return servers[-1]

    yield make
    for server in servers:
        assert server.end() == (0, "")


def opened(server: Served, count: int, sent: bytes) -> list[socket.socket]:
    made = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
    for connection in made:
        connection.sendall(sent)
    return made


def open_files(server: Served) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))  # noqa: PTH208


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + SOON_S
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.1)


@pytest.mark.large
@pytest.mark.parametrize("sent", [b"", HEAD])
def test_who_only_connects_keeps_nobody_out(limited: Callable[..., Served], sent: bytes) -> None:
    server = limited(connections=20)
    kept = opened(server, 60, sent)
    assert server.post("plan", **SMALL).status_code == 200
    assert open_files(server) < 60
    for connection in kept:
        connection.close()


def test_where_all_are_at_work_more_are_told_so(limited: Callable[..., Served]) -> None:
    server = limited(connections=20)
    kept = opened(server, 20, HEAD + b"Content-Length: 9\r\n\r\n{")
    wait_for(lambda: server.client.get("/").status_code == 503)
    answer = server.client.get("/")
    assert answer.json() == {"error": "the server has reached its limit of connections; try again later", "field": ""}
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    for connection in kept:
        connection.close()
    wait_for(lambda: server.client.get("/").status_code == 200)


@pytest.mark.large
@pytest.mark.parametrize("more", [b"", b"Connection: close\r\n"])
def test_who_takes_no_answer_is_let_go(limited: Callable[..., Served], more: bytes) -> None:
    """The server waits, but not for long, with data that the system's buffers do not hold."""
    server = limited(reading_s=1.0)
    assert server.post("plan", **SMALL).status_code == 200
    server.client.close()
    del server.client
    before = open_files(server)
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
    kept = opened(server, 4, asked % b"" * 100 + asked % more)
    wait_for(lambda: open_files(server) > before)
    wait_for(lambda: open_files(server) <= before)
    for connection in kept:
        connection.close()


def test_what_is_no_request_is_told_so_once(limited: Callable[..., Served]) -> None:
    server = limited()
    for sent in (b"NONSENSE\r\n\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"):
        head, _, body = server.raw(sent, 5).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"content-security-policy" in head
        assert json.loads(body)["field"] == "request"
    # Where an answer went before, there is no other.
    text = HEAD.replace(b"application/json", b"text/plain") + b"Transfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=SOON_S) as connection:
        connection.sendall(text)
        found = b""
        while not found.endswith(b"}"):
            found += connection.recv(1 << 16)
        assert found.startswith(b"HTTP/1.1 415 ")
        connection.sendall(b"zz\r\n")
        with suppress(ConnectionResetError):
            assert connection.recv(1 << 16) == b""


def test_two_lengths_end_the_connection(limited: Callable[..., Served]) -> None:
    """A proxy that believes the other one would take the rest for another's request."""
    server = limited()
    both = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    answer = server.raw(HEAD + both + b"GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n", 5)
    assert answer.count(b"HTTP/1.1 ") == 1, answer
    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.large
def test_who_leaves_before_all_is_said_is_no_news(limited: Callable[..., Served]) -> None:
    """The fixture's servers say nothing."""
    server = limited()
    for connection in opened(server, 3, HEAD + b"Content-Length: 9\r\n\r\n{"):
        connection.close()
    assert server.post("plan", **SMALL).status_code == 200


@pytest.mark.large
@pytest.mark.parametrize(("files", "is_enough"), [(80, True), (32, False)])
def test_open_files_are_shared_out(files: int, is_enough: bool) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    words = [sys.executable, "-m", "lightloom", "serve", "--port", "0", "--workers", "1"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(words, preexec_fn=few, **pipes)  # noqa: PLW1509 (no other threads run)
    assert process.stdout is not None
    server = Served(process, process.stdout.readline().split(" ", 1)[0].rstrip("/"))
    if not is_enough:
        _, said = process.communicate()
        assert (process.returncode, said.count("\n")) == (2, 1)
        assert said.startswith("error: workers: ")
        return
    kept = opened(server, 3, b"")
    for _ in range(20):
        kept += opened(server, 3, b"GET / HT")
        assert server.client.get("/").status_code == 200
    assert server.post("plan", **SMALL).status_code == 200
    assert server.end() == (0, "")
    for connection in kept:
        connection.close()


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_large_answers_are_sent_in_pieces(size: int) -> None:
    body = os.urandom(size)
    sent: list[Message] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "path": "/", "method": "GET", "headers": [(b"host", b"localhost")]}
    run_in_own_loop(Guard(app, ())(scope, receive, send))
    pieces = sent[1:]
    assert b"".join(piece["body"] for piece in pieces) == body
    assert all(len(piece["body"]) <= PIECE_BYTES for piece in pieces)
    assert [piece.get("more_body", False) for piece in pieces] == [True] * (len(pieces) - 1) + [False]


def test_a_stream_that_never_began_is_left() -> None:
    """Before it there may be other answers, which the browser does not take."""

    async def run() -> None:
        job = Job("a", b"{}")
        job.follow()

        async def events() -> AsyncIterator[bytes]:
            yield b""

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        async def send(_message: Message) -> None:
            await asyncio.sleep(SOON_S)

        scope = {"type": "http", "asgi": {"spec_version": "2.3"}}
        await EventStream(job, events())(scope, receive, send)
        assert job.abandoned.is_set()

    run_in_own_loop(run())

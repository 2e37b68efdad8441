"""The server: its socket, its connections, and its end."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from lightloom.errors import refuse
from lightloom.page.app import application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lightloom.page.limits import Limits
    from lightloom.page.pool import Pool

__all__ = ["address_of", "bound_socket", "serve"]

ENDING = (signal.SIGINT, signal.SIGTERM)
HEADER_BYTES = 32 * 1024
KEPT_ALIVE_S = 15
# How long answers may take once the server is told to end.
END_S = 6
BACKLOG = 512


class Connection(H11Protocol):
    """A connection that is closed where no whole head of a request comes in time."""

    waiting_s = 20.0
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """A head that is whole ends the wait; the one of the next request is waited for anew."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before and self._late is not None:
            self._late.cancel()
            self._late = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        if self._late is None and not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.waiting_s, self._close)

    def _close(self) -> None:
        self._late = None
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY, h11.ERROR}:
            self.transport.abort()


class Server(uvicorn.Server):
    """A server that ends when it is told to, with exit status 0, and lets go of what waits."""

    def __init__(self, config: uvicorn.Config, pool: Pool) -> None:
        super().__init__(config)
        self._pool = pool
        self._ending: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Being told to end is no error; being told twice ends at once."""
        loop = asyncio.get_running_loop()
        for number in ENDING:
            loop.add_signal_handler(number, self._told_to_end)
        try:
            yield
        finally:
            for number in ENDING:
                loop.remove_signal_handler(number)

    def _told_to_end(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        # Before connections are waited for, which wait for their answers.
        self._ending = self._ending or asyncio.ensure_future(self._pool.end())


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises `InputError` that names `host` or `port`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise refuse("host", f"`{host}` is no name or address of this machine") from error
    family, kind, protocol, _, address = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            raise refuse("port", f"{port} of {host} is in use; it takes a free one, such as --port 0") from error
        if error.errno == errno.EACCES:
            raise refuse("port", f"{port} is not allowed to this user; it takes one from 1024") from error
        raise refuse("host", f"`{host}` cannot be served: {error.strerror}") from error
    made.setblocking(False)
    return made


def address_of(listening: socket.socket) -> str:
    """Where the page is, as a browser takes it."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}/"


def serve(listening: socket.socket, limits: Limits, names: Iterable[str], ready: Callable[[], None]) -> None:
    """Serve until told to end. ready: is called when the page can be opened."""
    # Requests that are none, and connections that end early, are no news; what fails unforeseen is said by the page.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    guard, pool = application(limits, names)
    connection = type("Connection", (Connection,), {"waiting_s": limits.reading_s})
    settings: dict[str, Any] = {
        "http": connection,
        "ws": "none",
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "limit_concurrency": limits.connections,
        "backlog": BACKLOG,
        "timeout_keep_alive": KEPT_ALIVE_S,
        "timeout_graceful_shutdown": END_S,
        "h11_max_incomplete_event_size": HEADER_BYTES,
    }
    server = Server(uvicorn.Config(guard, **settings), pool)

    async def run() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            ready()
        await serving

    with suppress(KeyboardInterrupt):
        asyncio.run(run())

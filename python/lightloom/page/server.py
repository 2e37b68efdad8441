"""The server: its socket, its connections, and its end."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import signal
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn

from lightloom.base.errors import printable, refuse
from lightloom.page.app import application
from lightloom.page.connection import connection_type
from lightloom.page.descriptors import connections_at_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lightloom.page.limits import Limits
    from lightloom.page.pool import Pool

__all__ = ["address_of", "address_of_others", "bound_socket", "serve"]

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HEADER_BYTES = 32 * 1024
KEPT_ALIVE_S = 15
# Seconds that answers may take once the server is told to end.
END_S = 6
BACKLOG = 512


class _Said:
    """Failures outside any request, each a line for the person who runs the server; no line twice in succession."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        line = f"error: {context['message']}" + (f" ({type(error).__name__}: {error})" if error else "")
        if line != self._last:
            logging.getLogger(__name__).error("%s", printable(line))
        self._last = line


class Server(uvicorn.Server):
    """A server that ends when it is told to, with exit status 0, and lets waiting requests go."""

    def __init__(self, config: uvicorn.Config, pool: Pool) -> None:
        super().__init__(config)
        self._pool = pool
        self._ending: asyncio.Task[None] | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A request to stop is no error; a second one ends the process at once."""
        loop = asyncio.get_running_loop()
        # `nohup`, for a server that is to outlive its terminal, has the last one ignored.
        ending = [number for number in ENDING if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
        for number in ending:
            loop.add_signal_handler(number, self.end)
        try:
            yield
        finally:
            for number in ending:
                loop.remove_signal_handler(number)

    def end(self) -> None:
        """Take no more work, end current work, then the server; a second call ends it at once."""
        self.force_exit = self.should_exit
        self.should_exit = True
        # Before connections are waited for, which wait for their answers.
        self._ending = self._ending or asyncio.ensure_future(self._pool.end())


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises `InputError` that names `host` or `port`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise refuse("host", f"`{host}` is not a name or address of this machine") from error
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
    """The address of the page for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{_in_address(here)}:{port}/"


def address_of_others(listening: socket.socket) -> str | None:
    """The address at which other machines find the page, None if it listens only for this machine."""
    host, port = listening.getsockname()[:2]
    address = ipaddress.ip_address(host.partition("%")[0])
    if address.is_loopback:
        return None
    return f"http://{_in_address(_outward(listening.family) if address.is_unspecified else host)}:{port}/"


def _outward(family: int) -> str:
    """The machine's address towards other networks, or its name if there is no address; nothing is sent for it."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            # Addresses for documentation, which no machine has.
            probe.connect(("192.0.2.1" if family == socket.AF_INET else "2001:db8::1", 9))
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostname()


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def serve(
    listening: socket.socket,
    limits: Limits,
    names: Iterable[str],
    ready: Callable[[], None],
    *,
    token: str | None = None,
) -> None:
    """Serve until told to end.

    ready: is called when the page can be opened; an exception of it ends the server. token: that every request must
    show.
    """
    # Invalid requests and connections that end early are not logged; the page reports unforeseen failures.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    most = connections_at_once(limits)
    guard, pool = application(limits, names, token)
    settings: dict[str, Any] = {
        "http": connection_type(limits.reading_s, most),
        "ws": "none",
        "lifespan": "on",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        # This many connections are taken at once, before any is counted.
        "backlog": most,
        "timeout_keep_alive": KEPT_ALIVE_S,
        "timeout_graceful_shutdown": END_S,
        "h11_max_incomplete_event_size": HEADER_BYTES,
    }
    server = Server(uvicorn.Config(guard, **settings), pool)

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(_Said())
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            try:
                ready()
            except BaseException:
                # Not by the error itself, which would leave the socket open and the processes to die.
                server.end()
                await serving
                raise
        await serving

    with suppress(KeyboardInterrupt):
        asyncio.run(run())

"""A simulated switch that listens: on loopback unless told otherwise, for few connections, with bounded messages."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import BoundedSemaphore, Lock, Thread
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import FailedError, refuse, shown, text_of, unknown_name
from lightloom.base.whole_numbers import whole_number, whole_of_text
from lightloom.switches.registry import DRIVERS
from lightloom.switches.simulated.crossbar import Crossbar
from lightloom.switches.simulated.faults import Faults

if TYPE_CHECKING:
    import socket
    from types import TracebackType
    from typing import Self

    from lightloom.switches.registry import DriverKind

# Connections at a time; further ones are ended at once.
MOST_CONNECTIONS = 16
# Seconds without a word after which a connection is ended.
IDLE_S = 600.0
MOST_PORTS = 4096


class Server(ThreadingTCPServer):
    """Serves one crossbar, each connection in a thread of its own."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, place: tuple[str, int], handler: type[BaseRequestHandler], crossbar: Crossbar) -> None:
        self.crossbar = crossbar
        self.received = 0
        self._free = BoundedSemaphore(MOST_CONNECTIONS)
        self._lock = Lock()
        self._open: set[socket.socket] = set()
        super().__init__(place, handler)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        """Whether there is room for another connection."""
        if not self._free.acquire(blocking=False):
            return False
        request.settimeout(IDLE_S)
        with self._lock:
            self._open.add(request)
        return True

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        with self._lock:
            was_open = request in self._open
            self._open.discard(request)
        if was_open:
            self._free.release()
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An error of a connection ends only that connection."""

    def end_connections(self) -> None:
        """End all connections."""
        with self._lock:
            opened = list(self._open)
        for one in opened:
            with suppress(OSError):
                one.shutdown(2)


class SimulatedSwitch:
    """A switch that listens until it is closed. `address` is what its driver takes."""

    def __init__(self, kind: DriverKind, place: tuple[str, int], crossbar: Crossbar) -> None:
        handler = import_module(kind.simulated).Handler
        try:
            self._server = Server(place, handler, crossbar)
        except OSError as error:
            raise FailedError(f"cannot listen at {place[0]}:{place[1]}: {error.strerror or error}") from error
        self.crossbar = crossbar
        self.address = f"{kind.scheme}://{place[0]}:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until it is closed, or an interrupt comes."""
        while self._thread.is_alive():
            self._thread.join(0.2)

    def close(self) -> None:
        """End all connections and stop listening."""
        self.crossbar.end()
        self._server.shutdown()
        self._server.end_connections()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def start_switch(
    interface: str, ports: int = 64, *, listen: str | None = None, faults: Faults | None = None
) -> SimulatedSwitch:
    """A simulated switch of `ports` ingress and as many egress ports.

    interface: one of `lightloom list drivers`. listen: HOST:PORT; port 0 takes a free one; 127.0.0.1 and the
    interface's own port unless it is said. faults: of the switch. Raises `InputError`, and `FailedError` where
    the port is taken.
    """
    known = {kind.scheme: kind for kind in DRIVERS}
    if text_of("simulated_switch", interface) not in known:
        raise unknown_name("simulated_switch", interface, known)
    whole_number("ports", ports, 1, MOST_PORTS)
    if not isinstance(faults, Faults | None):
        raise refuse("faults", f"`{shown(faults)}` is not accepted; it takes Faults")
    place = ("127.0.0.1", known[interface].port) if listen is None else _place(listen)
    return SimulatedSwitch(known[interface], place, Crossbar(ports, faults))


def _place(listen: str) -> tuple[str, int]:
    host, separator, port = text_of("listen", listen).rpartition(":")
    if not separator or not host or not host.isascii() or len(host) > 253 or ":" in host:
        raise refuse("listen", f"`{shown(listen)}` is not accepted; it takes HOST:PORT, such as 127.0.0.1:5025")
    return host, whole_of_text("listen", port, 0, 65535)

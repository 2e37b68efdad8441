"""A connection: its deadlines, and its answers if no request comes or there is no room for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from lightloom.page.guard import HEADERS
from lightloom.page.outcome import Outcome

if TYPE_CHECKING:
    import asyncio

    from starlette.types import Receive, Scope, Send

__all__ = ["Connection", "connection_type"]

NO_REQUEST, FULL = 400, 503
# States in which an answer to an invalid request can still begin.
UNANSWERED = {h11.IDLE, h11.SEND_RESPONSE}


class Connection(H11Protocol):
    """A connection that is closed where no whole head of a request comes in time, or nobody takes the answer.

    Where there are more than `most`, those that have waited longest for a head go first: a client that only connects
    keeps nobody out.
    """

    waiting_s: float
    most: int
    # All that wait for a head, the longest first.
    waiting: dict[Connection, None]
    _late: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request; if there are too many connections, the oldest waiting ones are closed."""
        super().connection_made(transport)
        self._wait()
        while len(self.connections) > self.most and (oldest := next(iter(self.waiting))) is not self:
            oldest.give_up()
        if len(self.connections) > self.most:
            self.app = _turned_away

    def give_up(self) -> None:
        """Close, and count no more."""
        self._wait_no_more()
        self.connections.discard(self)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """A complete head ends the wait; the wait for the head of the next request begins again."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_no_more()
        self._flows()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Nobody takes the answer: wait, but not for long."""
        super().pause_writing()
        self._expect_flow()

    def resume_writing(self) -> None:
        """The transport has room again: go on writing."""
        self._flows()
        if self.transport.is_closing():
            self._expect_flow()
        super().resume_writing()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, or for the last bytes to go."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._expect_flow()
        elif self._late is None and self.cycle.response_complete:
            # Else the next request came with the one before.
            self._wait()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (of the library, which says it of everything)
        """Say in the form of all errors that it is no request, where no answer is on its way."""
        if self.cycle is not None and not self.cycle.response_complete:
            # Work in progress learns that its client is gone.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in UNANSWERED:
            self.transport.abort()
            return
        outcome = Outcome.error(NO_REQUEST, "request: it is not HTTP/1.1", "request")
        head = h11.Response(status_code=outcome.status, headers=_headers(outcome), reason=b"Bad Request")
        for event in (head, h11.Data(data=outcome.content), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
        self._expect_flow()

    def _wait(self) -> None:
        self.waiting[self] = None
        self._late = self.loop.call_later(self.waiting_s, self.give_up)

    def _wait_no_more(self) -> None:
        self.waiting.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _expect_flow(self) -> None:
        if self._stuck is None:
            self._stuck = self.loop.call_later(self.waiting_s, self.transport.abort)

    def _flows(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None


def connection_type(waiting_s: float, most: int) -> type[Connection]:
    """Connections of one server: at most this many that are answered, each waited for at most this long."""
    return type("Connection", (Connection,), {"waiting_s": waiting_s, "most": most, "waiting": {}})


async def _turned_away(_scope: Scope, _receive: Receive, send: Send) -> None:
    """The answer where all others are at work."""
    outcome = Outcome.error(FULL, "the server has reached its limit of connections; try again later")
    await send({"type": "http.response.start", "status": outcome.status, "headers": _headers(outcome)})
    await send({"type": "http.response.body", "body": outcome.content})


def _headers(outcome: Outcome) -> list[tuple[bytes, bytes]]:
    told = {"content-type": outcome.media_type, "content-length": str(len(outcome.content)), "connection": "close"}
    return [(name.encode(), value.encode()) for name, value in {**told, **HEADERS}.items()]

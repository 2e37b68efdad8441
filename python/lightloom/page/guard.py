"""What every request passes and every answer carries: hosts, origins, headers, and answers in pieces."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lightloom.page.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
LOCAL = "localhost"
SAME = {"same-origin", "none"}
AMBIGUOUS, FORBIDDEN, MISDIRECTED = 400, 403, 421
# Of an answer, that is sent at once.
PIECE_BYTES = 1 << 18


class Guard:
    """Around the whole application.

    A page of another site that has its name lead to this machine (DNS rebinding) sends that name as Host: only
    addresses, `localhost` and the names that the server was told are answered. A page that sends requests across
    origins says its own as Origin, which must be the Host.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app = app
        self._names = {LOCAL, *(name.lower().rstrip(".") for name in names)}
        self._headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with headers added to the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            elif message["type"] == "http.response.body":
                # Each is waited for: what nobody takes is held once for all who asked for it, not once for each.
                body = message.get("body", b"")
                last = max(len(body) - 1, 0) // PIECE_BYTES * PIECE_BYTES
                for first in range(0, last, PIECE_BYTES):
                    piece = body[first : first + PIECE_BYTES]
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                message = {**message, "body": body[last:]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send_on)
            return
        head = [(b"content-type", refusal.media_type.encode()), (b"content-length", b"%d" % len(refusal.content))]
        if refusal.status == AMBIGUOUS:
            head.append((b"connection", b"close"))
        await send_on({"type": "http.response.start", "status": refusal.status, "headers": head})
        await send_on({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else refusal.content})

    def _refusal(self, scope: Scope) -> Outcome | None:
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").lower())
        if "transfer-encoding" in given and "content-length" in given:
            # A proxy may have taken the other's word for where the next request begins.
            return Outcome.error(AMBIGUOUS, "content-length: it goes not with transfer-encoding", "content-length")
        hosts = given.get("host", [])
        if len(hosts) != 1 or not self._is_known(hosts[0]):
            return Outcome.error(
                MISDIRECTED, "host: it is not a name of this server; serve --name NAME adds one", "host"
            )
        for origin in given.get("origin", []):
            parts = _split(origin)
            if parts is None or parts[0] not in {"http", "https"} or parts[1] != hosts[0]:
                return Outcome.error(FORBIDDEN, "origin: requests of other sites are refused", "origin")
        if scope["path"].startswith("/api/") and not SAME.issuperset(given.get("sec-fetch-site", [])):
            return Outcome.error(FORBIDDEN, "sec-fetch-site: requests of other sites are refused", "sec-fetch-site")
        return None

    def _is_known(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname, parts.port
        except ValueError:
            return False
        if not name or "@" in host or "/" in host:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.rstrip(".") in self._names
        return True


def _split(origin: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.scheme, parts.netloc

"""What every request passes and every answer carries: hosts, origins, headers, and how long sending may take."""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import suppress
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
FORBIDDEN, MISDIRECTED = 403, 421


class Guard:
    """Around the whole application.

    A page of another site that has its name lead to this machine (DNS rebinding) sends that name as Host: only
    addresses, `localhost` and the names that the server was told are answered. A page that sends requests across
    origins says its own as Origin, which must be the Host.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str], sending_s: float) -> None:
        self._app = app
        self._names = {LOCAL, *(name.lower().rstrip(".") for name in names)}
        self._sending_s = sending_s
        self._headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with headers added to the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers]
            # Who does not take what is sent is let go.
            async with asyncio.timeout(self._sending_s):
                await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            # Where it is too late for an answer, the connection is closed.
            with suppress(TimeoutError):
                await self._app(scope, receive, send_on)
            return
        head = [(b"content-type", refusal.media_type.encode()), (b"content-length", b"%d" % len(refusal.content))]
        await send_on({"type": "http.response.start", "status": refusal.status, "headers": head})
        await send_on({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else refusal.content})

    def _refusal(self, scope: Scope) -> Outcome | None:
        given: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").lower())
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

"""Checks of every request and headers of every answer: hosts, origins, a token; and answers in pieces."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from lightloom.page.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from lightloom.page.token import Token

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
# A name or an address, that of IPv6 in brackets, and a port; nothing else, such as a path.
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", re.ASCII)
SAME = {"same-origin", "none"}
SEE_OTHER, AMBIGUOUS, UNKNOWN, FORBIDDEN, MISDIRECTED = 303, 400, 401, 403, 421
# The bytes of an answer that are sent at once.
PIECE_BYTES = 1 << 18


class Guard:
    """Around the whole application.

    A page of another site that has its name lead to this machine (DNS rebinding) sends that name as Host: only
    addresses, `localhost` and the names that the server was told are answered. A page that sends requests across
    origins says its own as Origin, which must be the Host. Where there is a token, every request must show it; a
    browser that shows it in an address gets a cookie, and the address without it.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str], token: Token | None = None) -> None:
        self._app = app
        self._names = {LOCAL, *(name.lower().rstrip(".") for name in names)}
        self._token = token
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
                # Each is waited for: an answer that nobody takes is held once for all who asked for it, not once for
                # each.
                body = message.get("body", b"")
                last = max(len(body) - 1, 0) // PIECE_BYTES * PIECE_BYTES
                for first in range(0, last, PIECE_BYTES):
                    piece = body[first : first + PIECE_BYTES]
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                message = {**message, "body": body[last:]}
            await send(message)

        given = _headers(scope)
        refusal = self._refusal(scope, given)
        if refusal is None and self._token is not None:
            address = self._token.address_without(scope)
            if address is not None:
                head = [(b"location", address.encode()), (b"set-cookie", self._token.cookie.encode())]
                head += [(b"content-length", b"0"), (b"cache-control", b"no-store")]
                await send_on({"type": "http.response.start", "status": SEE_OTHER, "headers": head})
                await send_on({"type": "http.response.body", "body": b""})
                return
            if not self._token.is_shown(given):
                reason = "open the address that the server printed, or send `Authorization: Bearer TOKEN`"
                refusal = Outcome.error(UNKNOWN, f"token: it is missing or wrong; {reason}", "token")
        if refusal is None:
            await self._app(scope, receive, send_on)
            return
        head = [(b"content-type", refusal.media_type.encode()), (b"content-length", b"%d" % len(refusal.content))]
        if refusal.status == AMBIGUOUS:
            head.append((b"connection", b"close"))
        if refusal.status == UNKNOWN:
            head.append((b"www-authenticate", b"Bearer"))
        await send_on({"type": "http.response.start", "status": refusal.status, "headers": head})
        await send_on({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else refusal.content})

    def _refusal(self, scope: Scope, given: dict[str, list[str]]) -> Outcome | None:
        if "transfer-encoding" in given and "content-length" in given:
            # With both headers, a proxy may have found another end of this request than we do (request smuggling).
            return Outcome.error(
                AMBIGUOUS, "content-length: it cannot be combined with transfer-encoding", "content-length"
            )
        hosts = [host.lower() for host in given.get("host", [])]
        if len(hosts) != 1 or not self._is_known(hosts[0]):
            return Outcome.error(
                MISDIRECTED, "host: it is not a name of this server; serve --name NAME adds one", "host"
            )
        own = {f"http://{hosts[0]}", f"https://{hosts[0]}"}
        if not own.issuperset(origin.lower() for origin in given.get("origin", [])):
            return Outcome.error(FORBIDDEN, "origin: requests of other sites are refused", "origin")
        if scope["path"].startswith("/api/") and not SAME.issuperset(given.get("sec-fetch-site", [])):
            return Outcome.error(FORBIDDEN, "sec-fetch-site: requests of other sites are refused", "sec-fetch-site")
        return None

    def _is_known(self, host: str) -> bool:
        told = HOST.fullmatch(host)
        if told is None:
            return False
        name = told[1] or told[2]
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return told[1] is None and name.rstrip(".") in self._names
        return (":" in name) == (told[1] is not None)


def _headers(scope: Scope) -> dict[str, list[str]]:
    """The values of every header, by its name in lower case."""
    given: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return given

"""The token that requests must show where the server was told one: in a header, or in a cookie that the page has."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.types import Scope

__all__ = ["Token"]

KEY = "token"
SCHEME = "bearer "
# The cookie holds a digest: other servers of this host, which browsers send it to as well, do not learn the token.
OF_COOKIE = b"cookie of the page"


class Token:
    """A token and the cookie that stands for it. Both are compared in constant time."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()
        self._cookie = hmac.new(self._text, OF_COOKIE, hashlib.sha256).hexdigest()
        # Servers on several ports of one host share their cookies, and may have tokens of their own.
        self._name = f"lightloom-{self._cookie[:8]}"

    @property
    def cookie(self) -> str:
        """The header that gives the cookie to a browser; scripts cannot read it, and forms of other sites lack it."""
        return f"{self._name}={self._cookie}; Path=/; HttpOnly; SameSite=Lax"

    def is_shown(self, headers: Mapping[str, Sequence[str]]) -> bool:
        """Whether headers, by name in lower case, show the token as `Authorization: Bearer TOKEN`, or the cookie."""
        for value in headers.get("authorization", ()):
            if value[: len(SCHEME)].lower() == SCHEME and _is_same(value[len(SCHEME) :].strip().encode(), self._text):
                return True
        pairs = (pair.strip().partition("=") for value in headers.get("cookie", ()) for pair in value.split(";"))
        return any(name == self._name and _is_same(value.encode(), self._cookie.encode()) for name, _, value in pairs)

    def address_without(self, scope: Scope) -> str | None:
        """The address that is asked for, less the token in its query; None if that has no token, or a wrong one."""
        if scope["method"] not in {"GET", "HEAD"}:
            return None
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == KEY and _is_same(value.encode(), self._text) for name, value in pairs):
            return None
        rest = urlencode([(name, value) for name, value in pairs if name != KEY])
        # One slash: two would begin the name of another host.
        return f"/{quote(scope['path'].lstrip('/'))}" + (f"?{rest}" if rest else "")


def _is_same(one: bytes, other: bytes) -> bool:
    """Whether two texts are equal, in a time that says nothing of them, their lengths included."""
    return hmac.compare_digest(hashlib.sha256(one).digest(), hashlib.sha256(other).digest())

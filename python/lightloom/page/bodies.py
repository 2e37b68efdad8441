"""Reading the body of a request: of bounded size, in bounded time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from lightloom.page.outcome import Outcome
from lightloom.page.parser import FIELD, RefusedError, refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from lightloom.page.limits import Limits

__all__ = ["Bodies"]

JSON_TYPE = "application/json"
LATE, LARGE, UNSUPPORTED, BUSY = 408, 413, 415, 429


class Bodies:
    """All bodies that are being read, together of no more than this many bytes."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held_bytes = 0

    async def read(self, request: Request) -> bytes:
        """The body of the request, which is to be JSON. Raises `RefusedError`."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON_TYPE:
            raise refused(UNSUPPORTED, f"it takes content of type {JSON_TYPE}")
        said = request.headers.get("content-length", "0")
        if not said.isdecimal() or int(said) > self._limits.body_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        held = 0
        try:
            async with asyncio.timeout(self._limits.reading_s):
                async for part in request.stream():
                    held += len(part)
                    self._held_bytes += len(part)
                    if held > self._limits.body_bytes:
                        raise self._too_large()
                    if self._held_bytes > self._limits.bodies_bytes:
                        raise RefusedError(
                            Outcome.error(BUSY, "too much is being sent at once", FIELD, retry_after_s=1)
                        )
                    parts.append(part)
            return b"".join(parts)
        except ClientDisconnect as error:
            raise refused(LATE, "it did not arrive") from error
        except TimeoutError as error:
            raise refused(LATE, f"it did not arrive within {self._limits.reading_s:g} s") from error
        finally:
            self._held_bytes -= held

    def _too_large(self) -> RefusedError:
        return refused(LARGE, f"it is larger than {self._limits.body_bytes >> 20} MiB")

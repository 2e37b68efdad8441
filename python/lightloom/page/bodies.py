"""Reading what a request says: JSON of bounded size and depth, in bounded time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.requests import ClientDisconnect

from lightloom.page.outcome import Outcome

if TYPE_CHECKING:
    from starlette.requests import Request

    from lightloom.page.limits import Limits

__all__ = ["Bodies", "RefusedError", "canonical"]

JSON_TYPE = "application/json"
LATE, LARGE, UNSUPPORTED, WRONG, BUSY = 408, 413, 415, 422, 429
FIELD = "body"
# Brackets within brackets; what is asked has few.
DEEPEST = 64
# Brackets of both kinds, those in texts among them: those of a workload of 100 000 events, read in a tenth of a second.
MOST_BRACKETS = 1 << 19
BRACKETS = b"[]{}"
OTHERS = bytes(set(range(256)) - set(BRACKETS))


class RefusedError(Exception):
    """A request that is answered before any work: by this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.status)
        self.outcome = outcome


class Bodies:
    """All bodies that are being read, together of no more than so many bytes."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held_bytes = 0

    async def read(self, request: Request) -> dict[str, Any]:
        """The object that the request's JSON is. Raises `RefusedError`."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON_TYPE:
            raise _refused(UNSUPPORTED, f"it takes content of type {JSON_TYPE}")
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
            return parsed(b"".join(parts))
        except ClientDisconnect as error:
            raise _refused(LATE, "it did not arrive") from error
        except TimeoutError as error:
            raise _refused(LATE, f"it did not arrive within {self._limits.reading_s:g} s") from error
        finally:
            self._held_bytes -= held

    def _too_large(self) -> RefusedError:
        return _refused(LARGE, f"it is larger than {self._limits.body_bytes >> 20} MiB")


def parsed(content: bytes) -> dict[str, Any]:
    """The object in this JSON. Raises `RefusedError`."""
    try:
        _check_brackets(content)
        told = json.loads(content.decode("utf-8"), parse_constant=_no_number)
        if not isinstance(told, dict):
            raise _refused(WRONG, "it takes a JSON object of options by name")
    except RecursionError as error:
        raise _refused(WRONG, f"it has more than {DEEPEST} brackets within brackets") from error
    except ValueError as error:  # also of bytes that are no text, and of digits beyond those that Python reads
        raise _refused(WRONG, "it is no JSON in UTF-8") from error
    return told


def canonical(task: str, told: dict[str, Any]) -> bytes:
    """One text for all that asks for the same. Raises `RefusedError`."""
    try:
        return json.dumps({"task": task, "asked": told}, sort_keys=True, allow_nan=False).encode()
    except (RecursionError, ValueError) as error:
        raise _refused(WRONG, "it has a number that is none") from error


def _check_brackets(content: bytes) -> None:
    """Refuses too many brackets, and too many within each other; where those of texts do not close, they count."""
    rest = content.translate(None, OTHERS)
    if len(rest) > MOST_BRACKETS:
        raise _refused(WRONG, f"it has more than {MOST_BRACKETS} brackets")
    if _depth_is_over(rest):
        raise _refused(WRONG, f"it has more than {DEEPEST} brackets within brackets")


def _depth_is_over(brackets: bytes) -> bool:
    rest = brackets
    if len(rest) <= DEEPEST:
        return False
    for _ in range(DEEPEST):
        shorter = rest.replace(b"[]", b"").replace(b"{}", b"")
        if len(shorter) == len(rest):
            return len(rest) > 2 * DEEPEST
        rest = shorter
    return bool(rest)


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)


def _refused(status: int, message: str) -> RefusedError:
    return RefusedError(Outcome.error(status, f"{FIELD}: {message}", FIELD))

"""JSON of requests: read with bounded size and depth, and made one text for all requests that ask for the same."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from lightloom.base.files import key_given_twice, number_of_text
from lightloom.page.outcome import Outcome

__all__ = ["FIELD", "WRONG", "RefusedError", "as_text", "parsed", "read_text", "refused"]

WRONG = 422
FIELD = "body"
# Brackets within brackets; requests have few.
DEEPEST = 64
# Brackets of both kinds, those in texts among them: those of a workload of 100 000 events, read in a tenth of a second.
MOST_BRACKETS = 1 << 19
BRACKETS = b"[]{}"
OTHERS = bytes(set(range(256)) - set(BRACKETS))
# Bodies up to this are read where they arrive, which takes some milliseconds; larger ones by the process that works.
SMALL_BYTES = 1 << 14


class RefusedError(Exception):
    """A request that is answered before any work: by this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.status)
        self.outcome = outcome


def as_text(task: str, content: bytes) -> bytes:
    """The task and the request, as processes get them. Raises `RefusedError`.

    Small bodies are rewritten in one form, so that equal requests are recognised however they are written. A large
    body is left as it is: parsing it here would keep everybody else waiting.
    """
    body = content if len(content) > SMALL_BYTES else _canonical(parsed(content))
    return b"%s\n%s" % (task.encode(), body)


def read_text(text: bytes) -> tuple[str, dict[str, Any]]:
    """The task and the request, from `as_text`. Raises `RefusedError`."""
    task, _, body = text.partition(b"\n")
    return task.decode(), parsed(body)


def parsed(content: bytes) -> dict[str, Any]:
    """The object in this JSON. Raises `RefusedError`."""
    try:
        _check_brackets(content)
        told = json.loads(
            content.decode("utf-8"), parse_constant=_no_number, parse_float=_number, object_pairs_hook=_object
        )
        if not isinstance(told, dict):
            raise refused(WRONG, "it takes a JSON object of options by name")
    except RecursionError as error:
        raise refused(WRONG, f"it has more than {DEEPEST} brackets within brackets") from error
    except _NoNumberError as error:
        raise refused(WRONG, "it has a number that does not fit in 64 bits") from error
    except _TwiceError as error:
        raise refused(WRONG, f"key `{str(error)[:60]}` is given twice") from error
    except ValueError as error:  # also of bytes that are no text, and of digits beyond those that Python reads
        raise refused(WRONG, "it is not JSON in UTF-8") from error
    return told


def refused(status: int, message: str) -> RefusedError:
    """The error about the body."""
    return RefusedError(Outcome.error(status, f"{FIELD}: {message}", FIELD))


def _canonical(told: dict[str, Any]) -> bytes:
    return json.dumps(told, sort_keys=True).encode()


def _check_brackets(content: bytes) -> None:
    """Refuses too many brackets, and too many within each other; where those of texts do not close, they count."""
    rest = content.translate(None, OTHERS)
    if len(rest) > MOST_BRACKETS:
        raise refused(WRONG, f"it has more than {MOST_BRACKETS} brackets")
    if _depth_is_over(rest):
        raise refused(WRONG, f"it has more than {DEEPEST} brackets within brackets")


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


class _NoNumberError(ValueError):
    """A number that no double is."""


class _TwiceError(ValueError):
    """A key that an object has twice."""


def _number(text: str) -> float:
    try:
        value = number_of_text(text)
    except ValueError as error:
        raise _NoNumberError from error
    if abs(value) == float("inf"):
        raise _NoNumberError
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    twice = key_given_twice(pairs)
    if twice is not None:
        raise _TwiceError(twice)
    return dict(pairs)


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)

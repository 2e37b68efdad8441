"""The errors that reach a user, and how their messages read."""

from __future__ import annotations

import reprlib
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "FailedError",
    "InputError",
    "OutputError",
    "StoppedError",
    "printable",
    "refuse",
    "shown",
    "text_of",
    "unknown_name",
]

# Characters of a value that a message shows.
SHOWN = 60
# Characters of a message, which may hold a name as it was given.
MOST = 1900
# Decimal digits of a bit.
DIGITS_PER_BIT = 0.30103


class InputError(ValueError):
    """A value that its field does not take.

    `str(error)` is one line: the field, the value and what is accepted. `error.field` is the field as the user knows
    it, such as `gpus` or `plan.steps[3].hops`.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(_bounded(printable(message)))
        self.field = _bounded(printable(field))

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        """Both arguments, so that the error crosses process boundaries."""
        return type(self), (self.field, str(self))


class FailedError(RuntimeError):
    """Something outside that failed though nothing that was given is wrong: a switch, another distribution.

    `error.lines` says what, a line for each thing that failed; `str(error)` is all on one line.
    """

    def __init__(self, *lines: str) -> None:
        self.lines = [_bounded(printable(line)) for line in lines]
        super().__init__(" | ".join(self.lines))


class OutputError(OSError):
    """An output that could be opened and not written, such as to a full disk: nothing that was given is wrong.

    `str(error)` is one line that starts with the field; `error.errno` says what the system answered.
    """

    def __init__(self, number: int, message: str) -> None:
        super().__init__(number, _bounded(printable(message)))

    def __str__(self) -> str:
        return str(self.strerror)


class StoppedError(Exception):
    """Work of a thread that was told to stop, by `_core.Interruption`: nothing is wrong, and nobody waits for it."""


def _bounded(text: str) -> str:
    return text if len(text) <= MOST else f"{text[: MOST - 4]} ..."


def printable(text: str) -> str:
    """The text on one line: line breaks, terminal escapes and bytes that are no text are shown, not passed on."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shown(value: object) -> str:
    """A value of any type as a message shows it: at most 60 characters."""
    if isinstance(value, str):
        return value[:SHOWN]
    if isinstance(value, int) and value.bit_length() > SHOWN / DIGITS_PER_BIT:
        # Python refuses to write out thousands of digits.
        return f"a whole number of some {round(value.bit_length() * DIGITS_PER_BIT)} digits"
    try:
        text = reprlib.repr(value) if isinstance(value, (list, tuple, dict, set, frozenset)) else str(value)
    except Exception:  # what belongs to a user may do anything
        text = f"a {type(value).__name__}"
    return text[:SHOWN]


def text_of(field: str, value: object) -> str:
    """The value, which is text that can be encoded. Raises `InputError` that names `field` for anything else."""
    if isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value):
        return value
    raise refuse(field, f"`{shown(value)}` is not accepted; it takes text")


def refuse(field: str, reason: str) -> InputError:
    """The error whose one line starts with its field."""
    return InputError(field, f"{field}: {reason}")


def unknown_name(field: str, value: object, known: Iterable[str]) -> InputError:
    """The error that lists every known name and the nearest one, worded like the core's."""
    names = list(known)
    text = shown(value)
    nearest = get_close_matches(text, names, n=1)
    hint = f", did you mean `{nearest[0]}`?" if nearest else ""
    return refuse(field, f"unknown name `{text}`{hint}; one of {', '.join(names)}")

"""The one error for wrong input, and how its messages read."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class InputError(ValueError):
    """A value that its field does not take.

    `str(error)` is one line: the field, the value and what is accepted. `error.field` is the field as the user knows
    it, such as `gpus` or `plan.steps[3].hops`.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(_printable(message))
        self.field = _printable(field)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        """Both arguments, so that the error crosses process boundaries."""
        return type(self), (self.field, str(self))


def _printable(text: str) -> str:
    """What was given may hold line breaks or terminal escapes: they are shown, on one line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def refuse(field: str, reason: str) -> InputError:
    """The error whose one line starts with its field."""
    return InputError(field, f"{field}: {reason}")


def unknown_name(field: str, value: str, known: Iterable[str]) -> InputError:
    """The error that lists every known name and the nearest one, worded like the core's."""
    names = list(known)
    nearest = get_close_matches(value, names, n=1)
    hint = f", did you mean `{nearest[0]}`?" if nearest else ""
    return refuse(field, f"unknown name `{value[:60]}`{hint}; one of {', '.join(names)}")

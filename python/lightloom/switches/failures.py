"""Failures of a switch: it is not reached, does not answer, answers nonsense, or rejects circuits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import FailedError

if TYPE_CHECKING:
    from lightloom.switches.circuits import Circuit

# Characters of a switch's words that a line shows.
SAID = 120


class SwitchError(FailedError):
    """A switch that cannot be reached, does not answer in time or answers nonsense.

    `str(error)` is one line without the switch's name.
    """


class LostError(SwitchError):
    """The switch ended the connection, or something between did."""


class Rejection(NamedTuple):
    """A circuit that the switch rejected, or None if it did not name one, and the switch's message."""

    circuit: Circuit | None
    said: str

    def __str__(self) -> str:
        what = "the change" if self.circuit is None else f"circuit {self.circuit[0]} -> {self.circuit[1]}"
        return f'{what} was rejected: "{self.said}"'


class RejectedError(SwitchError):
    """The switch refused to make or unmake circuits; `rejections` says which, and why."""

    def __init__(self, rejections: tuple[Rejection, ...]) -> None:
        first, *others = rejections
        more = f" (and {len(others)} more rejected)" if others else ""
        super().__init__(f"{first}{more}")
        self.rejections = rejections


def quoted(said: str | bytes) -> str:
    """The words of a switch, on one line and not too long."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: 4 * SAID]).split())
    return text if len(text) <= SAID else f"{text[: SAID - 3]}..."

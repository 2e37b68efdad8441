"""Reports of work on its results so far, and requests to it to make room for other work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from lightloom.page.frames import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Kind", "PausedError", "Say"]


class Say(Protocol):
    """Told a row or a progress, each a JSON object.

    Work that can go on from its rows ends with `PausedError` soon after `is_to_pause`, and begins after the rows that
    were `told` before.
    """

    @property
    def told(self) -> Sequence[dict[str, Any]]:
        """The rows that were found before the work was paused; empty where it begins."""

    @property
    def is_to_pause(self) -> bool:
        """Whether other work waits for which this one should make room."""

    def __call__(self, kind: Kind, row: dict[str, Any], /) -> None:
        """Pass it on at once."""


class PausedError(Exception):
    """The work made room for other work, after it reported all rows that it found."""

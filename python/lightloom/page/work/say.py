"""How work tells what it found so far."""

from __future__ import annotations

from typing import Any, Protocol

from lightloom.page.frames import Kind

__all__ = ["Kind", "Say"]


class Say(Protocol):
    """Told a row or a progress, each a JSON object."""

    def __call__(self, kind: Kind, row: dict[str, Any]) -> None:
        """Pass it on at once."""

"""Answers that are kept, by their requests."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom.page.outcome import Outcome

__all__ = ["Cache"]

# An answer that takes more than this part of the cache would drive out too many others.
LARGEST_PART = 4


class Cache:
    """Outcomes by key, of this many bytes together; the one that was used least recently goes first."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, Outcome] = OrderedDict()
        self.bytes = 0

    def get(self, key: str) -> Outcome | None:
        """The cached value of the key; the call counts as a use."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def pop(self, key: str) -> Outcome | None:
        """The cached value of the key, which is kept no longer."""
        found = self._kept.pop(key, None)
        if found is not None:
            self.bytes -= found.size_bytes
        return found

    def put(self, key: str, outcome: Outcome) -> None:
        """Keep it, unless it is too large; others go until there is room."""
        if outcome.size_bytes > self._most_bytes // LARGEST_PART:
            return
        self.pop(key)
        self._kept[key] = outcome
        self.bytes += outcome.size_bytes
        while self.bytes > self._most_bytes:
            _, gone = self._kept.popitem(last=False)
            self.bytes -= gone.size_bytes

    def __len__(self) -> int:
        return len(self._kept)

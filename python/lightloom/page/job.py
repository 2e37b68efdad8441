"""A request while it waits and is worked on: who follows it, what was found so far, and what came of it."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from lightloom.page.outcome import Outcome

__all__ = ["Event", "Job"]


class Event(NamedTuple):
    """Something that is told before the answer: its name, and one line of JSON."""

    name: str
    line: bytes


class Job:
    """Work that is asked for, by everybody who asks for the same meanwhile.

    key: what the answer is kept by. text: JSON of the task and of what was asked.
    """

    def __init__(self, key: str, text: bytes) -> None:
        self.key = key
        self.text = text
        self.followers = 0
        self.abandoned = asyncio.Event()
        self.outcome: Outcome | None = None
        self.began_s = monotonic()
        self._events: list[Event] = []
        self._news = asyncio.Event()

    def follow(self) -> None:
        """One more waits for it."""
        self.followers += 1

    def leave(self) -> None:
        """One who waited does not any more; where nobody does, it is abandoned."""
        self.followers -= 1
        if self.followers == 0 and self.outcome is None:
            self.abandoned.set()

    def tell(self, event: Event) -> None:
        """Something was found."""
        self._events.append(event)
        self._announce()

    def end(self, outcome: Outcome) -> None:
        """It is done, in one way or the other."""
        if self.outcome is None:
            self.outcome = outcome
            self._announce()

    def _announce(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def events(self) -> AsyncIterator[Event]:
        """All events from the first on, until the outcome is there."""
        seen = 0
        while True:
            while seen < len(self._events):
                seen += 1
                yield self._events[seen - 1]
            if self.outcome is not None:
                return
            await self._news.wait()

    async def result(self) -> Outcome:
        """What comes of it."""
        while self.outcome is None:
            await self._news.wait()
        return self.outcome

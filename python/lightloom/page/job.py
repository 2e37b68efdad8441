"""A request while it waits and is worked on: its followers, its rows so far, and its outcome."""

from __future__ import annotations

import asyncio
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from lightloom.page.outcome import Outcome

__all__ = ["ROW", "Event", "Job", "Length"]


class Length(IntEnum):
    """The length of work, by the request, and by its time so far."""

    SHORT = 0
    OPEN = 1
    LONG = 2


# The name of an event that is a part of the answer.
ROW = "row"


class Event(NamedTuple):
    """Something that is told before the answer: its name, and one line of JSON."""

    name: str
    line: bytes


class Job:
    """Work that is asked for, by everybody who asks for the same meanwhile.

    key: of the answer in the cache. text: the task and the request, as `parsing` writes them. client: who asked
    first. length: how long it may take, as far as is known; work that is known from the first to take long goes on from
    the rows that it has, as `makes_room`. rows: the rows that it begins with. worked_s: how long turns took after which
    it can go on.
    """

    def __init__(
        self, key: str, text: bytes, client: str = "", length: Length = Length.SHORT, rows: Sequence[bytes] = ()
    ) -> None:
        self.key = key
        self.text = text
        self.client = client
        self.length = length
        self.goes_on = length is Length.LONG
        self.worked_s = 0.0
        self.followers = 0
        self.abandoned = asyncio.Event()
        self.outcome: Outcome | None = None
        self._events = [Event(ROW, row) for row in rows]
        self._news = asyncio.Event()

    def follow(self) -> None:
        """One more request waits for the job."""
        self.followers += 1

    def leave(self) -> None:
        """One request waits no more; a job that none waits for is abandoned."""
        self.followers -= 1
        if self.followers == 0 and self.outcome is None:
            self.abandoned.set()

    def tell(self, event: Event) -> None:
        """Something was found."""
        self._events.append(event)
        self._announce()

    @property
    def is_long(self) -> bool:
        """Whether the job is known to take long."""
        return self.length is Length.LONG

    @property
    def rows(self) -> list[bytes]:
        """All rows that were told, each one line of JSON."""
        return [event.line for event in self._events if event.name == ROW]

    def end(self, outcome: Outcome) -> None:
        """The job has ended, with or without success."""
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
        """Wait for the outcome."""
        while self.outcome is None:
            await self._news.wait()
        return self.outcome

"""Jobs that wait, in an order that is fair to those who ask."""

from __future__ import annotations

from collections import Counter, deque
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom.page.job import Job

__all__ = ["FullError", "Queue", "client_name"]

# Bits of an address of IPv6 that tell networks apart: a client has all addresses of its own.
NETWORK_BITS = 64


class Queue:
    """Jobs by client, those of one in the order in which they came.

    The next job is that of the client for which fewest are worked on; among those, of the one whose work took least
    time since it came. A client that comes begins with as much as the one with least. Where there is no room, the
    client with most jobs gives some up.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[str, deque[Job]] = {}
        self._at_work: Counter[str] = Counter()
        self._used_s: dict[str, float] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def put(self, job: Job) -> None:
        """Add a job, the last of its client."""
        if job.client not in self._used_s:
            self._used_s[job.client] = min(self._used_s.values(), default=0.0)
        self._waiting.setdefault(job.client, deque()).append(job)

    def take(self, *, is_short: bool = False) -> Job | None:
        """The next job, which is worked on until `put_down`; None if the queue is empty.

        is_short: the shortest of the client's comes first, and jobs known to take long stay in the queue.
        """
        for client in sorted(self._waiting, key=lambda one: (self._at_work[one], self._used_s[one])):
            jobs = self._waiting[client]
            job = min(jobs, key=lambda one: one.length) if is_short else jobs[0]
            if not (is_short and job.is_long):
                jobs.remove(job)
                self._at_work[client] += 1
                self._tidy(client)
                return job
        return None

    def put_down(self, job: Job, seconds: float) -> None:
        """A job that was taken is worked on no more, for now or for good, after this many seconds of work."""
        self._at_work[job.client] -= 1
        self._used_s[job.client] += seconds
        self._tidy(job.client)

    def has_other_than(self, job: Job) -> bool:
        """Whether one waits for which a long job that is worked on should make room: a new one, or another client's."""
        return any(
            client != job.client or any(not one.is_long for one in jobs) for client, jobs in self._waiting.items()
        )

    def make_room(self, client: str) -> Job | None:
        """The job that leaves the queue to make room for one of this client; None if there is room.

        It is the latest job of the client that has most jobs. Raises `FullError` if that is this client, or the job
        has rows already.
        """
        if len(self) < self._most:
            return None
        largest = max(self._waiting, key=lambda one: len(self._waiting[one]))
        jobs = self._waiting[largest]
        if len(jobs) > len(self._waiting.get(client, ())) + 1:
            job = jobs[-1]
            if not job.rows:
                self._remove(job)
                return job
        raise FullError

    def drop_abandoned(self) -> list[Job]:
        """Take out the jobs that no request waits for."""
        dropped = [job for jobs in self._waiting.values() for job in jobs if job.abandoned.is_set()]
        for job in dropped:
            self._remove(job)
        return dropped

    def _remove(self, job: Job) -> None:
        self._waiting[job.client].remove(job)
        self._tidy(job.client)

    def _tidy(self, client: str) -> None:
        """Remove entries that have no jobs left."""
        if not self._waiting.get(client, True):
            del self._waiting[client]
        if client not in self._waiting and not self._at_work[client]:
            del self._at_work[client], self._used_s[client]


class FullError(Exception):
    """The queue is full, and no waiting job makes room."""


def client_name(host: str | None) -> str:
    """Who asks, by the address: all of a network of IPv6 are one."""
    try:
        address = ip_address(host or "")
    except ValueError:
        return host or ""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, NETWORK_BITS), strict=False))
    return str(address)

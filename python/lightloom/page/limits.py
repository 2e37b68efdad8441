"""Limits of one request to the server, and of all requests together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Sized

__all__ = ["Limits"]

MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of a server that can be left on; seconds and bytes.

    gpus: of a problem, a plan or a workload. points: of a map. seconds: of one request, from when its work begins.
    memory_bytes: address space of a process that works. body_bytes, answer_bytes: of one request and its answer.
    bodies_bytes: of all requests that are being read. workers: processes that work. queued: requests that wait for
    them. cache_bytes: of answers that are kept. connections: at a time. reading_s: until a request has arrived, and
    until its answer has gone on by a piece. turn_s: of work before other jobs that wait get their turn.
    """

    gpus: int = 4096
    points: int = 10_000
    seconds: float = 60.0
    memory_bytes: int = 4096 * MIB
    body_bytes: int = 4 * MIB
    bodies_bytes: int = 64 * MIB
    answer_bytes: int = 64 * MIB
    workers: int = 2
    queued: int = 64
    cache_bytes: int = 64 * MIB
    connections: int = 512
    reading_s: float = 20.0
    turn_s: float = 1.0

    def as_dict(self) -> dict[str, float]:
        """All of them by name."""
        return asdict(self)

    def shown(self) -> dict[str, float]:
        """The limits of one request, by the names that the page has for them."""
        return {
            "gpus": self.gpus,
            "points": self.points,
            "seconds": self.seconds,
            "bytes": self.body_bytes,
        }

    def check_gpus(self, gpus: int | None, field: str = "gpus") -> None:
        """Refuse more GPUs than a request may have. Raises `InputError` that names `field`."""
        if gpus is not None and gpus > self.gpus:
            raise refuse(field, f"{shown(gpus)} are more than the {self.gpus} GPUs that this server plans for")

    def check_points(self, field: str, points: Sized | int) -> None:
        """Refuse more points than a request may have. Raises `InputError` that names `field`."""
        count = points if isinstance(points, int) else len(points)
        if count > self.points:
            raise refuse(field, f"{count} points are more than the {self.points} that this server computes at once")

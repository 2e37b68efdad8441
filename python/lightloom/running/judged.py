"""Measurements whose times mean something only where the machine was quiet enough."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lightloom.base.files import write_bytes
from lightloom.base.frames import Table
from lightloom.running.pace import NANOSECONDS

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["TOLERATED_LATENESS", "Jitter", "Judged", "Lateness", "Spread"]

# Lateness beyond this share of a plan's mean step, dilated, makes a measurement inconclusive.
TOLERATED_LATENESS = 0.05


class Spread(NamedTuple):
    """The least, the middle and the largest of the measured times, s."""

    min: float
    median: float
    max: float

    @classmethod
    def of(cls, times_s: NDArray[np.float64]) -> Spread:
        """The spread of some times."""
        return cls(float(times_s.min()), float(np.median(times_s)), float(times_s.max()))


class Lateness(NamedTuple):
    """Lateness of sleeps, in seconds of the machine, that half of them, 99 of 100, and all did not exceed."""

    sleeps: int
    median_s: float
    most_of_99_s: float
    most_s: float


class Jitter(NamedTuple):
    """Lateness: of all ranks in the probe before the runs; of the switch and of the ranks while runs were measured."""

    probe: Lateness
    switch: Lateness
    ranks: Lateness

    @classmethod
    def reported(cls, lateness: Sequence[Sequence[int]]) -> Jitter:
        """The jitter of `_core.run_report`, which has numbers of sleeps and nanoseconds."""
        return cls(*(Lateness(sleeps, *(ns / NANOSECONDS for ns in late_ns)) for sleeps, *late_ns in lateness))


class MachineSettings(Protocol):
    """The settings of a run that say how its processes shared the machine."""

    @property
    def real_time(self) -> bool:
        """Whether all processes had real-time priority."""

    @property
    def locked(self) -> bool:
        """Whether shared memory was locked."""

    @property
    def packet_rate(self) -> float | None:
        """Packets over all hops in a second of the machine; None where messages go whole."""

    @property
    def most_packet_rate(self) -> float | None:
        """The most packets in a second that the machine keeps up with; None where messages go whole."""

    @property
    def keeps_up_with_packets(self) -> bool:
        """Whether there were no more packets in a second than the machine passes on in time."""


class Judged(Table):
    """A measurement of processes, with the lateness of the machine, and a verdict on its times by that."""

    _settings: MachineSettings
    _jitter: Jitter

    @property
    def settings(self) -> MachineSettings:
        """The settings of the run."""
        return self._settings

    @property
    def jitter(self) -> Jitter:
        """The lateness of the machine."""
        return self._jitter

    @property
    def lateness_s(self) -> float:
        """Timer jitter, p99, in seconds of the machine: 99 of 100 sleeps of ranks and switch were not later."""
        return max(late.most_of_99_s for late in self._jitter)

    @property
    @abstractmethod
    def tolerated_lateness_s(self) -> float:
        """The lateness above which the measurement is inconclusive, in seconds of the machine."""

    @property
    def verdict(self) -> str:
        """`"conclusive"`, or `"inconclusive"` where the machine was too busy for the times to say anything."""
        in_time = self.lateness_s <= self.tolerated_lateness_s
        return "conclusive" if in_time and self._settings.keeps_up_with_packets else "inconclusive"

    @abstractmethod
    def to_json(self) -> str:
        """The measurement as JSON, without the data."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json() + "\n").encode())

    def _jitter_document(self) -> dict[str, Any]:
        """The lateness of the machine and what the run asked of it, as documents have them."""
        return {
            "tolerated_s": self.tolerated_lateness_s,
            "found_s": self.lateness_s,
            **{name: late._asdict() for name, late in self._jitter._asdict().items()},
            "packet_rate": self._settings.packet_rate,
            "most_packet_rate": self._settings.most_packet_rate,
            "real_time": self._settings.real_time,
            "locked": self._settings.locked,
        }

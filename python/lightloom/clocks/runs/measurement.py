"""The measurement of a timeline that was run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import _core
from lightloom.running.judged import TOLERATED_LATENESS, Judged, Spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.clocks.timeline import Timeline
    from lightloom.running.judged import Jitter
    from lightloom.running.run_settings import RunSettings

    Times = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["MeasuredConfiguration", "MeasuredTransmission", "TimelineMeasurement", "TimelineTimes"]

SCHEMA = "lightloom.timeline-run/1"


@dataclass(frozen=True)
class TimelineTimes:
    """All moments of all runs; seconds of the plan since the run began, bytes.

    By run and transmission: start_s, when its source began to send; end_s, when its data were kept. size_bytes: bytes
    that each transmission carries, whole elements. Columns with an entry for each circuit of each transmission:
    transmission, hop, switch and configuration; by run and entry, circuit_bytes that crossed the circuit, first_s when
    the first bit entered it and last_s when the last was through. changes: by switch and configuration that was made
    during a run, by run, when it was asked for and when it was there.
    """

    start_s: Times
    end_s: Times
    size_bytes: Integers
    transmission: Integers
    hop: Integers
    switch: Integers
    configuration: Integers
    circuit_bytes: Integers
    first_s: Times
    last_s: Times
    changes: dict[tuple[int, int], tuple[Times, Times]]


class MeasuredConfiguration(NamedTuple):
    """A configuration of a switch: medians over runs, seconds of the plan, with the timeline's times.

    measured_end_s: when the last byte over its circuits was through; when it was ready, if no byte crosses them.
    circuit_bytes, planned_circuit_bytes: bytes that crossed its circuits in a run, and that were to cross them.
    """

    switch: int
    configuration: int
    planned_ready_s: float
    measured_ready_s: float
    planned_end_s: float
    measured_end_s: float
    circuit_bytes: int
    planned_circuit_bytes: int


class MeasuredTransmission(NamedTuple):
    """A transmission: medians over runs, seconds of the plan, with the timeline's times.

    circuit_bytes: bytes that crossed each circuit of its path in a run; size_bytes: bytes that were to cross each.
    """

    planned_start_s: float
    measured_start_s: float
    planned_end_s: float
    measured_end_s: float
    size_bytes: int
    circuit_bytes: tuple[int, ...]


class TimelineMeasurement(Judged):
    """Results of running a timeline on processes and data; immutable, seconds of the plan and bytes.

    Made by `lightloom.run_timeline`. Times are divided by the dilation.
    """

    _settings: RunSettings

    def __init__(
        self,
        timeline: Timeline,
        settings: RunSettings,
        times: TimelineTimes,
        jitter: Jitter,
        arrays: tuple[NDArray[Any], ...],
        wrong: int,
    ) -> None:
        self._timeline, self._settings, self._times, self._jitter = timeline, settings, times, jitter
        self._arrays, self._wrong = arrays, wrong

    def __reduce__(self) -> tuple[type[TimelineMeasurement], tuple[Any, ...]]:
        return type(self), (self._timeline, self._settings, self._times, self._jitter, self._arrays, self._wrong)

    @property
    def timeline(self) -> Timeline:
        """The timeline that was run."""
        return self._timeline

    @property
    def settings(self) -> RunSettings:
        """The settings of the run."""
        return self._settings

    @property
    def times(self) -> TimelineTimes:
        """Every moment of every run."""
        return self._times

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The output of every rank, by rank."""
        return self._arrays

    @property
    def wrong(self) -> int:
        """Elements, of all ranks, that are not what NumPy makes of the data."""
        return self._wrong

    @property
    def planned_s(self) -> float:
        """Time of the timeline."""
        return self._timeline.total_s

    @cached_property
    def runs_s(self) -> Times:
        """By run, when the last data were kept."""
        latest: Times = self._times.end_s.max(axis=1)
        return latest

    @cached_property
    def measured(self) -> Spread:
        """Times of the runs."""
        return Spread.of(self.runs_s)

    @property
    def ratio(self) -> float:
        """The median of the measured times over the timeline's."""
        return self.measured.median / self.planned_s if self.planned_s else 1.0

    @cached_property
    def configurations(self) -> tuple[MeasuredConfiguration, ...]:
        """The configurations of all switches, switch after switch, in the order of time."""
        times, made = self._times, []
        none = np.zeros(len(self.runs_s))
        for k, switch in enumerate(self._timeline.switches):
            for i, one in enumerate(switch):
                of_it = (times.switch == k) & (times.configuration == i)
                crossed = times.circuit_bytes[:, of_it]
                ready_s = times.changes.get((k, i), (none, none))[1]
                through_s = np.where(crossed > 0, times.last_s[:, of_it], ready_s[:, None]).max(axis=1, initial=0.0)
                made.append(
                    MeasuredConfiguration(
                        k,
                        i,
                        one.ready_s,
                        float(np.median(ready_s)),
                        one.end_s,
                        float(np.median(np.maximum(through_s, ready_s))),
                        int(np.median(crossed.sum(axis=1))),
                        int(times.size_bytes[times.transmission[of_it]].sum()),
                    )
                )
        return tuple(made)

    @cached_property
    def transmissions(self) -> tuple[MeasuredTransmission, ...]:
        """The transmissions, in the timeline's order."""
        times, hop_s = self._times, self._timeline.plan.hop_delay_s
        start_s, end_s = np.median(times.start_s, axis=0), np.median(times.end_s, axis=0)
        crossed = np.median(times.circuit_bytes, axis=0).astype(np.int64)
        return tuple(
            MeasuredTransmission(
                one.start_s,
                float(start_s[index]),
                one.start_s + one.duration_s + len(one.path) * hop_s,
                float(end_s[index]),
                int(times.size_bytes[index]),
                tuple(crossed[times.transmission == index].tolist()),
            )
            for index, one in enumerate(self._timeline.transmissions)
        )

    @property
    def tolerated_lateness_s(self) -> float:
        """With more than this the measurement is inconclusive: 5 % of the time over its configurations, dilated."""
        count = max(len(self.configurations), 1)
        return TOLERATED_LATENESS * self.planned_s * self._settings.dilation / count

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a configuration of a switch."""
        names = MeasuredConfiguration._fields
        return {name: [getattr(one, name) for one in self.configurations] for name in names}

    def to_json(self) -> str:
        """The measurement as JSON of schema `lightloom.timeline-run/1`, without the data; seconds and bytes."""
        plan, settings = self._timeline.plan, self._settings
        sent = zip(self.transmissions, self._timeline.transmissions, strict=True)
        made: dict[str, Any] = {
            "schema": SCHEMA,
            "collective": plan.collective,
            "planner": self._timeline.planner,
            "gpus": plan.gpus,
            "transport": settings.transport,
            "dilation": settings.dilation,
            "dtype": settings.dtype,
            "reduction": settings.reduction,
            "packet_bytes": settings.packet_bytes,
            "planned_s": self.planned_s,
            "measured_s": self.measured._asdict(),
            "ratio": self.ratio,
            "runs_s": self.runs_s.tolist(),
            "wrong": self.wrong,
            "verdict": self.verdict,
            "jitter": self._jitter_document(),
            "configurations": [one._asdict() for one in self.configurations],
            "transmissions": [{**one._asdict(), "path": planned.path} for one, planned in sent],
        }
        return json.dumps(made, indent=1)

    def __repr__(self) -> str:
        plan = self._timeline.plan
        return (
            f"TimelineMeasurement({plan.collective}, {plan.gpus} ranks, {_core.show_time(self.measured.median)}, "
            f"{self.ratio:.3f} of the plan, wrong={self.wrong}, {self.verdict})"
        )

"""The measurement of training iterations that were run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import _core
from lightloom.base.views import picture
from lightloom.running.judged import TOLERATED_LATENESS, Judged, Spread
from lightloom.training.members import COMPUTE, SENDS

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.running.iterations.acts import Course
    from lightloom.running.judged import Jitter
    from lightloom.training.result import Event, Training

__all__ = ["ActTimes", "IterationMeasurement", "IterationSettings", "MeasuredChange", "MeasuredEvent", "MeasuredKind"]

SCHEMA = "lightloom.iteration-run/1"
EVENT_COLUMNS = (
    "node",
    "kind",
    "label",
    "planned_start_s",
    "measured_start_s",
    "planned_s",
    "measured_s",
    "ratio",
    "circuit_bytes",
    "planned_circuit_bytes",
    "wrong",
)


@dataclass(frozen=True, kw_only=True)
class IterationSettings:
    """Settings of a run: the arguments of `lightloom.run_iteration`, with the chosen values of those left out.

    dilation: rates are divided and delays multiplied by it. scale: bytes of the plan for each that was really sent.
    iterations: that were measured, after `warm_ups` others. packet_bytes: without headers, which take no time.
    real_time, locked, packet_rate, most_packet_rate: as of `RunSettings`.
    """

    transport: str
    dilation: float
    scale: int
    dtype: str
    reduction: str
    iterations: int
    warm_ups: int
    packet_bytes: int
    real_time: bool
    locked: bool
    packet_rate: float
    most_packet_rate: float

    @property
    def keeps_up_with_packets(self) -> bool:
        """Whether there were no more packets in a second than the machine passes on in time."""
        return self.packet_rate <= self.most_packet_rate


@dataclass(frozen=True)
class ActTimes:
    """Moments of acts and changes of circuits, in their order in `Course`; seconds of the plan since the run began.

    begun_s: all that it waits for had ended, circuits apart. start_s: its circuits were there, and a computation was
    over. end_s: its last rank had arrived. arrived_s: by act and rank, 0 where a rank takes no part. circuit_bytes: by
    act and transmitter (rank · ports + port), that crossed its circuit. asked_s, acknowledged_s: by change.
    """

    begun_s: NDArray[np.float64]
    start_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    arrived_s: NDArray[np.float64]
    circuit_bytes: NDArray[np.int64]
    asked_s: NDArray[np.float64]
    acknowledged_s: NDArray[np.float64]


class MeasuredEvent(NamedTuple):
    """An event as it was measured: medians over iterations, seconds of the plan, with the plan's times.

    measured_start_s: since its iteration began. circuit_bytes, planned_circuit_bytes: that crossed circuits in an
    iteration, all hops counted, and that were to. wrong: elements of all iterations that are not NumPy's.
    """

    node: str
    kind: str
    label: str
    planned_start_s: float
    measured_start_s: float
    planned_s: float
    measured_s: float
    circuit_bytes: int
    planned_circuit_bytes: int
    wrong: int

    @property
    def ratio(self) -> float:
        """Measured over planned time."""
        return self.measured_s / self.planned_s if self.planned_s else 1.0


@dataclass(frozen=True)
class MeasuredKind:
    """All events of a kind in an iteration: medians over iterations, seconds of the plan.

    name: `compute`, `sends`, or the collective. label: its axis or groups, empty for others. count: of events.
    planned_s, measured_s: their times added up, though they may overlap.
    """

    name: str
    label: str
    count: int
    planned_s: float
    measured_s: float
    wrong: int

    @property
    def ratio(self) -> float:
        """Measured over planned time."""
        return self.measured_s / self.planned_s if self.planned_s else 1.0


class MeasuredChange(NamedTuple):
    """A change of circuits in an iteration: medians over iterations, seconds of the plan.

    configuration: that it makes, as `lightloom circuits` counts them. planned_time_s: when it has to begin, since the
    iteration began; measured_time_s: when it was asked for, below 0 while the iteration before ended. dark_s: until the
    switch had acknowledged it; planned_dark_s: the reconfiguration delay.
    """

    configuration: int
    planned_time_s: float
    measured_time_s: float
    planned_dark_s: float
    dark_s: float


class IterationMeasurement(Judged):
    """Results of running a training iteration on processes and data; immutable, seconds of the plan and bytes.

    Made by `lightloom.run_iteration`. Times are divided by the dilation.
    """

    _settings: IterationSettings

    def __init__(
        self,
        course: Course,
        settings: IterationSettings,
        times: ActTimes,
        jitter: Jitter,
        mistakes: NDArray[np.int64],
        planned_bytes: NDArray[np.int64],
    ) -> None:
        self._course, self._settings, self._times, self._jitter = course, settings, times, jitter
        self._mistakes, self._planned_bytes = mistakes, planned_bytes

    def __reduce__(self) -> tuple[type[IterationMeasurement], tuple[Any, ...]]:
        parts = (self._course, self._settings, self._times, self._jitter, self._mistakes, self._planned_bytes)
        return type(self), parts

    @property
    def training(self) -> Training:
        """The iteration that was run."""
        return self._course.training

    @property
    def course(self) -> Course:
        """The acts that every act waited for."""
        return self._course

    @property
    def settings(self) -> IterationSettings:
        """The settings of the run."""
        return self._settings

    @property
    def times(self) -> ActTimes:
        """Every moment, warm-ups among them."""
        return self._times

    @property
    def wrong(self) -> int:
        """Elements, of all collectives and messages, that are not what NumPy makes of the data."""
        return int(self._mistakes.sum())

    @property
    def planned_s(self) -> float:
        """Time of an iteration by the plan."""
        return self.training.total_s

    @cached_property
    def iterations_s(self) -> NDArray[np.float64]:
        """By measured iteration, its time: from the end of the one before to its own."""
        return np.diff(self._ends_s)[self._settings.warm_ups :]

    @cached_property
    def measured(self) -> Spread:
        """Times of the measured iterations."""
        return Spread.of(self.iterations_s)

    @property
    def ratio(self) -> float:
        """The median of the measured times over the plan's."""
        return self.measured.median / self.planned_s if self.planned_s else 1.0

    @cached_property
    def moved_bytes(self) -> int:
        """Bytes that crossed circuits in a measured iteration, all hops counted; their mean."""
        return int(self._measured_rows(self._times.circuit_bytes.sum(axis=1)).sum() / self._settings.iterations)

    @cached_property
    def events(self) -> tuple[MeasuredEvent, ...]:
        """The events, in the order of the workload."""
        made = []
        crossed = self._times.circuit_bytes.sum(axis=1)
        for index, event in enumerate(self.training.events):
            start_s, end_s = self.spans_s(index)
            begins_s = self.begins_s
            first, last = int(self._course.first_acts[-1, index]), int(self._course.last_acts[-1, index])
            made.append(
                MeasuredEvent(
                    event.node,
                    event.kind,
                    event.label,
                    event.start_s,
                    float(np.median(start_s - begins_s)),
                    event.end_s - event.start_s,
                    float(np.median(end_s - start_s)),
                    int(crossed[first : last + 1].sum()),
                    int(self._planned_bytes[first : last + 1].sum()),
                    int(self._mistakes[index]),
                )
            )
        return tuple(made)

    @cached_property
    def kinds(self) -> tuple[MeasuredKind, ...]:
        """Computation, every collective by axis or groups, and sends, in the order of first use."""
        rows: dict[tuple[str, str], list[int]] = {}
        for index, event in enumerate(self.training.events):
            rows.setdefault(kind_of(self.training, index, event), []).append(index)
        made = []
        for (name, label), indices in rows.items():
            events = [self.events[index] for index in indices]
            planned_s, measured_s = sum(one.planned_s for one in events), sum(one.measured_s for one in events)
            wrong = sum(one.wrong for one in events)
            made.append(MeasuredKind(name, label, len(events), planned_s, measured_s, wrong))
        return tuple(made)

    @cached_property
    def changes(self) -> tuple[MeasuredChange, ...]:
        """The changes of circuits of an iteration, in the order of their planned times."""
        count = len(self._course.circuits.configurations) - 1
        if not count:
            return ()
        first = self._settings.warm_ups * count
        asked_s, acknowledged_s = (
            moments[first:].reshape(-1, count) for moments in (self._times.asked_s, self._times.acknowledged_s)
        )
        begun_s = np.median(asked_s - self.begins_s[:, None], axis=0)
        dark_s = np.median(acknowledged_s - asked_s, axis=0)
        planned_s = self.training.fabric.reconfiguration.scalar_s or 0.0
        return tuple(
            MeasuredChange(change.configuration, change.time_s, float(begun_s[place]), planned_s, float(dark_s[place]))
            for place, change in enumerate(self._course.changes[:count])
        )

    @cached_property
    def begins_s(self) -> NDArray[np.float64]:
        """By measured iteration, when it began."""
        return self._ends_s[self._settings.warm_ups : -1]

    def spans_s(self, event: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times at which an event started, once its circuits were there, and ended in every measured iteration."""
        course, times, first = self._course, self._times, self._settings.warm_ups
        firsts, lasts = course.first_acts[first:, event], course.last_acts[first:, event]
        computes = self.training.events[event].kind == COMPUTE
        return (times.begun_s if computes else times.start_s)[firsts], times.end_s[lasts]

    @property
    def tolerated_lateness_s(self) -> float:
        """With more than this the measurement is inconclusive: 5 % of the iteration over its acts, dilated."""
        acts = len(self._course.acts) / self._course.iterations
        return TOLERATED_LATENESS * self.planned_s * self._settings.dilation / acts

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one an event."""
        return {name: [getattr(event, name) for event in self.events] for name in EVENT_COLUMNS}

    def to_json(self) -> str:
        """The measurement as JSON of schema `lightloom.iteration-run/1`, without the data; seconds and bytes."""
        training, settings = self.training, self._settings
        made: dict[str, Any] = {
            "schema": SCHEMA,
            "workload": training.name,
            "ranks": training.ranks,
            "policy": training.policy,
            "transport": settings.transport,
            "dilation": settings.dilation,
            "scale": settings.scale,
            "dtype": settings.dtype,
            "reduction": settings.reduction,
            "packet_bytes": settings.packet_bytes,
            "warm_ups": settings.warm_ups,
            "planned_s": self.planned_s,
            "measured_s": self.measured._asdict(),
            "ratio": self.ratio,
            "iterations_s": self.iterations_s.tolist(),
            "moved_bytes": self.moved_bytes,
            "wrong": self.wrong,
            "verdict": self.verdict,
            "jitter": self._jitter_document(),
            "kinds": [{**asdict(kind), "ratio": kind.ratio} for kind in self.kinds],
            "changes": [change._asdict() for change in self.changes],
            "events": [{name: getattr(event, name) for name in EVENT_COLUMNS} for event in self.events],
        }
        return json.dumps(made, indent=1, ensure_ascii=False)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Computation and communication over time, in the median iteration, under the plan's; a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("IterationMeasurement.plot", self, path)

    @cached_property
    def _ends_s(self) -> NDArray[np.float64]:
        """The time at which each iteration began, warm-ups among them, and when the last one ended."""
        ends_s = self._times.end_s[self._course.last_acts].max(axis=1)
        return np.append(0.0, ends_s)

    def _measured_rows(self, of_acts: NDArray[np.int64]) -> NDArray[np.int64]:
        measured = [act.iteration >= self._settings.warm_ups for act in self._course.acts]
        rows: NDArray[np.int64] = of_acts[np.array(measured)]
        return rows

    def __repr__(self) -> str:
        training = self.training
        return (
            f"IterationMeasurement({training.name or 'a workload'}, {training.ranks} ranks, "
            f"{_core.show_time(self.measured.median)}, {self.ratio:.3f} of the plan, wrong={self.wrong}, "
            f"{self.verdict})"
        )


def kind_of(training: Training, index: int, event: Event) -> tuple[str, str]:
    """The name of an event's kind, and its axis or groups."""
    if event.kind == COMPUTE:
        return COMPUTE, ""
    if event.kind == "send":
        return SENDS, ""
    return str(training.nodes[index]["collective"]), event.label

"""The measurement of a plan that was run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.views import picture, write_trace
from lightloom.running.data import DATA_TYPES
from lightloom.running.judged import TOLERATED_LATENESS, Judged, Spread

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.plans import Plan
    from lightloom.plans.steps import Step
    from lightloom.running.judged import Jitter
    from lightloom.running.run_settings import RunSettings

__all__ = ["MeasuredStep", "Measurement", "RunTimes"]

SCHEMA = "lightloom.run/1"
STEP_COLUMNS = (
    "index",
    "topology_name",
    "topology_index",
    "reconfigured",
    "predicted_s",
    "measured_s",
    "ratio",
    "barrier_s",
    "dark_s",
    "switch_s",
    "release_s",
    "transfer_s",
    "predicted_barrier_s",
    "predicted_dark_s",
    "predicted_transfer_s",
    "waiting_s",
    "forwarded_bytes",
)


@dataclass(frozen=True)
class RunTimes:
    """All moments of all runs, as arrays; seconds of the plan since the run began, divided by the dilation.

    total_s: by run, without computation before steps. By run and step: begun_s, when the step before had ended; asked_s
    and acknowledged_s, of a change of circuits, both equal to begun_s without a change; start_s, when startup began;
    end_s, when the last rank had arrived. By run, step and rank: released_s, it was released; started_s, startup was
    over; sent_s, all that it sends and passes on had left it; received_s, all had come; arrived_s, it was copied and
    reduced; forwarded_bytes, passed on for others. switch_s, by run and step: no moment, but the seconds until an
    outside switch said that it had made a change. By run, step and transmitter (rank · ports + port): circuit_bytes
    that crossed its circuit, circuit_first_s and circuit_last_s, from when on and until when.
    """

    total_s: NDArray[np.float64]
    begun_s: NDArray[np.float64]
    asked_s: NDArray[np.float64]
    acknowledged_s: NDArray[np.float64]
    start_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    released_s: NDArray[np.float64]
    started_s: NDArray[np.float64]
    sent_s: NDArray[np.float64]
    received_s: NDArray[np.float64]
    arrived_s: NDArray[np.float64]
    forwarded_bytes: NDArray[np.int64]
    circuit_bytes: NDArray[np.int64]
    circuit_first_s: NDArray[np.float64]
    circuit_last_s: NDArray[np.float64]
    switch_s: NDArray[np.float64]


@dataclass(frozen=True)
class MeasuredStep:
    """A step as it was measured: medians over the runs, seconds of the plan, with the plan's prediction.

    measured_s, predicted_s: from the end of the step before to its own, the reconfiguration included, computation
    before it not. Four parts of it, but that circuits may change behind the computation: barrier_s, until it was known
    that all ranks had ended the step before; dark_s, from the asking for circuits to their acknowledgement; release_s,
    until the last rank was released; transfer_s, until the end, the startup included. switch_s: of dark_s, from the
    order until an outside switch said that it had done it; None where there is none. predicted_barrier_s,
    predicted_dark_s and predicted_transfer_s: the parts of predicted_s. waiting_s: of ranks that had arrived,
    for the last one, their mean. forwarded_bytes: that ranks passed on for others, all together.
    """

    index: int
    topology_name: str
    topology_index: int
    reconfigured: bool
    predicted_s: float
    measured_s: float
    barrier_s: float
    dark_s: float
    switch_s: float | None
    release_s: float
    transfer_s: float
    predicted_barrier_s: float
    predicted_dark_s: float
    predicted_transfer_s: float
    waiting_s: float
    forwarded_bytes: int

    @property
    def ratio(self) -> float:
        """Measured over predicted time."""
        return self.measured_s / self.predicted_s if self.predicted_s else 1.0


class Measurement(Judged):
    """Results of running a plan on processes and data; immutable, seconds and bytes.

    Made by `lightloom.run` and `lightloom.Executor.run`. Times are divided by the dilation: seconds of the plan.
    """

    _settings: RunSettings

    def __init__(
        self,
        plan: Plan,
        settings: RunSettings,
        times: RunTimes,
        jitter: Jitter,
        arrays: tuple[NDArray[Any], ...],
        wrong: int,
        windows_s: tuple[float, ...],
    ) -> None:
        self._plan, self._settings, self._times, self._jitter = plan, settings, times, jitter
        self._arrays, self._wrong, self._windows_s = arrays, wrong, windows_s

    def __reduce__(self) -> tuple[type[Measurement], tuple[Any, ...]]:
        parts = (self._plan, self._settings, self._times, self._jitter, self._arrays, self._wrong, self._windows_s)
        return type(self), parts

    @property
    def plan(self) -> Plan:
        """The plan that was run."""
        return self._plan

    @property
    def settings(self) -> RunSettings:
        """How it was run."""
        return self._settings

    @property
    def times(self) -> RunTimes:
        """Every moment of every run."""
        return self._times

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The output of every rank, by rank."""
        return self._arrays

    @property
    def wrong(self) -> int:
        """Elements of `arrays` that are not what NumPy makes of the data, as NCCL's tests count them."""
        return self._wrong

    @property
    def elements(self) -> int:
        """The number of elements of one rank's buffer m."""
        return self._plan.size_bytes // DATA_TYPES[self._settings.dtype].size_bytes

    @property
    def windows_s(self) -> tuple[float, ...]:
        """Computation before each step, which is in no time but the moments of `times`."""
        return self._windows_s

    @property
    def predicted_s(self) -> float:
        """Completion time by the plan; without its hop delays if the transport has none."""
        return self._plan.total_s - sum(self._left_out_s(step) for step in self._plan.steps)

    @cached_property
    def measured(self) -> Spread:
        """Completion times of the runs."""
        return Spread.of(self._times.total_s)

    @property
    def ratio(self) -> float:
        """The median of the measured times over the plan's prediction."""
        return self.measured.median / self.predicted_s if self.predicted_s else 1.0

    @property
    def algbw(self) -> float:
        """Bytes per second, as NCCL's tests count it: m over the middle of the measured times."""
        return self._plan.size_bytes / self.measured.median

    @property
    def busbw(self) -> float:
        """Bytes per second, as NCCL's tests count it: algbw times the collective's bus factor."""
        return self.algbw * _core.bus_factor(self._plan.collective, self._plan.gpus)

    @cached_property
    def steps(self) -> tuple[MeasuredStep, ...]:
        """The steps, in order."""
        times = self._times
        windows_s, released_s = np.asarray(self._windows_s), times.released_s.max(axis=2)
        measured_s = np.median(times.end_s - times.begun_s, axis=0) - windows_s
        barrier_s = np.median(times.asked_s - times.begun_s, axis=0)
        dark_s = np.median(times.acknowledged_s - times.asked_s, axis=0)
        ready_s = np.maximum(times.acknowledged_s, times.asked_s + windows_s)
        release_s = np.median(released_s - ready_s, axis=0)
        transfer_s = np.median(times.end_s - released_s, axis=0)
        switch_s = np.median(times.switch_s, axis=0)
        waiting_s = np.median((times.end_s[:, :, None] - times.arrived_s).mean(axis=2), axis=0)
        forwarded = times.forwarded_bytes[0].sum(axis=1)
        return tuple(
            MeasuredStep(
                step.index,
                step.topology_name,
                step.topology_index,
                step.reconfigured,
                self._predicted_s(step),
                float(measured_s[step.index]),
                float(barrier_s[step.index]),
                float(dark_s[step.index]),
                None if self._settings.switch is None else float(switch_s[step.index]),
                float(release_s[step.index]),
                float(transfer_s[step.index]),
                step.barrier_s,
                step.reconfiguration_s,
                self._predicted_s(step) - step.barrier_s - step.reconfiguration_s,
                float(waiting_s[step.index]),
                int(forwarded[step.index]),
            )
            for step in self._plan.steps
        )

    @property
    def lateness_s(self) -> float:
        """Timer jitter, p99: 99 of 100 sleeps of ranks and switch, in the probe and the runs, were not later.

        The uncertainty of hosts' clocks where that is more.
        """
        return max([super().lateness_s, *(host.clock_uncertainty_s for host in self._settings.hosts)])

    @property
    def tolerated_lateness_s(self) -> float:
        """With more than this the measurement is inconclusive: 5 % of the plan's mean step, dilated."""
        return TOLERATED_LATENESS * self.predicted_s * self._settings.dilation / len(self._plan.steps)

    def _predicted_s(self, step: Step) -> float:
        return step.total_s - self._left_out_s(step)

    def _left_out_s(self, step: Step) -> float:
        return 0.0 if self._settings.has_hop_delay else step.propagation_s

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a step."""
        return {name: [getattr(step, name) for step in self.steps] for name in STEP_COLUMNS}

    def to_json(self) -> str:
        """The measurement as JSON of schema `lightloom.run/1`, without the data; in seconds of the plan and bytes."""
        plan, settings = self._plan, self._settings
        made: dict[str, Any] = {
            "schema": SCHEMA,
            "collective": plan.collective,
            "algorithm": plan.algorithm,
            "planner": plan.planner,
            "gpus": plan.gpus,
            "size_bytes": plan.size_bytes,
            "transport": settings.transport,
            "dilation": settings.dilation,
            "dtype": settings.dtype,
            "reduction": settings.reduction,
            "packet_bytes": settings.packet_bytes,
            "switch": settings.switch,
            "hosts": [host._asdict() for host in settings.hosts],
            "predicted_s": self.predicted_s,
            "measured_s": self.measured._asdict(),
            "ratio": self.ratio,
            "algbw": self.algbw,
            "busbw": self.busbw,
            "wrong": self.wrong,
            "verdict": self.verdict,
            "runs_s": self._times.total_s.tolist(),
            "jitter": self._jitter_document(),
            "steps": [{name: getattr(step, name) for name in STEP_COLUMNS} for step in self.steps],
        }
        return json.dumps(made, indent=1, ensure_ascii=False)

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Write the run in the middle, under the plan, as a Perfetto trace: a `.json` or `.json.gz` file.

        Raises `InputError` that names `trace` when the file cannot be written.
        """
        write_trace("Measurement.trace", self, path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The activity of steps and ranks over time, in the median run, under the plan's; a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("Measurement.plot", self, path)

    def __repr__(self) -> str:
        return (
            f"Measurement({self._plan.collective}, {self._plan.gpus} ranks, {_core.show_time(self.measured.median)}, "
            f"{self.ratio:.3f} of the plan, wrong={self.wrong}, {self.verdict})"
        )

"""Calls that run on processes of this machine, by circuits whose reconfiguration delay is that of the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.online.call import Call
from lightloom.running.executor import Executor

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from lightloom.online.table import PlanTable
    from lightloom.running.measurement import Measurement

__all__ = ["Calls"]


class Calls:
    """Calls by a table's plans.

    The controller process of the runs has the switch change its circuits, and hands the plan of each call to the
    processes of all ranks, so that they never disagree about it. count: of all calls; report: is told how many are
    done. Each call starts when the one before has ended.
    """

    def __init__(self, table: PlanTable, count: int, report: Callable[[str], None]) -> None:
        self._table = table
        self._count, self._done, self._report = count, 0, report
        self._executor = Executor(runs=1, warm_ups=0)

    def call(self, place: int, size_bytes: int, delay_s: float) -> Call:
        """A call by the plan of that place on a switch of this delay, s; times as measured, in seconds of the plan."""
        measurement = self._executor.run(self._table.plan(size_bytes, delay_s, place))
        self._done += 1
        self._report(f"{self._done} of {self._count} calls")
        return Call(measurement.measured.median, _delay_s(measurement), measurement.wrong)

    def __enter__(self) -> Self:
        self._executor.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.__exit__(kind, error, trace)


def _delay_s(measurement: Measurement) -> float | None:
    """The median over all changes of circuits, from asking for them to their acknowledgement, s."""
    changed = [step.index for step in measurement.plan.steps if step.reconfigured]
    if not changed:
        return None
    times = measurement.times
    return float(np.median((times.acknowledged_s - times.asked_s)[:, changed]))

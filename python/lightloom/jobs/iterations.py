"""Times of the iterations of jobs, each what `lightloom.train` says; none is planned twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lightloom.jobs.course import Together
from lightloom.jobs.merge import merged, nodes_of
from lightloom.optics.port_maps import circuits
from lightloom.training.planning import train

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.inputs.fabric import Fabric
    from lightloom.jobs.sharing import Circuits
    from lightloom.training.result import Training
    from lightloom.training.workload import Workload

__all__ = ["Iteration", "Iterations"]

# The policies of `train` whose circuits never change, for circuits of the job's own and for wired ones. The rings and
# tori of wired circuits are taken to be closed on every block, which a piece of a torus is not; so their times are
# lower bounds.
FIXED: dict[Circuits, str] = {"own": "one-shot", "wired": "static"}
# Iterations of the shorter of two jobs to one of the longer, and nodes of both, up to which they are planned together.
MOST_REPEATS = 64
MOST_NODES = 400


class Iteration(NamedTuple):
    """An iteration on GPUs of its own: its time by circuits, s, None where they cannot serve it.

    connects: connections that switches set up in an iteration where circuits change.
    """

    change_s: float
    own_s: float | None
    wired_s: float | None
    connects: int

    def on(self, circuits: Circuits) -> float | None:
        """The iteration's time, s, where the job has circuits of this kind."""
        return {"change": self.change_s, "own": self.own_s, "wired": self.wired_s}[circuits]


class Iterations:
    """Times on a fabric, whose number of GPUs does not matter.

    too_large: pairs of workloads that were not planned together for their size.
    """

    def __init__(self, fabric: Fabric, report: Callable[[str], object] | None = None, expected: int = 0) -> None:
        """fabric: that all jobs share. report: is told what is being planned.

        expected: how many different workloads there are, for `report`; 0 where that is not known.
        """
        self._fabric, self._report, self._expected = replace(fabric, gpus=None, dims=None), report, expected
        self._alone: dict[str, Iteration] = {}
        self._together: dict[tuple[str, str], tuple[Together, int] | None] = {}
        self.too_large = 0

    def alone(self, workload: Workload) -> Iteration:
        """The times of a workload's iteration."""
        key = workload.to_json()
        if key not in self._alone:
            count = f" ({len(self._alone) + 1} of {self._expected} iterations)" if self._expected else ""
            training = self._planned(workload, f"{workload.name or 'a workload'} on {workload.ranks} GPUs{count}")
            fixed = {kind: training.policies[name] for kind, name in FIXED.items()}
            connects = circuits(training).connects
            self._alone[key] = Iteration(training.total_s, fixed["own"], fixed["wired"], connects)
        return self._alone[key]

    def together(self, first: Workload, second: Workload) -> tuple[Together, int] | None:
        """Two workloads at once on the same GPUs, and the connections that switches set up in a period.

        None where that is no faster than one after the other, or where they are too large to be planned together.
        """
        key = first.to_json(), second.to_json()
        if key not in self._together:
            self._together[key] = self._found(first, second)
        return self._together[key]

    def _found(self, first: Workload, second: Workload) -> tuple[Together, int] | None:
        times = self.alone(first).change_s, self.alone(second).change_s
        counts = tuple(min(MOST_REPEATS, max(1, round(max(times) / time_s))) for time_s in times)
        iterations = counts[0], counts[1]
        if nodes_of(first, second, iterations) > MOST_NODES:
            self.too_large += 1
            return None
        label = f"{first.name or 'a workload'} together with {second.name or 'a workload'}"
        training = self._planned(merged(first, second, iterations), label)
        in_turns_s = iterations[0] * times[0] + iterations[1] * times[1]
        if training.total_s >= in_turns_s:
            return None
        return Together(training.total_s, iterations), circuits(training).connects

    def _planned(self, workload: Workload, label: str) -> Training:
        report = self._report

        def say(text: str) -> None:
            if report is not None:
                report(f"{label}: {text}")

        return train(workload, fabric=self._fabric, report=say)

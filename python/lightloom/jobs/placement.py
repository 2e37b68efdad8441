"""Place jobs on a fabric: times of their iterations, and their course by every way to share it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lightloom._core import counted
from lightloom.base.errors import InputError, refuse, shown, unknown_name
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.options import FABRIC_KEYS
from lightloom.inputs.quantities import seconds_of
from lightloom.jobs.course import Task, Turns, Work, course
from lightloom.jobs.description import read_requests
from lightloom.jobs.iterations import Iterations
from lightloom.jobs.orders import ORDERS, ordered_course
from lightloom.jobs.places import AnyGpus, Blocks, wired_dims
from lightloom.jobs.result import JobPlacements, PlacedJob, SharedRun
from lightloom.jobs.sharing import sharings_named

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lightloom.jobs.course import Pairing, Run, Together
    from lightloom.jobs.description import Grant, Request
    from lightloom.jobs.sharing import Circuits, Sharing

__all__ = ["place_jobs"]

# GPUs up to which all blocks of a torus are looked at.
MOST_GPUS = 4096
# Optical layers on which jobs on different GPUs have nothing to do with each other.
LAYERS = (None, "crossbar", "parallel")
TURN_S = 1.0


def place_jobs(
    jobs: str | os.PathLike[str] | Mapping[str, object] | tuple[Request, ...],
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    order: str = "arrival",
    turn: str | float = TURN_S,
    sharing: str | Iterable[str] | None = None,
    report: Callable[[str], object] | None = None,
) -> JobPlacements:
    """GPUs and times of jobs on one fabric, by several ways to share it; iterations take what `lightloom.train` says.

    jobs: a TOML file, a mapping of its keys, or requests that were read; docs/how-to/share-a-fabric.md has the keys.
    fabric: a Fabric with a number of GPUs, the name of a preset or a TOML file; its `dims` are those of the wired
    torus. order: the rule by which waiting jobs start: `"arrival"`, `"backfill"`, `"shortest-first"` or `"search"`.
    turn: the least time of a turn, `"1s"` or seconds, in whole iterations. sharing: names of ways such as
    `"wired,changing"`; all when left out. report: is told what is being planned.

    Raises `InputError` that names the argument or the key of a job.
    """
    asked = sharings_named(sharing)
    if order not in (known := [one.name for one in ORDERS]):
        raise unknown_name("order", order, known)
    turn_s = seconds_of("turn", turn)
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    fabric.refuse_beyond_circuits("jobs are placed")
    fabric = fabric.sized()
    if (layer := fabric.optical_layer) not in LAYERS:
        raise refuse(
            "optics",
            f"`{shown(layer)}` is not accepted: jobs would share its ports or waveguides with their neighbours, which "
            "is not planned; it takes crossbar or parallel",
        )
    gpus = fabric.gpus or 0
    if gpus > MOST_GPUS:
        raise refuse("gpus", f"{gpus} is not accepted; jobs are placed on 2 to {MOST_GPUS} GPUs")
    requests = read_requests(jobs, gpus)
    different = {grant.workload.to_json() for request in requests for grant in request.grants}
    placing = _Placing(requests, fabric, turn_s, Iterations(fabric, report, len(different)))
    return JobPlacements(
        gpus=gpus,
        ports=fabric.ports,
        reconfiguration_delay=str(fabric.reconfiguration),
        dims=placing.dims,
        order=order,
        runs=tuple(placing.run(one, order) for one in asked),
    )


class _Placing:
    """Jobs on a fabric, whose iterations are planned when they are first asked for."""

    def __init__(self, requests: tuple[Request, ...], fabric: Fabric, turn_s: float, iterations: Iterations) -> None:
        self._requests, self._fabric, self._turn_s, self._iterations = requests, fabric, turn_s, iterations
        self._gpus = fabric.gpus or 0
        self._pairs: dict[tuple[tuple[int, int], tuple[int, int]], tuple[Together, int] | None] = {}
        self.dims = fabric.dimensions or wired_dims(self._gpus, fabric.ports)
        most = max(1, fabric.ports // 2)
        if sum(size > 1 for size in self.dims) > most:
            asked, ports = "x".join(map(str, self.dims)), counted(fabric.ports, "port")
            accepts = f"at most {counted(most, 'dimension')}, one for every two ports"
            raise refuse("dims", f"`{asked}` is not accepted on {ports}; it takes {accepts}")

    def run(self, sharing: Sharing, order: str) -> SharedRun:
        """All jobs by a way to share the fabric."""
        tasks = []
        for request in self._requests:
            works = [self._work(grant, sharing.circuits, request.name) for grant in request.grants]
            served = tuple(work for work in works if work is not None)
            if len(served) < len(works):
                note = f"circuits that never change cannot serve {request.name}"
                return SharedRun(sharing=sharing.name, title=sharing.title, jobs=(), best_order=False, note=note)
            tasks.append(Task(request.arrival_s, served))

        def run(starts: Sequence[int], overtaking: bool) -> list[Run]:
            places = Blocks(self.dims) if sharing.circuits == "wired" else AnyGpus(self._gpus)
            return course(tasks, places, starts, overtaking=overtaking, pairing=self._pairing(sharing, tasks))

        runs, is_best = ordered_course(order, tasks, run)
        is_best &= sharing.circuits != "wired" and sharing.pairs is None
        return SharedRun(
            sharing=sharing.name,
            title=sharing.title,
            jobs=tuple(self._placed(index, runs, tasks, sharing) for index in range(len(runs))),
            best_order=is_best and all(len(task.works) == 1 for task in tasks),
            note=self._note(sharing),
        )

    def _note(self, sharing: Sharing) -> str:
        """A note on jobs or ways that were left out."""
        if sharing.pairs != "together" or not self._iterations.too_large:
            return ""
        return f"{counted(self._iterations.too_large, 'pair')} too large to be planned together, and not shared"

    def _work(self, grant: Grant, circuits: Circuits, name: str) -> Work | None:
        """A job's work on such circuits, None where they cannot serve it. Raises `InputError` that names the job."""
        try:
            iteration_s = self._iterations.alone(grant.workload).on(circuits)
        except InputError as error:
            if error.field in FABRIC_KEYS:
                raise
            raise InputError("job", f"job `{name}`: {error}") from error
        if iteration_s == 0:
            raise refuse("job", f"`{name}` takes no time; an iteration takes more than 0 s")
        # `train` takes one delay for every change.
        change_s = 0.0 if circuits == "wired" else self._fabric.reconfiguration.scalar_s or 0.0
        return None if iteration_s is None else Work(grant.ranks, grant.iterations, iteration_s, change_s)

    def _together(self, first: tuple[int, int], second: tuple[int, int]) -> tuple[Together, int] | None:
        if (first, second) not in self._pairs:
            one, other = (self._requests[task].grants[place] for task, place in (first, second))
            self._pairs[first, second] = self._iterations.together(one.workload, other.workload)
        return self._pairs[first, second]

    def _pairing(self, sharing: Sharing, tasks: Sequence[Task]) -> Pairing | None:
        """The sharing of GPUs by two jobs."""

        def together(first: tuple[int, int], second: tuple[int, int]) -> Together | None:
            found = self._together(first, second)
            return None if found is None else found[0]

        def turns(first: tuple[int, int], second: tuple[int, int]) -> Turns:
            lengths_s = (tasks[task].works[place].iteration_s for task, place in (first, second))
            one, other = (max(1, -int(-self._turn_s // length_s)) for length_s in lengths_s)
            return Turns((one, other))

        return {"together": together, "turns": turns, None: None}[sharing.pairs]

    def _placed(self, index: int, runs: Sequence[Run], tasks: Sequence[Task], sharing: Sharing) -> PlacedJob:
        request, run = self._requests[index], runs[index]
        grant = request.grants[run.work]
        alone = self._work(request.grants[0], "change", request.name)
        return PlacedJob(
            name=request.name,
            ranks=grant.ranks,
            iterations=grant.iterations,
            iteration_s=tasks[index].works[run.work].iteration_s,
            arrival_s=request.arrival_s,
            start_s=run.start_s,
            end_s=run.end_s,
            slowdown=math.nan if alone is None else (run.end_s - request.arrival_s) / alone.total_s,
            gpus=run.gpus,
            settings=0 if sharing.circuits == "wired" else run.settings,
            connects=self._connects(index, runs, sharing),
            shared_with=tuple(self._requests[other].name for other in self._others(index, runs)),
        )

    def _connects(self, index: int, runs: Sequence[Run], sharing: Sharing) -> int:
        """Connections that switches set up for a job."""
        if sharing.circuits == "wired":
            return 0
        run = runs[index]
        grant = self._requests[index].grants[run.work]
        connects = run.settings * grant.ranks * self._fabric.ports
        if sharing.circuits == "change":
            connects += run.alone * self._iterations.alone(grant.workload).connects
        for (first, second), periods in run.paired.items():
            found = self._together((first, runs[first].work), (second, runs[second].work))
            both = periods * (0 if found is None else found[1])
            connects += both // 2 + (both % 2 if index == first else 0)
        return connects

    @staticmethod
    def _others(index: int, runs: Sequence[Run]) -> list[int]:
        """Jobs that have the GPUs of a job at a time at which it has them."""
        own = runs[index]
        return [
            other
            for other, run in enumerate(runs)
            if other != index
            and max(run.start_s, own.start_s) < min(run.end_s, own.end_s)
            and not set(run.gpus).isdisjoint(own.gpus)
        ]

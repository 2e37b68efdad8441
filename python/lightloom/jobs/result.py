"""Jobs on a fabric by ways to share it, as people and programs hold them."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lightloom._core import counted, show_time
from lightloom.base.files import write_bytes
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.jobs.sharing import BASELINE

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

__all__ = ["SCHEMA", "JobPlacements", "PlacedJob", "SharedRun"]

SCHEMA = "lightloom.jobs/1"


@dataclass(frozen=True, kw_only=True)
class PlacedJob:
    """A job's place in space and time; seconds.

    name: of the job. ranks, iterations: their numbers. iteration_s: time of one iteration on GPUs of its own.
    arrival_s, start_s, end_s: since the beginning. slowdown: its completion time over that on free GPUs of its own with
    circuits that change. gpus: the job's GPUs, more than its ranks if no block of a torus has exactly as many.
    settings: how often all of its circuits are set, at its start and at its turns. connects: connections that switches
    set up for it in all; of periods that it shares with another job, half. shared_with: jobs that run on its GPUs, too.
    """

    name: str
    ranks: int
    iterations: int
    iteration_s: float
    arrival_s: float
    start_s: float
    end_s: float
    slowdown: float
    gpus: tuple[int, ...]
    settings: int
    connects: int
    shared_with: tuple[str, ...]

    @property
    def completion_s(self) -> float:
        """Time from its arrival to its end."""
        return self.end_s - self.arrival_s


@dataclass(frozen=True, kw_only=True)
class SharedRun:
    """All jobs by one way to share the fabric.

    sharing, title: its name and its words. jobs: in the order of the description; empty where circuits that never
    change cannot serve one of them, which `note` then says. best_order: whether no order of starts has a smaller mean
    completion time, proved.
    """

    sharing: str
    title: str
    jobs: tuple[PlacedJob, ...]
    best_order: bool
    note: str

    @property
    def makespan_s(self) -> float | None:
        """Time at which the last job ends; None without jobs."""
        return max((job.end_s for job in self.jobs), default=None)

    @property
    def mean_completion_s(self) -> float | None:
        """Mean time from arrival to end; None without jobs."""
        return math.fsum(job.completion_s for job in self.jobs) / len(self.jobs) if self.jobs else None

    @property
    def mean_slowdown(self) -> float | None:
        """Mean slowdown; None without jobs."""
        return math.fsum(job.slowdown for job in self.jobs) / len(self.jobs) if self.jobs else None

    @property
    def connects(self) -> int:
        """Connections that switches set up for all jobs."""
        return sum(job.connects for job in self.jobs)


@dataclass(frozen=True, kw_only=True)
class JobPlacements(Table):
    """Jobs on a fabric, by every way to share it; immutable.

    gpus, ports, reconfiguration_delay: of the fabric, the last in words. dims: of the wired torus. order: rule by which
    waiting jobs start. runs: one for every way.
    """

    gpus: int
    ports: int
    reconfiguration_delay: str
    dims: tuple[int, ...]
    order: str
    runs: tuple[SharedRun, ...]

    @property
    def best(self) -> SharedRun | None:
        """The run with the least mean completion time, the first of equals; None where no way serves all jobs."""
        served = [run for run in self.runs if run.jobs]
        return min(served, key=lambda run: run.mean_completion_s or 0.0, default=None)

    def gain(self, run: SharedRun) -> float | None:
        """The mean completion time on the wired torus over that of a run; None where one of them has none."""
        base = next((one.mean_completion_s for one in self.runs if one.sharing == BASELINE), None)
        own = run.mean_completion_s
        return None if base is None or own is None else base / own

    def to_json(self) -> str:
        """The placements as JSON of schema `lightloom.jobs/1`."""
        told = {
            "schema": SCHEMA,
            "gpus": self.gpus,
            "ports": self.ports,
            "reconfiguration_delay": self.reconfiguration_delay,
            "dims": list(self.dims),
            "order": self.order,
            "best": None if self.best is None else self.best.sharing,
            "runs": [
                {
                    "sharing": run.sharing,
                    "title": run.title,
                    "makespan_s": run.makespan_s,
                    "mean_completion_s": run.mean_completion_s,
                    "mean_slowdown": run.mean_slowdown,
                    "gain": self.gain(run),
                    "connects": run.connects,
                    "best_order": run.best_order,
                    "note": run.note,
                    "jobs": [{**asdict(job), "completion_s": job.completion_s} for job in run.jobs],
                }
                for run in self.runs
            ],
        }
        return json.dumps(told, indent=1, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json() + "\n").encode())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """GPUs over time, a panel for each way and a rectangle for each job; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("JobPlacements.plot", self, path)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one row for each way and job; GPUs as their number."""
        rows = [(run, job) for run in self.runs for job in run.jobs]
        names = [name for name in PlacedJob.__dataclass_fields__ if name not in {"gpus", "shared_with"}]
        columns: dict[str, list[Any]] = {"sharing": [run.sharing for run, _ in rows]}
        columns |= {name: [getattr(job, name) for _, job in rows] for name in names}
        columns["completion_s"] = [job.completion_s for _, job in rows]
        columns["gpus"] = [len(job.gpus) for _, job in rows]
        columns["shared_with"] = [" ".join(job.shared_with) for _, job in rows]
        return columns

    def __repr__(self) -> str:
        best = self.best
        if best is None or best.mean_completion_s is None:
            return f"JobPlacements({self.gpus} GPUs: no way serves all jobs)"
        jobs, mean = counted(len(best.jobs), "job"), show_time(best.mean_completion_s)
        return f"JobPlacements({jobs} on {self.gpus} GPUs, {best.title}: {mean} on average)"

"""The tables that the verb `jobs` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_time
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom.jobs.result import JobPlacements, PlacedJob, SharedRun

NUMBERS = ("mean completion", "gain", "slowdown", "makespan", "connects")
JOB_NUMBERS = ("ranks", "iterations", "iteration", "arrival", "start", "end", "completion", "slowdown", "connects")


def jobs_table(placed: JobPlacements) -> str:
    """A row for each way to share the fabric, the best one marked, and for each way a row for every job."""
    return render(*jobs_parts(placed))


def jobs_parts(placed: JobPlacements) -> list[RenderableType]:
    """The parts of `jobs_table`."""
    count = max((len(run.jobs) for run in placed.runs), default=0)
    torus = "x".join(map(str, placed.dims))
    parts: list[RenderableType] = [
        heading(
            f"{counted(count, 'job')} on {placed.gpus} GPUs with {counted(placed.ports, 'port')} each, order: "
            f"{placed.order}"
        ),
        Text(f"reconfiguration delay {placed.reconfiguration_delay}, wired torus {torus}"),
        _ways(placed),
    ]
    for run in placed.runs:
        if run.jobs:
            order = ", no order of starts has a smaller mean completion time" if run.best_order else ""
            parts += [Text(""), heading(f"{run.title}{order}"), _jobs(run)]
    parts.append(Text("completion: from arrival to end; slowdown: over that on free GPUs with changing circuits"))
    parts.append(Text("gain: mean completion on the wired torus over that; connects: connections that switches set up"))
    return parts


def _ways(placed: JobPlacements) -> RenderableType:
    made = table("", "way to share", *NUMBERS, "remark", right=NUMBERS)
    for run in placed.runs:
        gain = placed.gain(run)
        made.add_row(
            "*" if run is placed.best else "",
            run.title,
            _time(run.mean_completion_s),
            "-" if gain is None else factor(gain),
            "-" if run.mean_slowdown is None else _times(run.mean_slowdown),
            _time(run.makespan_s),
            str(run.connects) if run.jobs else "-",
            run.note,
        )
    return made


def _jobs(run: SharedRun) -> RenderableType:
    sharing = ["shared with"] if any(job.shared_with for job in run.jobs) else []
    made = table("job", *JOB_NUMBERS, "GPUs", *sharing, right=JOB_NUMBERS)
    for job in run.jobs:
        made.add_row(
            job.name,
            str(job.ranks),
            str(job.iterations),
            show_time(job.iteration_s),
            show_time(job.arrival_s),
            show_time(job.start_s),
            show_time(job.end_s),
            show_time(job.completion_s),
            _times(job.slowdown),
            str(job.connects),
            ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in gpu_ranges(job)),
            *([", ".join(job.shared_with)] if sharing else []),
        )
    return made


def _time(value: float | None) -> str:
    return "-" if value is None else show_time(value)


def _times(slowdown: float) -> str:
    return f"{slowdown:#.3g}×"


def gpu_ranges(job: PlacedJob) -> list[tuple[int, int]]:
    """The first and the last number of every range of a job's GPUs."""
    found: list[tuple[int, int]] = []
    for gpu in job.gpus:
        if found and gpu == found[-1][1] + 1:
            found[-1] = found[-1][0], gpu
        else:
            found.append((gpu, gpu))
    return found

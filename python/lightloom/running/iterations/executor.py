"""Training iterations on real processes and data: computation is waiting, communication moves bytes over circuits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom import _core
from lightloom.base.whole_numbers import whole_number
from lightloom.running.data import DrawnInputs, expected, wrong
from lightloom.running.iterations.measurement import ActTimes, IterationMeasurement, IterationSettings
from lightloom.running.iterations.preparation import PreparedIteration, prepared_iteration
from lightloom.running.judged import Jitter
from lightloom.running.run_options import run_options
from lightloom.running.single_run import run_alone
from lightloom.running.workspaces import Workspaces
from lightloom.training.result import Training

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.iterations.acts import Course
    from lightloom.running.iterations.program import Exchange
    from lightloom.running.run_options import RunOptions

__all__ = ["run_iteration"]

MOST_ITERATIONS = 1000
MOST_SCALE = (1 << 32) - 1
# Copies of every workspace: itself, and what it holds at first.
COPIES = 2


def run_iteration(
    training: Training | str | os.PathLike[str],
    *,
    iterations: int = 2,
    warm_ups: int = 1,
    scale: int | None = None,
    dtype: str = "float32",
    reduction: str = "sum",
    dilation: float | None = None,
    packet_size: str | float | None = None,
    real_time: bool = True,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> IterationMeasurement:
    """Run a training iteration on processes of this machine, several times on end, and compare it with its plan.

    A process for every rank waits where the rank computes, and carries out the plans of collectives and messages with
    real bytes, over circuits that a switch process changes meanwhile; several of a rank may be under way at once. What
    every collective and message gives is compared with NumPy's result. Linux only.

    training: a Training, or an iteration's JSON file, which must pass the verifier. iterations: that are measured, one
    after the other, after `warm_ups` others; circuits and ports of one are those that the one before left. scale: bytes
    of the plan for which a byte that is really sent stands, with rates that are as much lower; chosen so that all data
    fit into 256 MiB if left out. dilation: factor by which times are longer and rates lower; chosen from the machine
    and the iteration if left out. dtype, reduction, packet_size, real_time, seed, progress: as of `lightloom.run`.

    Raises `InputError` that names the argument, and `RunFailedError` where a process fails, does not answer in time, or
    the system refuses a run's resources: all processes are ended then.
    """
    asked = whole_number("iterations", iterations, 1, MOST_ITERATIONS)
    before = whole_number("warm_ups", warm_ups, 0, MOST_ITERATIONS)
    seed = whole_number("seed", seed, 0)
    options = run_options(
        dtype=dtype, reduction=reduction, dilation=dilation, packet_size=packet_size, real_time=real_time
    )
    of = training if isinstance(training, Training) else Training.load(training)
    given = None if scale is None else whole_number("scale", scale, 1, MOST_SCALE)
    ready = prepared_iteration(of, options, iterations=before + asked, scale=given)
    report, mistakes = _results(ready, options, seed, progress)
    _, moments, lateness, granted = _core.run_report(report)
    settings = IterationSettings(
        transport=options.transport,
        dilation=ready.pace.dilation,
        scale=ready.scale,
        dtype=options.kind.name,
        reduction=reduction,
        iterations=asked,
        warm_ups=before,
        packet_bytes=ready.pace.packet_bytes,
        real_time=granted[0],
        locked=granted[1],
        packet_rate=ready.pace.packet_rate,
        most_packet_rate=ready.pace.most_packet_rate,
    )
    return IterationMeasurement(
        ready.course,
        settings,
        _times(ready, moments),
        Jitter.reported(lateness),
        mistakes,
        _planned_bytes(ready),
    )


def _results(
    ready: PreparedIteration, options: RunOptions, seed: int, progress: Callable[[int], None] | None
) -> tuple[bytes, NDArray[np.int64]]:
    """The controller's report, and by event how many elements are wrong, over all iterations."""
    kind, reduction = options.kind, options.reduction
    mistakes = np.zeros(len(ready.course.training.events), dtype=np.int64)
    with Workspaces(ready.program.workspace_bytes, kind, COPIES) as workspaces:
        workspaces.clear()
        for exchange in ready.program.exchanges:
            inputs = _inputs(exchange, kind, reduction, seed)
            workspaces.load(exchange.program, list(inputs), _places(exchange))
        report = run_alone(
            ready.request.encoded(workspaces.offsets),
            workspaces,
            ranks=ready.course.training.ranks,
            pace=ready.pace,
            named=lambda act: _named(ready.course, act),
            progress=progress,
        )
        for exchange in ready.program.exchanges:
            inputs = _inputs(exchange, kind, reduction, seed)
            found = workspaces.store(exchange.program, _places(exchange))
            right = expected(exchange.program, list(inputs), kind, reduction)
            mistakes[exchange.event] += wrong(found, right, kind)
    return report, mistakes


def _inputs(exchange: Exchange, kind: DataType, reduction: str, seed: int) -> DrawnInputs:
    return DrawnInputs(exchange.program, kind, reduction, (seed, exchange.iteration, exchange.event, exchange.group))


def _places(exchange: Exchange) -> list[tuple[int, int]]:
    return list(zip(exchange.ranks, exchange.offsets, strict=True))


def _planned_bytes(ready: PreparedIteration) -> NDArray[np.int64]:
    """By act, the bytes that are to cross circuits."""
    hops = np.diff(ready.program.gpu_offsets) - 1
    crossed = np.bincount(
        ready.program.step, weights=ready.program.message_bytes * hops, minlength=len(ready.course.acts)
    )
    return np.rint(crossed).astype(np.int64)


def _times(ready: PreparedIteration, moments: Sequence[NDArray[np.uint64]]) -> ActTimes:
    training, count = ready.course.training, len(ready.course.acts)
    steps = moments[0].reshape(count, 5)
    ranks = moments[1].reshape(count, training.ranks, 6)
    used = moments[2].reshape(count, training.ranks * training.fabric.ports, 3)
    changes = moments[3].reshape(-1, 2)
    seconds = ready.pace.seconds
    return ActTimes(
        begun_s=seconds(steps[:, 0]),
        start_s=seconds(steps[:, 3]),
        end_s=seconds(steps[:, 4]),
        arrived_s=seconds(ranks[..., 4]),
        circuit_bytes=used[..., 0].astype(np.int64),
        asked_s=seconds(changes[:, 0]),
        acknowledged_s=seconds(changes[:, 1]),
    )


def _named(course: Course, index: int) -> str:
    """Words for an act: its event, its step where there are several, and its iteration."""
    act = course.acts[index]
    steps = len(course.steps_of(act.event))
    within = f", step {act.step + 1} of {steps}" if steps > 1 else ""
    return f"in `{course.training.events[act.event].node}`{within}, iteration {act.iteration + 1}"

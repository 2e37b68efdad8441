"""Training iterations on real processes and data: computation is waiting, communication moves bytes over circuits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse, shown
from lightloom.base.threads import cores
from lightloom.base.whole_numbers import whole_number
from lightloom.running.controller import Controller, RunFailedError
from lightloom.running.data import DrawnInputs, data_type, expected, reduction_name, wrong
from lightloom.running.iterations.measurement import ActTimes, IterationMeasurement, IterationSettings
from lightloom.running.iterations.preparation import PreparedIteration, prepared_iteration
from lightloom.running.measurement import Jitter, Lateness
from lightloom.running.pace import checked_dilation, checked_packet, slower
from lightloom.running.preparation import NANOSECONDS, RunOptions
from lightloom.running.workspaces import Workspaces
from lightloom.training.result import Training

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.iterations.program import Exchange

__all__ = ["run_iteration"]

MOST_ITERATIONS = 1000
MOST_SCALE = (1 << 32) - 1
# Copies of every workspace: itself, and what it holds at first.
COPIES = 2
STEP = re.compile(r"at step (\d+)")
# Error messages about processes that did not keep up.
LATE = re.compile(r" did not (?:arrive|get more than .*) within ")


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
    if not isinstance(real_time, bool):
        raise refuse("real_time", f"`{shown(real_time)}` is not accepted; it takes True or False")
    asked = whole_number("iterations", iterations, 1, MOST_ITERATIONS)
    before = whole_number("warm_ups", warm_ups, 0, MOST_ITERATIONS)
    seed = whole_number("seed", seed, 0)
    kind = data_type(dtype)
    options = RunOptions(
        kind=kind,
        reduction=reduction_name(reduction),
        runs=1,
        warm_ups=0,
        dilation=None if dilation is None else checked_dilation(dilation),
        packet_bytes=None if packet_size is None else checked_packet(packet_size),
        transport="shared-memory",
        real_time=real_time,
        has_outside_switch=False,
    )
    of = training if isinstance(training, Training) else Training.load(training)
    given = None if scale is None else whole_number("scale", scale, 1, MOST_SCALE)
    ready = prepared_iteration(of, options, iterations=before + asked, scale=given)
    report, mistakes = _carried_out(ready, options, seed, progress or _nothing)
    _, moments, lateness, granted = _core.run_report(report)
    settings = IterationSettings(
        transport=options.transport,
        dilation=ready.pace.dilation,
        scale=ready.scale,
        dtype=kind.name,
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
        Jitter(*(Lateness(one[0], *(ns / NANOSECONDS for ns in one[1:])) for one in lateness)),
        mistakes,
        _planned_bytes(ready),
    )


def _carried_out(
    ready: PreparedIteration, options: RunOptions, seed: int, progress: Callable[[int], None]
) -> tuple[bytes, NDArray[np.int64]]:
    """The controller's report, and by event how many elements are wrong, over all iterations."""
    kind, reduction = options.kind, options.reduction
    mistakes = np.zeros(len(ready.course.training.events), dtype=np.int64)
    with Workspaces(ready.program.workspace_bytes, kind, COPIES) as workspaces:
        workspaces.clear()
        for exchange in ready.program.exchanges:
            inputs = _inputs(exchange, kind, reduction, seed)
            workspaces.load(exchange.program, list(inputs), _places(exchange))
        controller = Controller()
        try:
            report = controller.run(
                ready.request(workspaces.offsets), workspaces.descriptor, progress=progress, outside=_refused
            )
        except RunFailedError as error:
            raise RunFailedError(_told(ready, str(error))) from error
        finally:
            controller.close()
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

    def seconds(ns: NDArray[np.uint64]) -> NDArray[np.float64]:
        return ns / (ready.pace.dilation * NANOSECONDS)

    return ActTimes(
        begun_s=seconds(steps[:, 0]),
        start_s=seconds(steps[:, 3]),
        end_s=seconds(steps[:, 4]),
        arrived_s=seconds(ranks[..., 4]),
        circuit_bytes=used[..., 0].astype(np.int64),
        asked_s=seconds(changes[:, 0]),
        acknowledged_s=seconds(changes[:, 1]),
    )


def _told(ready: PreparedIteration, said: str) -> str:
    """A fault with the event in place of the number of its step, and advice where ranks did not keep up."""
    course = ready.course

    def named(found: re.Match[str]) -> str:
        act = course.acts[int(found[1]) - 1]
        steps = len(course.steps_of(act.event))
        within = f", step {act.step + 1} of {steps}" if steps > 1 else ""
        return f"in `{course.training.events[act.event].node}`{within}, iteration {act.iteration + 1}"

    text = STEP.sub(named, said)
    if not LATE.search(said):
        return text
    shared = f"{_core.counted(course.training.ranks, 'rank')} share {_core.counted(cores(), 'core')}"
    return (
        f"{text}; {shared}, which may be busy with other work: --dilation {slower(ready.pace.dilation):g} gives them "
        "more time"
    )


def _nothing(_runs: int) -> None:
    """The progress callback of a run if none is given."""


def _refused(_configuration: int) -> str:
    return "no outside switch was named"

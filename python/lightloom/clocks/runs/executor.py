"""Timelines on real processes and data: every switch turns by itself, and nothing waits for all ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.whole_numbers import whole_number
from lightloom.clocks.runs.measurement import TimelineMeasurement, TimelineTimes
from lightloom.clocks.runs.preparation import prepared_timeline
from lightloom.clocks.timeline import Timeline
from lightloom.running.data import DrawnInputs, checked_inputs, expected, wrong
from lightloom.running.judged import Jitter
from lightloom.running.run_options import run_options
from lightloom.running.run_settings import RunSettings
from lightloom.running.single_run import run_alone
from lightloom.running.workspaces import Workspaces

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.clocks.runs.preparation import PreparedTimeline

__all__ = ["run_timeline"]


def run_timeline(
    timeline: Timeline | str | os.PathLike[str],
    data: Sequence[NDArray[Any]] | None = None,
    *,
    dtype: str = "float32",
    reduction: str = "sum",
    runs: int = 5,
    warm_ups: int = 1,
    dilation: float | None = None,
    packet_size: str | float | None = None,
    real_time: bool = True,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> TimelineMeasurement:
    """Run a timeline on processes of this machine, and compare measured and planned times; Linux only.

    A process for every rank sends real bytes, through shared memory, over circuits that a switch process holds back by
    rate and hop delay and turns, the circuits of each switch by themselves. A transmission begins once its data and its
    circuits are there, and no earlier than planned; a switch turns once all that goes over its circuits is through.

    timeline: a Timeline, or its JSON file, which must pass the verifier. dilation: chosen from the machine and the
    timeline if left out. data and other arguments: as of `lightloom.run`.

    Raises `InputError` that names the argument, `plan` where the timeline is not run, and `RunFailedError` where a
    process fails, does not answer in time, or the system refuses a run's resources: all processes are ended then.
    """
    seed = whole_number("seed", seed, 0)
    options = run_options(
        dtype=dtype,
        reduction=reduction,
        runs=runs,
        warm_ups=warm_ups,
        dilation=dilation,
        packet_size=packet_size,
        real_time=real_time,
    )
    kind = options.kind
    ready = prepared_timeline(timeline if isinstance(timeline, Timeline) else Timeline.load(timeline), options)
    program = ready.program
    given = None if data is None else checked_inputs(program, data, kind)
    with Workspaces(program.workspace_bytes, kind) as workspaces:
        inputs = list(DrawnInputs(program, kind, reduction, seed)) if given is None else given
        workspaces.clear()
        workspaces.load(program, inputs)
        report = run_alone(
            ready.encoded(workspaces.offsets),
            workspaces,
            ranks=ready.timeline.plan.gpus,
            pace=ready.pace,
            named=lambda index: f"in transmission {index + 1}",
            progress=progress,
        )
        arrays = workspaces.store(program)
    _, moments, lateness, granted = _core.run_report(report)
    return TimelineMeasurement(
        ready.timeline,
        RunSettings.chosen(options, ready.pace, granted),
        _times(ready, options.runs, moments),
        Jitter.reported(lateness),
        tuple(arrays),
        wrong(arrays, expected(program, inputs, kind, reduction), kind),
    )


def _times(ready: PreparedTimeline, runs: int, moments: Sequence[NDArray[np.uint64]]) -> TimelineTimes:
    plan, sent = ready.timeline.plan, ready.timeline.transmissions
    count = len(sent)
    steps = moments[0].reshape(runs, count, 5)
    ranks = moments[1].reshape(runs, count, plan.gpus, 6)
    used = moments[2].reshape(runs, count, plan.gpus * plan.ports, 3)
    changes = moments[3].reshape(runs, len(ready.made_by), 2)
    seconds = ready.pace.seconds
    sources = np.array([one.path[0][1] for one in sent])
    hops = [
        (index, hop, k, i, u * plan.ports + k)
        for index, path in enumerate(ready.used)
        for hop, (k, i, u, _) in enumerate(path)
    ]
    transmission, hop, switch, configuration, port = np.array(hops, dtype=np.int64).reshape(-1, 5).T
    sizes = np.zeros(count, dtype=np.int64)
    sizes[ready.program.step] = ready.program.message_bytes
    return TimelineTimes(
        start_s=seconds(ranks[:, np.arange(count), sources, 1]),
        end_s=seconds(steps[..., 4]),
        size_bytes=sizes,
        transmission=transmission,
        hop=hop,
        switch=switch,
        configuration=configuration,
        circuit_bytes=used[:, transmission, port, 0].astype(np.int64),
        first_s=seconds(used[:, transmission, port, 1]),
        last_s=seconds(used[:, transmission, port, 2]),
        changes={
            key: (seconds(changes[:, change, 0]), seconds(changes[:, change, 1]))
            for key, change in ready.made_by.items()
        },
    )

"""The times of runs, as the controller process reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.running.measurement import RunTimes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.running.preparation import Prepared

__all__ = ["reported_times"]


def reported_times(
    ready: Prepared, total_ns: NDArray[np.uint64], moments: Sequence[NDArray[np.uint64]], answered_s: Sequence[float]
) -> RunTimes:
    """The times of runs, of `_core.run_report`.

    answered_s: seconds of the outside switch if there is one, by run, before the first step and by change.
    """
    plan, runs, count = ready.plan, len(total_ns), len(ready.plan.steps)
    steps, ranks, used = (
        table.reshape(runs, count, width, fields)
        for table, width, fields in zip(moments[:3], (1, plan.gpus, plan.gpus * plan.ports), (5, 6, 3), strict=True)
    )

    switch_s = np.zeros((runs, count))
    if answered_s:
        switch_s[:, ready.changed] = np.reshape(answered_s, (runs, -1))[:, 1:] / ready.pace.dilation

    seconds = ready.pace.seconds
    return RunTimes(
        total_s=seconds(total_ns),
        begun_s=seconds(steps[:, :, 0, 0]),
        asked_s=seconds(steps[:, :, 0, 1]),
        acknowledged_s=seconds(steps[:, :, 0, 2]),
        start_s=seconds(steps[:, :, 0, 3]),
        end_s=seconds(steps[:, :, 0, 4]),
        released_s=seconds(ranks[..., 0]),
        started_s=seconds(ranks[..., 1]),
        sent_s=seconds(ranks[..., 2]),
        received_s=seconds(ranks[..., 3]),
        arrived_s=seconds(ranks[..., 4]),
        forwarded_bytes=ranks[..., 5].astype(np.int64),
        circuit_bytes=used[..., 0].astype(np.int64),
        circuit_first_s=seconds(used[..., 1]),
        circuit_last_s=seconds(used[..., 2]),
        switch_s=switch_s,
    )

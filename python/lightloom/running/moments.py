"""Moments of ranks whose processes each have a clock to go by, and what they make of the times of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.running.measurement import RunTimes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.plans import Plan
    from lightloom.running.program import Program

    Times = NDArray[np.float64]

__all__ = ["Moments", "times_of", "windows_of"]


class Moments(NamedTuple):
    """The times of one rank's work in a run, by step, in seconds since all could begin.

    begun: when all had ended the step before; asked and acknowledged: of a change of circuits, by rank 0, both begun
    elsewhere; released: when all were released; sent, received: when all that it sends and passes on had left, and all
    had come; arrived: when that was copied and reduced. switch: no moment, but the seconds from the order to the
    switch until it said that it had done it, at rank 0.
    """

    begun_s: Times
    asked_s: Times
    acknowledged_s: Times
    released_s: Times
    sent_s: Times
    received_s: Times
    arrived_s: Times
    switch_s: Times


def times_of(program: Program, ports: int, moments: Moments, windows_s: float, used: Times | None = None) -> RunTimes:
    """The moments of all ranks, by run, step and rank, as the times of runs.

    windows_s: computation before all steps. used: by run, step and port of all ranks, bytes that its circuit took, from
    when on and until when; nothing where circuits are not known.
    """
    runs, steps, ranks = moments.arrived_s.shape
    end_s = moments.arrived_s.max(axis=2)
    begun_s = np.concatenate((np.zeros((runs, 1)), end_s[:, :-1]), axis=1)
    asked_s = np.maximum(moments.asked_s[:, :, 0], begun_s)
    if used is None:
        used = np.zeros((runs, steps, ranks * ports, 3))
    sizes, offsets = program.message_bytes, program.gpu_offsets
    forwarded = np.zeros((steps, ranks), dtype=np.int64)
    for message, size in enumerate(sizes.tolist()):
        between = program.gpus[offsets[message] + 1 : offsets[message + 1] - 1]
        forwarded[program.step[message], between] += size
    return RunTimes(
        total_s=end_s[:, -1] - windows_s,
        begun_s=begun_s,
        asked_s=asked_s,
        acknowledged_s=np.maximum(moments.acknowledged_s[:, :, 0], asked_s),
        switch_s=moments.switch_s[:, :, 0],
        start_s=moments.released_s.min(axis=2),
        end_s=end_s,
        released_s=moments.released_s,
        started_s=moments.released_s,
        sent_s=moments.sent_s,
        received_s=moments.received_s,
        arrived_s=moments.arrived_s,
        forwarded_bytes=np.broadcast_to(forwarded, (runs, steps, ranks)),
        circuit_bytes=used[..., 0].astype(np.int64),
        circuit_first_s=used[..., 1],
        circuit_last_s=used[..., 2],
    )


def windows_of(plan: Plan) -> tuple[float, ...]:
    """Computation before each step, seconds."""
    common, single = plan.core.fabric.windows_s
    return tuple(single.get(step, common) for step in range(len(plan.steps)))

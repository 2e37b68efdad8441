"""The dilation of an iteration, and the number of bytes of the plan for each byte that is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.running.pace import (
    COPIED_BPS,
    LARGEST_DILATION,
    PACKETS_PER_CORE,
    SHORTEST_STEP_S,
    Pace,
    crowding,
    packet_bytes_for,
    rounded_up,
    usable_cores,
)

if TYPE_CHECKING:
    from lightloom.running.iterations.acts import Course
    from lightloom.running.iterations.program import IterationProgram
    from lightloom.training.result import Training

__all__ = ["iteration_pace", "scale_for"]

# Bytes of all workspaces together, where the scale is chosen.
WORKSPACES_BYTES = 1 << 28
# Elements that every rank of a group has of the smallest collective at least, where the scale is chosen.
LEAST_ELEMENTS = 16


def scale_for(training: Training, iterations: int, element_bytes: int) -> int:
    """A power of two: the least with which this many iterations fit into 256 MiB of workspaces.

    It is no larger than leaves the smallest collective 16 elements a rank of its group.
    """
    held, most = 0, float("inf")
    for event, size_bytes, ranks in zip(training.events, training.sizes_bytes, training.group_sizes, strict=True):
        if size_bytes is not None and ranks is not None:
            held += size_bytes * len(event.ranks) * iterations
            most = min(most, size_bytes / (element_bytes * ranks * LEAST_ELEMENTS))
    scale = 1
    while held / scale > WORKSPACES_BYTES and scale * 2 <= most:
        scale *= 2
    return scale


def iteration_pace(
    course: Course,
    program: IterationProgram,
    scale: int,
    *,
    dilation: float | None = None,
    packet_bytes: int | None = None,
) -> Pace:
    """The pace of a run; missing values are chosen.

    The mean act, over the iteration, takes 20 ms then, longer where a core has more than 8 ranks; all ports that are
    used at once do not send more than the cores copy, and not more packets than they pass on.
    """
    training, transport = course.training, "shared-memory"
    hops = np.diff(program.gpu_offsets) - 1
    message_bytes = program.message_bytes
    acts = len(course.acts) / course.iterations
    most = PACKETS_PER_CORE[transport] * usable_cores() / crowding(training.ranks)
    passed_on = message_bytes[hops > 1]
    rate_bps = training.fabric.bandwidth_bps / 8 / scale
    chosen = dilation
    if chosen is None:
        wanted = SHORTEST_STEP_S * crowding(training.ranks) * acts / training.total_s
        copied_bps = _busiest(course, program, message_bytes * hops)
        chosen = rounded_up(max(wanted, copied_bps / (COPIED_BPS * usable_cores()), 1.0))
    while True:
        size = packet_bytes or packet_bytes_for(
            training.ranks,
            training.fabric.ports,
            rate_bps / chosen,
            int(passed_on.min()) if len(passed_on) else None,
            transport,
        )
        rate = _busiest(course, program, np.ceil(message_bytes / size) * hops) / chosen
        if dilation is not None or rate <= most or chosen == LARGEST_DILATION:
            return Pace(chosen, size, rate, most)
        chosen = rounded_up(chosen * rate / most)


def _busiest(course: Course, program: IterationProgram, amounts: np.ndarray) -> float:
    """The largest rate in a second of the first iteration, where each message has this rate while it lasts."""
    of_acts = np.bincount(program.step, weights=amounts, minlength=len(course.acts))
    changes: list[tuple[float, float]] = []
    for act, amount in zip(course.acts, of_acts.tolist(), strict=True):
        if act.iteration == 0 and amount > 0:
            rate = amount / max(act.last_s - act.first_s, 1e-12)
            changes += [(act.first_s, rate), (act.last_s, -rate)]
    changes.sort()
    return float(np.cumsum([rate for _, rate in changes]).max(initial=0.0))

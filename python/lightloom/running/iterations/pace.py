"""The dilation of an iteration, and the number of bytes of the plan for each byte that is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.running.pace import pace_of_spans

if TYPE_CHECKING:
    from lightloom.running.iterations.acts import Course
    from lightloom.running.iterations.program import IterationProgram
    from lightloom.running.pace import Pace
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
    training = course.training
    acts = len(course.acts) / course.iterations
    spans_s = [(act.first_s, act.last_s) if act.iteration == 0 else None for act in course.acts]
    return pace_of_spans(
        program,
        spans_s,
        ranks=training.ranks,
        ports=training.fabric.ports,
        rate_bps=training.fabric.bandwidth_bps / 8 / scale,
        mean_s=training.total_s / acts,
        dilation=dilation,
        packet_bytes=packet_bytes,
    )

"""The timeline of one run and that of its plan: what steps and ranks were doing from when until when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from lightloom.running.measurement import Measurement

__all__ = ["PARTS", "Part", "measured_steps", "planned_steps", "ranks_in_step", "shown_run"]

# Parts of a step's time, in this order. The plan splits the time that is measured as transfer.
PARTS = ("computation", "dark", "startup", "propagation", "transmission", "transfer", "copying", "waiting")


class Part(NamedTuple):
    """A stretch of time, in seconds of the plan since the run began; `name` is one of `PARTS`."""

    name: str
    first_s: float
    last_s: float


def shown_run(measurement: Measurement) -> int:
    """The run whose time is the middle one, or next to it; the first of those."""
    return int(np.argmin(np.abs(measurement.times.total_s - measurement.measured.median)))


def planned_steps(measurement: Measurement) -> list[list[Part]]:
    """By step, the parts of the plan's time, one after the other; no propagation if the transport has none."""
    steps, now_s, has_hops = [], 0.0, measurement.settings.has_hop_delay
    for step, window_s in zip(measurement.plan.steps, measurement.windows_s, strict=True):
        hops_s = step.propagation_s if has_hops else 0.0
        lengths = (window_s, step.reconfiguration_s, step.barrier_s + step.startup_s, hops_s, step.transmission_s)
        ends = (now_s + np.cumsum((0.0, *lengths))).tolist()
        steps.append(_parts(PARTS[:5], ends))
        now_s = ends[-1]
    return steps


def measured_steps(measurement: Measurement, run: int) -> list[list[Part]]:
    """By step, computation and dark time before it, startup until half of the ranks sent, transfer, and copying.

    Where circuits change during the computation, the dark time is within it.
    """
    times = measurement.times
    moved_s = np.maximum(times.sent_s[run], times.received_s[run])
    steps = []
    for step, window_s in enumerate(measurement.windows_s):
        begun_s, start_s = float(times.begun_s[run, step]), float(times.start_s[run, step])
        dark = (float(times.asked_s[run, step]), float(times.acknowledged_s[run, step]))
        parts = [Part("computation", begun_s, begun_s + window_s)] if window_s else []
        parts += [Part("dark", *dark)] if dark[1] > dark[0] else []
        ends = [start_s, float(np.median(times.started_s[run, step])), float(moved_s[step].max())]
        steps.append([*parts, *_parts(("startup", "transfer", "copying"), [*ends, float(times.end_s[run, step])])])
    return steps


def ranks_in_step(measurement: Measurement, run: int, step: int) -> list[list[Part]]:
    """By rank, its startup, its transfer until all had left and come, its copying, and its waiting for the last."""
    times = measurement.times
    start_s, end_s = float(times.start_s[run, step]), float(times.end_s[run, step])
    moved_s = np.maximum(times.sent_s[run, step], times.received_s[run, step])
    columns = (times.started_s[run, step], moved_s, times.arrived_s[run, step])
    return [
        _parts(("startup", "transfer", "copying", "waiting"), [start_s, *moments, end_s])
        for moments in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _parts(names: tuple[str, ...], ends: list[float]) -> list[Part]:
    """Parts between moments, but those that take no time."""
    spans = zip(names, ends[:-1], ends[1:], strict=True)
    return [Part(name, first_s, last_s) for name, first_s, last_s in spans if last_s > first_s]

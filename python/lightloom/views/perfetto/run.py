"""A run as a trace: the plan's steps over those that were measured, the activity of ranks, the traffic of circuits."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from lightloom._core import show_size, show_time
from lightloom.running.timeline import measured_steps, planned_steps, ranks_in_step, shown_run
from lightloom.views.perfetto.events import Tracks, Within, process_names, write_events

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from lightloom.running.measurement import Measurement
    from lightloom.running.timeline import Part

# Processes of the trace, in the order in which they are shown.
PLANNED, MEASURED, RANKS, CIRCUITS = 1, 2, 3, 4


def write_run_trace(measurement: Measurement, path: str | os.PathLike[str]) -> None:
    """Write the trace of the run in the middle, whole or not at all; compressed for `.json.gz`.

    Raises `InputError` that names `trace` when the file cannot be written.
    """
    run = shown_run(measurement)
    told = {
        "plan": repr(measurement.plan),
        "run": run + 1,
        "measured_s": float(measurement.times.total_s[run]),
        "predicted_s": measurement.predicted_s,
        "dilation": measurement.settings.dilation,
        "verdict": measurement.verdict,
        "times": "of the plan, that is measured ones divided by the dilation; rounded to whole nanoseconds",
    }
    has_circuits = bool(measurement.times.circuit_bytes.any())
    names = {PLANNED: "planned", MEASURED: f"measured, run {run + 1}", RANKS: "ranks"}
    names |= {CIRCUITS: "circuits"} if has_circuits else {}
    write_events(path, told, chain(process_names(names), _events(measurement, run)))


def _events(measurement: Measurement, run: int) -> Iterator[dict[str, Any]]:
    tracks = Tracks()
    planned, measured = planned_steps(measurement), measured_steps(measurement, run)
    for step in measurement.steps:
        words = {"measured": show_time(step.measured_s), "the plan says": show_time(step.predicted_s)}
        named = f"step {step.index + 1}: {step.topology_name}"
        for process, steps in ((PLANNED, planned), (MEASURED, measured)):
            yield from _of_step(tracks, process, named, steps[step.index], words)
        for rank, parts in enumerate(ranks_in_step(measurement, run, step.index)):
            told = {"forwarded_bytes": int(measurement.times.forwarded_bytes[run, step.index, rank])}
            span_s = (parts[0].first_s, parts[-1].last_s)
            inner: list[Within] = [(part.name, part[1:], {}) for part in parts]
            yield from tracks.put(RANKS, f"rank {rank}", f"step {step.index + 1}", span_s, told, inner)
        yield from _of_circuits(tracks, measurement, run, step.index)


def _of_step(
    tracks: Tracks, process: int, named: str, parts: list[Part], told: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The step and its parts, which may overlap where circuits change during computation."""
    if not parts:
        return
    yield from tracks.put(process, "steps", named, (parts[0].first_s, max(part.last_s for part in parts)), told)
    for part in parts:
        track = part.name if part.name in {"computation", "dark"} else "parts"
        yield from tracks.put(process, track, part.name, part[1:], {})


def _of_circuits(tracks: Tracks, measurement: Measurement, run: int, step: int) -> Iterator[dict[str, Any]]:
    times, ports = measurement.times, measurement.plan.ports
    columns = (times.circuit_bytes, times.circuit_first_s, times.circuit_last_s)
    used = zip(*(column[run, step].tolist() for column in columns), strict=True)
    for transmitter, (size, first_s, last_s) in enumerate(used):
        if size:
            track = f"rank {transmitter // ports}" + (f", port {transmitter % ports + 1}" if ports > 1 else "")
            span_s = (first_s, max(first_s, last_s))
            yield from tracks.put(CIRCUITS, track, f"step {step + 1}: {show_size(size)}", span_s, {"bytes": size})

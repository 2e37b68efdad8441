"""A simulation as a trace: its steps, when every GPU sends and receives, what crosses every circuit."""

from __future__ import annotations

from itertools import chain
from math import isnan
from typing import TYPE_CHECKING, Any

from lightloom._core import show_size, show_time
from lightloom.views.perfetto.events import Tracks, Within, process_names, write_events

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from lightloom._core import SimulatedStep
    from lightloom.simulation import Simulation

# Above this many intervals, one GPU and one circuit of each orbit stand for all; if those are as many, only steps are
# shown.
MAX_INTERVALS = 200_000
# Processes of the trace, in the order in which they are shown.
STEPS, GPUS, CIRCUITS = 1, 2, 3
# The part of a simulation that is shown.
ALL = "every GPU and circuit"
SOME = "one GPU and one circuit for all that are like it in the step"
NONE = "only steps: the plan has too many GPUs and circuits"


def write_trace(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Write the trace of a simulation, event by event, whole or not at all; compressed for `.json.gz`.

    Raises `InputError` that names `trace` when the file cannot be written.
    """
    detail = _detail(simulation)
    told = {
        "plan": repr(simulation.plan),
        "total_s": simulation.total_s,
        "predicted_total_s": simulation.predicted_total_s,
        "shown": detail,
        "times": "rounded to whole nanoseconds; the arguments of the steps have them in full",
    }
    write_events(path, told, chain(_names(detail), _events(simulation, detail)))


def _detail(simulation: Simulation) -> str:
    """The amount that is written: as much as the limit allows."""
    kept = [(len(step.circuits(expanded=False)) + len(step.gpus(expanded=False)), step) for step in simulation.steps]
    if sum(number * step.symmetry_order for number, step in kept) <= MAX_INTERVALS:
        return ALL
    return SOME if sum(number for number, _ in kept) <= MAX_INTERVALS else NONE


def _names(detail: str) -> Iterator[dict[str, Any]]:
    processes = {STEPS: "steps"} if detail == NONE else {STEPS: "steps", GPUS: "GPUs", CIRCUITS: "circuits"}
    return process_names(
        {process: name if detail == ALL else f"{name} ({detail})" for process, name in processes.items()}
    )


def _events(simulation: Simulation, detail: str) -> Iterator[dict[str, Any]]:
    tracks = Tracks()
    for step in simulation.steps:
        yield from _of_step(step, tracks)
        if detail != NONE:
            yield from _of_gpus(step, tracks, expanded=detail == ALL)
            yield from _of_circuits(step, tracks, expanded=detail == ALL)


def dark_span_s(step: SimulatedStep) -> tuple[float, float]:
    """Dark time before a step in which all the fabric is dark: once all GPUs are ready. With `ports`, the earliest."""
    start_s = float(step.gpus(expanded=False).ready_s.max())
    return start_s, start_s + step.reconfiguration_s


def _of_step(step: SimulatedStep, tracks: Tracks) -> Iterator[dict[str, Any]]:
    told = {
        "start_s": step.start_s,
        "end_s": step.end_s,
        "simulated": show_time(step.duration_s),
        "the plan says": show_time(step.predicted_s),
    }
    named = f"step {step.index + 1}: {step.topology_name}"
    yield from tracks.put(STEPS, "steps", named, (step.start_s, step.end_s), told)
    if step.reconfiguration_s:
        changed = {"before": f"step {step.index + 1}", "reconfiguration_s": step.reconfiguration_s}
        yield from tracks.put(STEPS, "reconfigurations", f"to {step.topology_name}", dark_span_s(step), changed)


def _of_gpus(step: SimulatedStep, tracks: Tracks, *, expanded: bool) -> Iterator[dict[str, Any]]:
    times = step.gpus(expanded)
    columns = (times.gpu, times.ready_s, times.first_send_s, times.last_sent_s, times.last_received_s)
    for gpu, ready_s, first_s, sent_s, received_s in zip(*(column.tolist() for column in columns), strict=True):
        ends = [time for time in (sent_s, received_s) if not isnan(time)]
        if ends:
            told = {} if isnan(received_s) else {"last_received_s": received_s}
            inner: list[Within] = [] if isnan(first_s) else [("send", (first_s, sent_s), {})]
            named = f"step {step.index + 1}"
            # Under dataflow all of it may be there before the GPU is ready for the step.
            yield from tracks.put(GPUS, f"GPU {gpu}", named, (ready_s, max(ready_s, *ends)), told, inner)


def _of_circuits(step: SimulatedStep, tracks: Tracks, *, expanded: bool) -> Iterator[dict[str, Any]]:
    uses = step.circuits(expanded)
    ends = (uses.src, uses.dst, uses.circuit)
    amounts = (uses.bytes, uses.packets, uses.queue_bytes)
    times = (uses.first_s, uses.last_s, uses.busy_s)
    columns = [column.tolist() for column in (*ends, *amounts, *times)]
    for src, dst, number, size, packets, queue_bytes, first_s, last_s, busy_s in zip(*columns, strict=True):
        if packets:
            told = {
                "bytes": size,
                "packets": packets,
                "utilisation": min(busy_s / (last_s - first_s), 1.0) if last_s > first_s else 1.0,
                "longest_queue_bytes": queue_bytes,
            }
            track = f"{src}→{dst}" + (f" ({number + 1})" if number else "")
            yield from tracks.put(CIRCUITS, track, f"step {step.index + 1}: {show_size(size)}", (first_s, last_s), told)

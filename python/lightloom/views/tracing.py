"""A simulation as a trace that Perfetto (https://ui.perfetto.dev) and Chrome show: Trace Event Format, JSON."""

from __future__ import annotations

import gzip
import json
from contextlib import contextmanager
from itertools import chain
from math import isnan
from typing import TYPE_CHECKING, Any

from lightloom._core import show_size, show_time
from lightloom.errors import refuse
from lightloom.files import check_writable, replaced, usable_path

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from typing import BinaryIO

    from lightloom._core import SimulatedStep
    from lightloom.simulation import Simulation

SUFFIXES = (".json", ".json.gz")
# Above so many intervals, one GPU and one circuit of each orbit stand for all; where those are as many, steps alone.
MAX_INTERVALS = 200_000
# Processes of the trace, in the order in which they are shown.
STEPS, GPUS, CIRCUITS = 1, 2, 3
# How much of a simulation is shown.
ALL = "every GPU and circuit"
SOME = "one GPU and one circuit for all that are like it in the step"
NONE = "steps alone: the plan has too many GPUs and circuits"


def check_trace_path(path: str | os.PathLike[str]) -> None:
    """Refuse a file that no trace can be written to. Raises `InputError` that names `trace`."""
    if not str(usable_path("trace", path)).lower().endswith(SUFFIXES):
        raise refuse("trace", f"`{path}` is not accepted; it takes a file that ends in {' or '.join(SUFFIXES)}")
    check_writable("trace", path)


def write_trace(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Write the trace of a simulation, event by event, whole or not at all; compressed for `.json.gz`.

    Raises `InputError` that names `trace` when the file cannot be written.
    """
    check_trace_path(path)
    detail = _detail(simulation)
    about = {
        "displayTimeUnit": "ns",
        "otherData": {
            "schema": "lightloom.trace/1",
            "plan": repr(simulation.plan),
            "total_s": simulation.total_s,
            "predicted_total_s": simulation.predicted_total_s,
            "shown": detail,
            "times": "rounded to whole nanoseconds; the arguments of the steps have them in full",
        },
    }
    with replaced("trace", path) as file, _packed(file, str(path).lower().endswith(".gz")) as stream:
        stream.write((json.dumps(about, ensure_ascii=False)[:-1] + ', "traceEvents": [').encode())
        for number, event in enumerate(chain(_names(detail), _events(simulation, detail))):
            text = json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            stream.write(f"{',' if number else ''}\n{text}".encode())
        stream.write(b"\n]}\n")


def _detail(simulation: Simulation) -> str:
    """How much is written: as much as stays within the limit."""
    kept = [(len(step.circuits(expanded=False)) + len(step.gpus(expanded=False)), step) for step in simulation.steps]
    if sum(number * step.symmetry_order for number, step in kept) <= MAX_INTERVALS:
        return ALL
    return SOME if sum(number for number, _ in kept) <= MAX_INTERVALS else NONE


@contextmanager
def _packed(file: BinaryIO, is_packed: bool) -> Iterator[BinaryIO | gzip.GzipFile]:
    """The stream itself, or one that compresses into it; the same bytes at any time of day."""
    if not is_packed:
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
        yield packed


def _names(detail: str) -> Iterator[dict[str, Any]]:
    processes = {STEPS: "steps"} if detail == NONE else {STEPS: "steps", GPUS: "GPUs", CIRCUITS: "circuits"}
    for process, name in processes.items():
        shown = name if detail == ALL else f"{name} ({detail})"
        yield _about("process_name", (process, 0), {"name": shown})
        yield _about("process_sort_index", (process, 0), {"sort_index": process})


def _events(simulation: Simulation, detail: str) -> Iterator[dict[str, Any]]:
    tracks = _Tracks()
    for step in simulation.steps:
        yield from _of_step(step, tracks)
        if detail != NONE:
            yield from _of_gpus(step, tracks, expanded=detail == ALL)
            yield from _of_circuits(step, tracks, expanded=detail == ALL)


def dark_span_s(step: SimulatedStep) -> tuple[float, float]:
    """When the fabric is dark before a step, if all of it is: once every GPU is ready. With `ports`, the earliest."""
    start_s = float(step.gpus(expanded=False).ready_s.max())
    return start_s, start_s + step.reconfiguration_s


def _of_step(step: SimulatedStep, tracks: _Tracks) -> Iterator[dict[str, Any]]:
    told = {
        "start_s": step.start_s,
        "end_s": step.end_s,
        "simulated": show_time(step.duration_s),
        "the plan says": show_time(step.predicted_s),
    }
    named = f"step {step.index + 1}: {step.topology_name}"
    yield from tracks.put(STEPS, "steps", named, (step.start_s, step.end_s), told)
    if step.reconfiguration_s:
        yield from tracks.put(STEPS, "reconfigurations", f"to {step.topology_name}", dark_span_s(step), {})


def _of_gpus(step: SimulatedStep, tracks: _Tracks, *, expanded: bool) -> Iterator[dict[str, Any]]:
    times = step.gpus(expanded)
    columns = (times.gpu, times.ready_s, times.first_send_s, times.last_sent_s, times.last_received_s)
    for gpu, ready_s, first_s, sent_s, received_s in zip(*(column.tolist() for column in columns), strict=True):
        ends = [time for time in (sent_s, received_s) if not isnan(time)]
        if ends:
            told = {} if isnan(received_s) else {"last_received_s": received_s}
            inner = None if isnan(first_s) else ("send", (first_s, sent_s))
            named = f"step {step.index + 1}"
            # Under dataflow all of it may be there before the GPU is ready for the step.
            yield from tracks.put(GPUS, f"GPU {gpu}", named, (ready_s, max(ready_s, *ends)), told, inner)


def _of_circuits(step: SimulatedStep, tracks: _Tracks, *, expanded: bool) -> Iterator[dict[str, Any]]:
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


class _Tracks:
    """Rows of the trace. Intervals of one row must not overlap; those that would get a row of the same name below."""

    def __init__(self) -> None:
        # Per process and name, the thread and the end, ns, of every row.
        self._rows: dict[tuple[int, str], list[tuple[int, int]]] = {}
        # Some readers tell threads apart by their number alone, whatever their process.
        self._threads = {process: process << 20 for process in (STEPS, GPUS, CIRCUITS)}

    def put(
        self,
        process: int,
        track: str,
        name: str,
        span_s: tuple[float, float],
        told: dict[str, Any],
        inner: tuple[str, tuple[float, float]] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """The events of an interval, of one within it, and of the row's name where it is new."""
        start, end = map(_nanoseconds, span_s)
        rows = self._rows.setdefault((process, track), [])
        place = next((index for index, (_, busy_until) in enumerate(rows) if busy_until <= start), len(rows))
        if place == len(rows):
            self._threads[process] += 1
            rows.append((self._threads[process], end))
            yield _about("thread_name", (process, self._threads[process]), {"name": track})
        thread = rows[place][0]
        rows[place] = (thread, end)
        yield _interval(process, thread, name, (start, end), told)
        if inner is not None:
            first, last = map(_nanoseconds, inner[1])
            yield _interval(process, thread, inner[0], (first, last), {})


def _nanoseconds(seconds: float) -> int:
    """Perfetto counts whole nanoseconds; rounded here, intervals that touch still touch."""
    return round(seconds * 1e9)


def _interval(process: int, thread: int, name: str, span: tuple[int, int], told: dict[str, Any]) -> dict[str, Any]:
    start, end = span
    times = {"ts": start / 1e3, "dur": (end - start) / 1e3}
    return {"ph": "X", "pid": process, "tid": thread, "name": name, **times, **({"args": told} if told else {})}


def _about(what: str, row: tuple[int, int], told: dict[str, Any]) -> dict[str, Any]:
    process, thread = row
    return {"ph": "M", "pid": process, "tid": thread, "name": what, "args": told}

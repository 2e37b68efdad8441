"""Files that Perfetto (https://ui.perfetto.dev) and Chrome show: Trace Event Format, JSON, event by event."""

from __future__ import annotations

import gzip
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lightloom._core import Interruption
from lightloom.base.errors import refuse
from lightloom.base.files import check_writable, replaced, usable_path

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO

__all__ = ["SCHEMA", "Tracks", "Within", "check_trace_path", "process_names", "write_events"]

SCHEMA = "lightloom.trace/1"
SUFFIXES = (".json", ".json.gz")
# An interval: its name, its beginning and end in seconds, and its details.
Within = tuple[str, tuple[float, float], dict[str, Any]]


def check_trace_path(path: str | os.PathLike[str]) -> None:
    """Refuse a file that no trace can be written to. Raises `InputError` that names `trace`."""
    if not str(usable_path("trace", path)).lower().endswith(SUFFIXES):
        raise refuse("trace", f"`{path}` is not accepted; it takes a file that ends in {' or '.join(SUFFIXES)}")
    check_writable("trace", path)


def write_events(path: str | os.PathLike[str], told: Mapping[str, Any], events: Iterable[dict[str, Any]]) -> None:
    """Write a trace, whole or not at all; compressed for `.json.gz`.

    told: of the trace as a whole. Raises `InputError` that names `trace` when the file cannot be written, and
    `StoppedError` in a thread that is told to end.
    """
    check_trace_path(path)
    about = {"displayTimeUnit": "ns", "otherData": {"schema": SCHEMA, **told}}
    # A thread that was told to end leaves the file as it was.
    interruption = Interruption()
    with replaced("trace", path) as file, _packed(file, str(path).lower().endswith(".gz")) as stream:
        stream.write((json.dumps(about, ensure_ascii=False)[:-1] + ', "traceEvents": [').encode())
        for number, event in enumerate(events):
            interruption.check()
            text = json.dumps(event, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            stream.write(f"{',' if number else ''}\n{text}".encode())
        stream.write(b"\n]}\n")
        interruption.check()


@contextmanager
def _packed(file: BinaryIO, is_packed: bool) -> Iterator[BinaryIO | gzip.GzipFile]:
    """The stream itself, or one that compresses into it; the same bytes at any time of day."""
    if not is_packed:
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as packed:
        yield packed


def process_names(names: Mapping[int, str]) -> Iterator[dict[str, Any]]:
    """The events that name the groups of rows, by number, which are shown in the order of their numbers."""
    for process, name in names.items():
        yield _about("process_name", (process, 0), {"name": name})
        yield _about("process_sort_index", (process, 0), {"sort_index": process})


class Tracks:
    """Rows of the trace. Intervals of one row must not overlap; those that would get a row of the same name below."""

    def __init__(self) -> None:
        # Per process and name, the thread and the end, ns, of every row.
        self._rows: dict[tuple[int, str], list[tuple[int, int]]] = {}
        # Some readers tell threads apart only by their number, even in different processes.
        self._threads: dict[int, int] = {}

    def put(
        self,
        process: int,
        track: str,
        name: str,
        span_s: tuple[float, float],
        told: dict[str, Any],
        inner: Iterable[Within] = (),
    ) -> Iterator[dict[str, Any]]:
        """The events of an interval, of those within it in order, and of the row's name where it is new."""
        start, end = map(_nanoseconds, span_s)
        rows = self._rows.setdefault((process, track), [])
        place = next((index for index, (_, busy_until) in enumerate(rows) if busy_until <= start), len(rows))
        if place == len(rows):
            thread = self._threads.setdefault(process, process << 20) + 1
            self._threads[process] = thread
            rows.append((thread, end))
            yield _about("thread_name", (process, thread), {"name": track})
        thread = rows[place][0]
        rows[place] = (thread, end)
        yield _interval(process, thread, name, (start, end), told)
        for part, within_s, of_part in inner:
            first, last = map(_nanoseconds, within_s)
            yield _interval(process, thread, part, (first, last), of_part)


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

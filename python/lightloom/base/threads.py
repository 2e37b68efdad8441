"""Who computes the chunks: threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

import os
from queue import Queue
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING

from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

# Seconds that an interrupt waits for the chunks that are being computed.
MOST_AWAITED_S = 1.0


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def on_threads(
    work: Callable[[int], bytes], chunks: Sequence[int], workers: int, *, is_limit: bool = False
) -> Generator[tuple[int, bytes]]:
    """Every chunk with its content, as they are finished. Raises what `work` raises.

    is_limit: no more threads than `workers` compute, those included on which the core would share a chunk's work.

    Threads are enough: the core and Arrow release the interpreter's lock. They end when this generator does, or when
    the calling thread is interrupted; unfinished chunks are computed again by the next run. They are
    daemons, so that Python does not wait for one that is in Arrow.
    """
    waiting = iter(chunks)
    next_lock = Lock()
    interruption = _core.Interruption()
    # No worker is further ahead than this of the writer of the parts.
    finished: Queue[tuple[int, bytes] | BaseException] = Queue(maxsize=2 * workers)

    taking = max(1, min(workers, len(chunks)))

    def compute() -> None:
        if is_limit:
            _core.limit_threads(workers // taking)
        _core.heed(interruption)
        while True:
            interruption.check()
            with next_lock:
                chunk = next(waiting, None)
            if chunk is None:
                return
            finished.put((chunk, work(chunk)))

    def run() -> None:
        try:
            compute()
        except BaseException as error:
            finished.put(error)

    threads = [Thread(target=run, daemon=True) for _ in range(taking if chunks else 0)]
    for thread in threads:
        thread.start()
    try:
        for _ in chunks:
            item = finished.get()
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        interruption.interrupt()
        _await(threads, finished)


def _await(threads: Sequence[Thread], finished: Queue[tuple[int, bytes] | BaseException]) -> None:
    """Wait for threads that were told to stop, not for long.

    Python aborts where it ends while a thread is in Arrow. A thread that is in Lightloom's core then does no harm.
    """
    deadline = monotonic() + MOST_AWAITED_S
    for thread in threads:
        while thread.is_alive() and monotonic() < deadline:
            # A thread that waits to hand over its last chunk can do so, and ends.
            while not finished.empty():
                finished.get_nowait()
            thread.join(0.01)

"""The time for which threads of this process were awake, as Linux counts it.

A thread is awake while it runs, and while it could run but another has its core (Linux, Documentation/scheduler/
sched-stats.rst, `/proc/PROCESS/schedstat`: both in nanoseconds). The rest of the time it sleeps.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

__all__ = ["awake_ns", "awake_of_sleeper_ns"]

TASKS, SLEEPS = Path("/proc/self/task"), "S"


def awake_ns() -> int | None:
    """Nanoseconds for which the thread that asks was awake; None where Linux does not count them."""
    counted = _counted(threading.get_native_id())
    # The time that a thread ran since its last turn is in its clock, and not yet in Linux's count.
    return None if counted is None else time.thread_time_ns() + counted[1]


def awake_of_sleeper_ns(thread: int) -> int | None:
    """Nanoseconds for which another thread was awake; None where it is awake now, has ended, or is not counted."""
    try:
        state = (TASKS / str(thread) / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None
    counted = _counted(thread) if state == SLEEPS else None
    return None if counted is None else sum(counted)


def _counted(thread: int) -> tuple[int, int] | None:
    """Nanoseconds for which a thread ran, and for which it waited for a core."""
    try:
        ran, waited, _ = (TASKS / str(thread) / "schedstat").read_text().split()
    except (OSError, ValueError):
        return None
    return int(ran), int(waited)

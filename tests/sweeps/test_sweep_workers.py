"""How many threads compute a sweep."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

THREADS = Path("/proc/self/task")
# More than there are cores, so that the threads that the core would share work on stand out.
CORE_THREADS = 300

PROGRAM = f"""
import os
import sys
import lightloom as ll

workers = int(sys.argv[1]) or None
swept = ll.sweep(
    {{
        "settings": {{"collective": "all-reduce", "gpus": 8}},
        "axes": {{"size": ["1KiB", "1MiB", "64MiB"], "reconfiguration_delay": ["1us", "10us"]}},
    }},
    workers=workers,
)
print(len(os.listdir("{THREADS}")), swept.to_arrow().column("total_s").to_pylist())
"""


def _swept(workers: int) -> tuple[int, str]:
    """Threads that are there after a sweep, and the times that it found; 0 workers for no limit."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(CORE_THREADS)}
    command = [sys.executable, "-c", PROGRAM, str(workers)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    threads, _, times = ran.stdout.partition(" ")
    return int(threads), times


@pytest.mark.skipif(not THREADS.exists(), reason="threads are counted in /proc")
def test_workers_are_the_threads_that_compute() -> None:
    threads, times = _swept(workers=0)
    assert threads > CORE_THREADS, "the core shares work of a sweep on threads that are not found any more"
    for workers in (1, 2):
        limited, same = _swept(workers)
        assert limited < CORE_THREADS
        assert same == times

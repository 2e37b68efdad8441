"""How many threads compute a sweep."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lightloom.base.threads import on_threads

THREADS = Path("/proc/self/task")
# The core's own pool has threads of this name where it was asked for more of them than there are cores.
CORE_THREADS, CORE_NAME = 300, "lightloom-"

PROGRAM = f"""
import os
import sys
import threading
import lightloom as ll

workers = int(sys.argv[1]) or None
if sys.argv[2] == "forked":
    ll.plan("all-reduce", "1KiB", fabric=ll.Fabric(gpus=8))
    child = os.fork()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
most = 0
ended = threading.Event()

def look():
    global most
    while not ended.wait(0.001):
        found = 0
        for thread in os.listdir("{THREADS}"):
            try:
                with open("{THREADS}/" + thread + "/comm") as name:
                    found += name.read().startswith("{CORE_NAME}")
            except OSError:
                pass
        most = max(most, found)

threading.Thread(target=look).start()
swept = ll.sweep(
    {{
        "settings": {{"collective": "all-reduce", "gpus": 32}},
        "axes": {{"size": ["1KiB", "1MiB", "64MiB"], "reconfiguration_delay": ["1us", "10us"]}},
    }},
    workers=workers,
)
ended.set()
print(most, swept.to_arrow().column("total_s").to_pylist())
"""


def _swept(workers: int, process: str) -> tuple[int, str]:
    """The most threads of the core that were there in a sweep, and the times that it found; 0 workers for no limit."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(CORE_THREADS)}
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(workers), process]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    threads, _, times = ran.stdout.partition(" ")
    return int(threads), times


@pytest.mark.large
@pytest.mark.skipif(not THREADS.exists(), reason="threads are counted in /proc")
@pytest.mark.parametrize("process", ["started", "forked"])
def test_workers_are_the_threads_that_compute(process: str) -> None:
    threads, times = _swept(0, process)
    assert threads >= len(os.sched_getaffinity(0)), "the core shares work of a sweep on threads that are not found"
    for workers in (1, 2):
        limited, same = _swept(workers, process)
        assert limited == 0
        assert same == times


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_threads_have_ended_when_all_chunks_are_there(workers: int) -> None:
    before = set(threading.enumerate())
    found = dict(on_threads(lambda chunk: bytes([chunk]), range(40), workers))
    assert found == {chunk: bytes([chunk]) for chunk in range(40)}
    assert set(threading.enumerate()) == before


def test_threads_end_where_what_was_found_is_no_longer_wanted() -> None:
    before = set(threading.enumerate())
    parts = on_threads(lambda chunk: bytes([chunk]), range(200), 3)
    assert len([next(parts) for _ in range(5)]) == 5
    parts.close()
    assert set(threading.enumerate()) == before


READING = """
import io, os
import pyarrow as pa
import pyarrow.parquet as pq
from lightloom.sweeps.parts import read_table

columns = {f"column {number}": list(range(5000)) for number in range(20)}
file = io.BytesIO()
pq.write_table(pa.table(columns), file, row_group_size=500)
before = len(os.listdir("/proc/self/task"))
assert read_table(file).to_pydict() == columns
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.large
@pytest.mark.skipif(not THREADS.exists(), reason="threads are counted in /proc")
def test_reading_a_table_leaves_no_thread_of_arrow_that_holds_the_file() -> None:
    ran = subprocess.run([sys.executable, "-c", READING], capture_output=True, text=True, check=True)
    assert ran.stdout == "0\n"

"""Sweeps on a Dask cluster: the same table, and nothing lost with a worker that is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.sweeps.cluster import run_chunk
from lightloom.sweeps.description import SweepDescription

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")

SWEEP: dict[str, Any] = {
    "engine": "flow",
    "settings": {"collective": "all-reduce", "gpus": 16, "algorithm": "recursive-doubling", "planner": "harvest"},
    "axes": {  # 144 points, and as many chunks
        "reconfiguration-delay": {"from": "100ns", "to": "1ms", "count": 9},
        "size": {"from": "1KiB", "to": "256MiB", "count": 16},
    },
    "plots": [],
}


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A scheduler and two worker processes under nannies, which start another for one that dies."""
    dask = pytest.importorskip("dask")
    settings = {
        # Dask blames a chunk for the first worker that dies with it, so that it comes back as an error here.
        "distributed.scheduler.allowed-failures": 0,
        "distributed.worker.multiprocessing-method": "spawn",
        # How long a result is asked for at a worker that is no more; half a minute otherwise.
        "distributed.comm.timeouts.connect": "2s",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as made,
    ):
        yield made


@pytest.mark.large
def test_workers_killed_during_a_sweep_lose_nothing(cluster: Any, tmp_path: Path) -> None:
    done = 0
    enough = threading.Event()

    def advance(points: int) -> None:
        nonlocal done
        done += points
        if done >= 30:
            enough.set()

    def kill() -> None:
        for _ in range(2):
            enough.wait(30)
            workers = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
            os.kill(workers[0], signal.SIGKILL)
            killed.append(workers[0])
            time.sleep(0.2)

    killed: list[int] = []
    killer = threading.Thread(target=kill)
    killer.start()
    result = ll.sweep(SWEEP, output=tmp_path / "cluster", scheduler=cluster.scheduler_address, advance=advance)
    killer.join()
    alone = ll.sweep(SWEEP, output=tmp_path / "alone")
    assert len(killed) == 2
    assert (done, result.computed) == (144, 144)
    assert result.path is not None
    assert alone.path is not None
    assert result.path.read_bytes() == alone.path.read_bytes()


@pytest.mark.large
def test_a_scheduler_that_goes_away_is_named_and_what_is_finished_is_kept(cluster: Any, tmp_path: Path) -> None:
    done: list[int] = []

    def advance(points: int) -> None:
        done.append(points)
        if sum(done) == 20:
            threading.Thread(target=cluster.close).start()

    with pytest.raises(InputError, match=r"scheduler: the connection to `tcp://.*` was lost"):
        ll.sweep(SWEEP, output=tmp_path, scheduler=cluster.scheduler_address, advance=advance)
    result = ll.sweep(SWEEP, output=tmp_path)
    assert result.found >= 20
    assert result.found + result.computed == 144


def test_a_worker_with_another_version_is_refused() -> None:
    with pytest.raises(InputError, match="scheduler: a worker has Lightloom"):
        run_chunk(SweepDescription.of(SWEEP), "", 0, "0.0.0")


@pytest.mark.large
def test_an_address_where_nobody_listens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightloom.sweeps.cluster.CONNECT_S", 0.3)
    with pytest.raises(InputError, match=r"scheduler: cannot reach `tcp://127\.0\.0\.1:9`"):
        ll.sweep(SWEEP, scheduler="tcp://127.0.0.1:9")


# A sweep that takes a thread several seconds.
LONG: dict[str, Any] = {
    "settings": {"collective": "all-to-all", "gpus": 64, "ports": 3},
    "axes": {"reconfiguration-delay": {"from": "100ns", "to": "1ms", "count": 32}, "size": ["1MiB", "64MiB"]},
    "plots": [],
}
# The core's own pool has threads of this name where it was asked for more of them than there are cores.
CORE_THREADS, CORE_NAME = 300, "lightloom-"


@pytest.fixture
def scheduler() -> Iterator[str]:
    """The address of a scheduler that has no workers yet."""
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as made:
        yield made.scheduler_address


# The tests may run in a shell's background job, which starts deaf to interrupts.
WORKER = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('distributed.cli.dask_worker', run_name='__main__', alter_sys=True)"
)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processor_s(pid: int) -> float:
    """Processor time that a process has used."""
    words = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.large
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("nanny", ["--nanny", "--no-nanny"])
def test_a_worker_ends_when_it_is_told_and_another_goes_on(
    scheduler: str, tmp_path: Path, number: signal.Signals, nanny: str
) -> None:
    def worker(*options: str) -> subprocess.Popen[bytes]:
        words = [scheduler, "--nthreads", "1", "--no-dashboard", *options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAYON_NUM_THREADS": str(CORE_THREADS)}
        return subprocess.Popen([sys.executable, "-c", WORKER, *words], env=environment, stderr=subprocess.DEVNULL)

    first = worker(nanny)
    found: list[Any] = []
    sweeping = threading.Thread(target=lambda: found.append(ll.sweep(LONG, output=tmp_path, scheduler=scheduler)))
    sweeping.start()
    try:
        with distributed.Client(scheduler, set_as_default=False) as client:
            wait_until(lambda: any(client.processing().values()))
            (pid,) = client.run(os.getpid).values()
            began = processor_s(pid)
            wait_until(lambda: processor_s(pid) > began + 0.5)
            # A thread of the worker computes by itself: the core's own pool has no threads.
            names = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/comm")]
            assert not any(name.startswith(CORE_NAME) for name in names)
            first.send_signal(number)
            first.wait(timeout=20)
            wait_until(lambda: not Path(f"/proc/{pid}").exists())
            assert not found
        second = worker("--no-nanny")
        sweeping.join(timeout=120)
        assert found[0].computed == 64
        second.terminate()
        assert second.wait(timeout=20) == 0
    finally:
        first.kill()

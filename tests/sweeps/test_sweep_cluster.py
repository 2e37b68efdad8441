"""Sweeps on a Dask cluster: the same table, and nothing lost with a worker that is killed."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.errors import InputError
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


def test_a_scheduler_that_goes_away_is_named_and_what_is_finished_is_kept(cluster: Any, tmp_path: Path) -> None:
    done: list[int] = []

    def advance(points: int) -> None:
        done.append(points)
        if sum(done) == 20:
            threading.Thread(target=cluster.close).start()

    with pytest.raises(InputError, match=r"scheduler: `tcp://.*` went away"):
        ll.sweep(SWEEP, output=tmp_path, scheduler=cluster.scheduler_address, advance=advance)
    result = ll.sweep(SWEEP, output=tmp_path)
    assert result.found >= 20
    assert result.found + result.computed == 144


def test_a_worker_with_another_version_is_refused() -> None:
    with pytest.raises(InputError, match="scheduler: a worker has Lightloom"):
        run_chunk(SweepDescription.of(SWEEP), "", 0, "0.0.0")


def test_an_address_where_nobody_listens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightloom.sweeps.cluster.CONNECT_S", 0.3)
    with pytest.raises(InputError, match=r"scheduler: cannot reach `tcp://127\.0\.0\.1:9`"):
        ll.sweep(SWEEP, scheduler="tcp://127.0.0.1:9")

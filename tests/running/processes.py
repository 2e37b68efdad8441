"""Quick runs on processes, and the ends of processes, for the tests of running."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lightloom as ll
from lightloom.running.controller import RunFailedError

# Seconds that a run takes: enough for processes to wait for each other.
RUN_S = 0.01


def dilation(plan: ll.Plan, run_s: float = RUN_S) -> float:
    return max(1.0, run_s / plan.total_s)


def run_once(plan: ll.Plan, **settings: object) -> ll.Measurement:
    return ll.run(plan, runs=1, warm_ups=0, dilation=dilation(plan), **settings)  # type: ignore[arg-type]


def plan_of(collective: str = "all-reduce", gpus: int = 4, size: str = "16KiB", **settings: object) -> ll.Plan:
    fabric = ll.Fabric(gpus=gpus, bandwidth="100Gbps", reconfiguration_delay="10us")
    return ll.plan(collective, size=size, fabric=fabric, **settings)  # type: ignore[arg-type]


@contextmanager
def begun(
    plan: ll.Plan, transport: str = "shared-memory", settle_s: float = 0.5
) -> Iterator[tuple[ll.Executor, threading.Thread, list[str]]]:
    """A run of 30 seconds whose first step has begun, and its message at its end."""
    executor = ll.Executor(runs=1, warm_ups=0, dilation=dilation(plan, 30.0), transport=transport)
    said: list[str] = []

    def carry_out() -> None:
        try:
            executor.run(plan)
        except RunFailedError as error:
            said.append(str(error))

    thread = threading.Thread(target=carry_out)
    thread.start()
    end = time.monotonic() + 20
    while len(children(executor.controller or 0)) < plan.gpus + 1 and time.monotonic() < end:
        time.sleep(0.01)
    # Until the first step has begun.
    time.sleep(settle_s)
    yield executor, thread, said
    executor.close()
    thread.join(20)


def children(process: int) -> list[int]:
    try:
        told = [task.read_text() for task in Path(f"/proc/{process}/task").glob("*/children")]
        return sorted(int(one) for one in " ".join(told).split())
    except FileNotFoundError:
        return []


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def all_ended(processes: list[int], within_s: float = 5.0) -> bool:
    """Whether all processes have ended, or do so soon."""
    end = time.monotonic() + within_s
    while any(map(is_alive, processes)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(is_alive, processes))

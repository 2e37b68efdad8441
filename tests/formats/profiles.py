"""Small profiles of PyTorch for tests, written by hand: events of GPUs, their launches and their records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from lightloom.inputs.workloads.files import read_workload
from tests.reference.workloads import check

Event = dict[str, Any]


def event(category: str, name: str, start: float, end: float, **rest: Any) -> Event:
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": end - start, "pid": 9, "tid": 9, **rest}


def kernel(start: float, end: float, *, stream: int = 7, number: int | None = None, name: str = "gemm") -> Event:
    """Work of a GPU from microsecond to microsecond; number: that of its launch."""
    args: Event = {"stream": stream, "device": 0}
    return event("kernel", name, start, end, args=args | ({} if number is None else {"correlation": number}))


def record(
    collective: str, elements: int, *, out: int | None = None, dtype: str = "Float", ranks: str = "[0, 1]", **rest: Any
) -> Event:
    """What PyTorch records of a collective, by the keys of its arguments."""
    return {
        "Collective name": collective,
        "In msg nelems": elements,
        "Out msg nelems": elements if out is None else out,
        "Group size": ranks.count(",") + 1,
        "dtype": dtype,
        "In split size": "[]",
        "Out split size": "[]",
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Process Group Ranks": ranks,
    } | {key.replace("_", " "): value for key, value in rest.items()}


def nccl(start: float, end: float, told: Event | None, *, stream: int = 20, number: int | None = None) -> Event:
    """A kernel of NCCL that says what it is."""
    one = kernel(start, end, stream=stream, number=number, name="ncclDevKernel_Generic(ncclDevKernelArgs)")
    one["args"] |= told or {}
    return one


def launch(time: float, number: int, *, thread: int = 1) -> Event:
    return event("cuda_runtime", "cudaLaunchKernel", time, time + 1, tid=thread, args={"correlation": number})


def wait(time: float, *, thread: int = 1, name: str = "cudaStreamWaitEvent") -> Event:
    return event("cuda_runtime", name, time, time, tid=thread, args={"correlation": 1_000_000 + int(time)})


def called(start: float, end: float, told: Event, external: int, *, thread: int = 1) -> Event:
    """The record of a collective's call on the CPU."""
    return event("cpu_op", "record_param_comms", start, end, tid=thread, args=told | {"External id": external})


def step(number: int, start: float, end: float) -> Event:
    return event("user_annotation", f"ProfilerStep#{number}", start, end)


def profile(events: list[Event], rank: int | None = None, ranks: int | None = None, **rest: Any) -> Event:
    """The document of a rank's file."""
    info = {} if rank is None else {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks, **rest}}
    return {"schemaVersion": 1, "deviceProperties": [], **info, "traceEvents": events}


def folder_of(folder: Path, *ranks: list[Event], packed: bool = False, **rest: Any) -> Path:
    for rank, events in enumerate(ranks):
        text = json.dumps(profile(events, rank, len(ranks), **rest)).encode()
        name = f"worker{rank}.pt.trace.json"
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(text) if packed else text)
    return folder


def workload_of(folder: Path, *ranks: list[Event], **options: Any) -> dict[str, Any]:
    workload = read_workload(folder_of(folder, *ranks), **options)
    check(workload)
    return workload


def alone(folder: Path, events: list[Event], **options: Any) -> dict[str, Any]:
    (folder / "one.json").write_text(json.dumps(profile(events)))
    workload = read_workload(folder / "one.json", **({"ranks": 2} | options))
    check(workload)
    return workload


def graph(workload: dict[str, Any]) -> dict[str, tuple[float, list[str]]]:
    """Seconds or bytes of each node and what it waits for, by the rank and number that ids begin with."""
    return {
        node["id"].split()[0]: (
            round(node["duration_s"], 12) if node["kind"] == "compute" else node["size_bytes"],
            sorted(before.split()[0] for before in node["after"]),
        )
        for node in workload["nodes"]
    }

"""The trace of a job: every collective and message of a rank, in the format of PyTorch's profiles.

`LIGHTLOOM_TRACE` names a folder, into which every rank writes `rankR.json`; `lightloom train FOLDER` reads it, and so
do viewers of Chrome's Trace Event Format. Computation is the time in which the program waits for no collective, cut
where it calls one. PyTorch's own code, such as DistributedDataParallel, waits where nothing says so: a thread that
sleeps when a collective ends has waited for it for as long as it has slept. An iteration is the time between two calls
of `step`.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.base.files import write_bytes
from lightloom.torch.threads import awake_ns, awake_of_sleeper_ns

if TYPE_CHECKING:
    from lightloom.plans import Plan
    from lightloom.torch.planning import Asked

__all__ = ["Trace", "step", "trace_of"]

FOLDER = "LIGHTLOOM_TRACE"
# Events that a rank keeps.
MOST_EVENTS = 1 << 20
# PyTorch's names of collectives, as profiles have them.
NAMES = {
    "all-reduce": "allreduce",
    "all-gather": "_allgather_base",
    "reduce-scatter": "_reduce_scatter_base",
    "all-to-all": "all_to_allv",
}
COMPUTATION, COMMUNICATION = 7, 20
# PyTorch's name of an iteration, before its number.
ITERATION = "ProfilerStep#"


class Trace:
    """The events of this process. path: where `close` writes them; rank: of the whole job."""

    def __init__(self, path: Path, rank: int) -> None:
        self._path, self._rank = path, rank
        self._events: list[dict[str, Any]] = []
        self._groups: dict[str, list[int]] = {}
        self._lock = threading.Lock()
        self._computes_since_ns: int | None = None
        # The thread that computes, and the time for which it had been awake by then.
        self._thread = 0
        self._awake_ns: int | None = None
        self._waiting = 0
        self._steps, self._stepped_ns = 0, 0

    def group(self, name: str, members: list[int]) -> None:
        """Say which ranks a group has."""
        self._groups[name] = members

    def step(self) -> None:
        """The program has ended an iteration, or its work before the first."""
        with self._lock:
            self._cut()
            now_ns = time.monotonic_ns()
            if self._steps:
                self._write(f"{ITERATION}{self._steps}", "user_annotation", 0, self._stepped_ns, now_ns, {})
            self._steps, self._stepped_ns = self._steps + 1, now_ns

    def called(self) -> None:
        """The program calls a collective: its computation before that is one piece."""
        with self._lock:
            self._cut()

    def waits(self) -> None:
        """The program begins to wait for a collective."""
        with self._lock:
            self._waiting += 1
            self._cut()

    def goes_on(self) -> None:
        """The program has waited."""
        with self._lock:
            self._waiting -= 1
            self._cut()

    def ended(self) -> None:
        """A collective has ended, which the program is told next: if it sleeps, it has waited since it fell asleep."""
        with self._lock:
            if self._computes_since_ns is None or self._awake_ns is None:
                return
            awake = awake_of_sleeper_ns(self._thread)
            if awake is not None:
                now_ns = time.monotonic_ns()
                self._computed(min(now_ns, self._computes_since_ns + max(0, awake - self._awake_ns)))
                self._computes_since_ns, self._awake_ns = now_ns, awake

    def collective(
        self,
        group: str,
        asked: Asked,
        plan: Plan,
        tensor: Any,
        begun_ns: int,
        course: tuple[list[tuple[int, int]], int],
    ) -> None:
        """A collective that was carried out: its plan, and the moments and changes of its steps."""
        steps, ended_ns = course
        members = self._groups[group]
        size = asked.elements * asked.element_bytes // tensor.element_size()
        share = size // len(members)
        args = {
            "Collective name": NAMES.get(asked.collective, asked.collective),
            "In msg nelems": share if asked.collective == "all-gather" else size,
            "Out msg nelems": share if asked.collective == "reduce-scatter" else size,
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "Group size": len(members),
            "Process Group Name": group,
            "Process Group Ranks": members,
            "lightloom": {
                "planner": plan.planner,
                "algorithm": plan.algorithm,
                "planned_for_bytes": asked.size_class,
                "predicted_s": plan.total_s,
                "changes": sum(1 for _, changed in steps if changed),
                "steps": [
                    {"after_us": round((moment - begun_ns) / 1e3, 3), "circuits_changed": changed}
                    for moment, changed in steps
                ],
            },
        }
        if asked.blocks is not None:
            here = members.index(self._rank) * len(members)
            row = asked.blocks[here : here + len(members)]
            args["In split size"] = [one // tensor.element_size() for one in row]
            args["In msg nelems"] = args["Out msg nelems"] = sum(row) // tensor.element_size()
        self._add(f"lightloom {asked.collective}", COMMUNICATION, begun_ns, ended_ns, args)

    def message(self, group: str, what: str, peer: int, tensor: Any, begun_ns: int) -> None:
        """A message that was sent or received; peer: its other rank in the group."""
        name = what.split(" ", maxsplit=1)[0]
        members = self._groups[group]
        args = {
            "Collective name": name,
            "In msg nelems": tensor.numel(),
            "Out msg nelems": tensor.numel(),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "Group size": len(members),
            "Process Group Name": group,
            "Process Group Ranks": members,
            "Dst Rank" if name == "send" else "Src Rank": peer,
        }
        self._add(f"lightloom {name}", COMMUNICATION + 1, begun_ns, time.monotonic_ns(), args)

    def close(self) -> None:
        """Write what there is. Raises `InputError` that names `LIGHTLOOM_TRACE` where that cannot be done."""
        with self._lock:
            world = max((max(members) for members in self._groups.values()), default=0) + 1
            document = {
                "schemaVersion": 1,
                "distributedInfo": {
                    "backend": "lightloom",
                    "rank": self._rank,
                    "world_size": world,
                    "same_bits": True,
                    "pg_config": [{"pg_name": name, "ranks": ranks} for name, ranks in self._groups.items()],
                },
                "traceEvents": self._events,
            }
            write_bytes(FOLDER, self._path, json.dumps(document).encode())

    def _cut(self) -> None:
        now_ns = time.monotonic_ns()
        self._computed(now_ns)
        self._computes_since_ns = None if self._waiting else now_ns
        self._thread, self._awake_ns = threading.get_native_id(), awake_ns()

    def _computed(self, ended_ns: int) -> None:
        if self._computes_since_ns is not None:
            self._put("computation", COMPUTATION, self._computes_since_ns, ended_ns, {})

    def _add(self, name: str, stream: int, begun_ns: int, ended_ns: int, args: dict[str, Any]) -> None:
        with self._lock:
            self._put(name, stream, begun_ns, ended_ns, args)

    def _put(self, name: str, stream: int, begun_ns: int, ended_ns: int, args: dict[str, Any]) -> None:
        args = {"device": self._rank, "stream": stream, **args}
        self._write(name, "kernel", stream, begun_ns, ended_ns, args)

    def _write(self, name: str, category: str, thread: int, begun_ns: int, ended_ns: int, args: dict[str, Any]) -> None:
        if len(self._events) < MOST_EVENTS:
            event = {"ph": "X", "cat": category, "name": name, "pid": self._rank, "tid": thread}
            times = {"ts": begun_ns / 1e3, "dur": max(0, ended_ns - begun_ns) / 1e3}
            self._events.append({**event, **times, "args": args})


traces: dict[str, Trace] = {}


def step() -> None:
    """Say to the trace that an iteration of the program has ended; without `LIGHTLOOM_TRACE` nothing is done.

    Iteration N, counted from 1, lies between the N-th call and the next, as `--profile-step` of `train` names it. Work
    before the first call, such as making groups, is in no iteration. Every rank calls it as often as the others.
    """
    for trace in tuple(traces.values()):
        trace.step()


def trace_of(rank: int, group: str, members: list[int]) -> Trace | None:
    """The trace of this process, told of a group; None where `LIGHTLOOM_TRACE` is not set."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise refuse(FOLDER, f"`{folder}` is a file; it takes a folder, into which every rank writes a file")
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise refuse(FOLDER, f"`{folder}` cannot be written to ({reason}); it takes a folder for traces") from error
    trace = traces.setdefault(folder, Trace(path / f"rank{rank}.json", rank))
    trace.group(group, members)
    return trace

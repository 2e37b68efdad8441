"""The ranks of a job and its communicators, from NCCL's debug log."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse
from lightloom.formats.nccl_log.lines import Called, Ready

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Job", "job_of"]

SUBSYSTEMS = "NCCL_DEBUG_SUBSYS=INIT,COLL"
# A process, of a host, and its GPU, `UNKNOWN` where no line says which.
Process = tuple[str, str]
Gpu = tuple[Process, int]
UNKNOWN = -1000


class Job(NamedTuple):
    """The calls of each rank, in order, each with the name of its communicator; and the ranks of each communicator.

    A job of one rank has no communicators: its calls stand for those of all ranks.
    """

    calls: list[list[tuple[Called, str]]]
    members: dict[str, tuple[int, ...]]


class _Communicators:
    """Communicators by the names that they have in the workload: the GPU of each rank, and their sizes."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._ready: dict[tuple[Process, str], tuple[Ready, str]] = {}
        self._sizes: dict[str, int] = {}
        self.gpus: dict[str, dict[int, Gpu]] = defaultdict(dict)

    def add(self, line: Ready) -> None:
        """Take in a rank of a communicator. Raises `InputError` for a rank that it cannot have."""
        name, gpu = self._name_of(line), (line.process, line.device)
        self._ready[line.process, line.comm] = line, name
        if line.rank >= line.ranks:
            raise refuse(self._field, f"{line.at} has rank {line.rank} and nranks {line.ranks}; ranks are less")
        ranks = self.gpus[name]
        if ranks.setdefault(line.rank, gpu) != gpu or self._sizes.setdefault(name, line.ranks) != line.ranks:
            why = "" if line.id else "; a log without commId must have one communicator for each number of ranks"
            raise refuse(self._field, f"{line.at} is a second rank {line.rank} of communicator `{name}`{why}")

    def of(self, line: Called) -> tuple[Gpu, str]:
        """The GPU of a call, `UNKNOWN` where no line says which, and the name of its communicator."""
        found = self._ready.get((line.process, line.comm))
        if found is None:
            return (line.process, UNKNOWN), ""
        ready, name = found
        if ready.ranks != line.ranks:
            of = f"its communicator {line.comm} has {ready.ranks} ranks"
            raise refuse(self._field, f"{line.at} has nranks={line.ranks}; {of}")
        return (line.process, ready.device), name

    def check_whole(self) -> None:
        """Refuse communicators whose ranks are not all there, each on a GPU of its own."""
        for name, ranks in self.gpus.items():
            if len(ranks) != self._sizes[name]:
                held = f"{len(ranks)} of the {self._sizes[name]} ranks of communicator {name}"
                raise refuse(self._field, f"the log has `Init COMPLETE` lines of {held}")
            if len(set(ranks.values())) != len(ranks):
                raise refuse(self._field, f"two ranks of communicator {name} are on one GPU; it takes a GPU a rank")

    def _name_of(self, line: Ready) -> str:
        """The name of a communicator: its id; else what it was split off from, and how; in old logs its size alone."""
        if line.id:
            return line.id
        parent = self._ready.get((line.process, line.parent))
        return f"{line.ranks} ranks" if parent is None else f"{parent[1]}.{line.part}"


def job_of(field: str, lines: Iterable[tuple[Path, Called | Ready]]) -> Job:
    """The job of a log. Raises `InputError` that names `field` where ranks or communicators are not all in it."""
    communicators = _Communicators(field)
    calls: dict[Gpu, list[tuple[Called, str]]] = defaultdict(list)
    for _, line in lines:
        if isinstance(line, Ready):
            communicators.add(line)
        else:
            gpu, name = communicators.of(line)
            calls[gpu].append((line, name))
    if not calls:
        raise refuse(field, f"the log has no calls of collectives; set NCCL_DEBUG=INFO and {SUBSYSTEMS}")
    gpus = {*calls, *(gpu for ranks in communicators.gpus.values() for gpu in ranks.values())}
    if len(gpus) == 1:
        return Job([next(iter(calls.values()))], {})
    unknown = next((held[0][0] for (_, device), held in calls.items() if device == UNKNOWN), None)
    if unknown is not None:
        why = f"no `Init COMPLETE` line says the ranks; set {SUBSYSTEMS}"
        raise refuse(field, f"{unknown.at} is of communicator {unknown.comm}, of which {why}")
    communicators.check_whole()
    world = next((ranks for ranks in communicators.gpus.values() if len(ranks) == len(gpus)), None)
    if world is None:
        largest = max(map(len, communicators.gpus.values()))
        raise refuse(
            field,
            f"the log has {len(gpus)} GPUs and no communicator of them all, whose ranks number them; the largest has "
            f"{largest}: let the job call one collective of all ranks",
        )
    rank_of = {gpu: rank for rank, gpu in world.items()}
    return Job(
        [calls.get(world[rank], []) for rank in range(len(world))],
        {name: tuple(rank_of[ranks[rank]] for rank in range(len(ranks))) for name, ranks in communicators.gpus.items()},
    )

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


def job_of(field: str, lines: Iterable[tuple[Path, Called | Ready]]) -> Job:
    """The job of a log. Raises `InputError` that names `field` where ranks or communicators are not all in it."""
    ready: dict[tuple[Process, str], Ready] = {}
    calls: dict[Gpu, list[tuple[Called, str]]] = defaultdict(list)
    members: dict[str, dict[int, Gpu]] = defaultdict(dict)
    sizes: dict[str, int] = {}
    for _, line in lines:
        if isinstance(line, Ready):
            ready[line.process, line.comm] = line
            # Old logs state no id: those communicators are told by their size alone.
            name = line.id or f"of {line.ranks} ranks"
            gpu = (line.process, line.device)
            if members[name].setdefault(line.rank, gpu) != gpu or sizes.setdefault(name, line.ranks) != line.ranks:
                why = "" if line.id else "; a log without commId must have one communicator for each number of ranks"
                raise refuse(field, f"{line.at} is a second rank {line.rank} of communicator {name}{why}")
            continue
        of = ready.get((line.process, line.comm))
        if of is None:
            calls[line.process, UNKNOWN].append((line, ""))
        elif of.ranks != line.ranks:
            raise refuse(field, f"{line.at} has nranks={line.ranks}; its communicator {line.comm} has {of.ranks} ranks")
        else:
            calls[line.process, of.device].append((line, of.id or f"of {of.ranks} ranks"))
    if not calls:
        raise refuse(field, f"the log has no calls of collectives; set NCCL_DEBUG=INFO and {SUBSYSTEMS}")
    gpus = {*calls, *(gpu for held in members.values() for gpu in held.values())}
    if len(gpus) == 1:
        return Job([next(iter(calls.values()))], {})
    unknown = next((called for (_, device), held in calls.items() if device == UNKNOWN for called, _ in held), None)
    if unknown is not None:
        raise refuse(
            field,
            f"{unknown.at} is of communicator {unknown.comm}, of which no `Init COMPLETE` line says the ranks; set "
            f"{SUBSYSTEMS}",
        )
    for name, held in members.items():
        if len(held) != sizes[name]:
            raise refuse(
                field,
                f"the log has `Init COMPLETE` lines of {len(held)} of the {sizes[name]} ranks of communicator {name}",
            )
    world = next((held for held in members.values() if len(held) == len(gpus)), None)
    if world is None:
        largest = max(map(len, members.values()))
        raise refuse(
            field,
            f"the log has {len(gpus)} GPUs and no communicator of them all, whose ranks number them; the largest has "
            f"{largest}: let the job call one collective of all ranks",
        )
    rank_of = {gpu: rank for rank, gpu in world.items()}
    return Job(
        [calls.get(world[rank], []) for rank in range(len(world))],
        {name: tuple(rank_of[held[rank]] for rank in range(len(held))) for name, held in members.items()},
    )

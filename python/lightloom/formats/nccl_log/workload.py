"""NCCL's debug log as a workload: the collectives and messages that each rank called, in the order of the log.

- Sizes are counts times the bytes of their type; AllGather's count is what a rank puts in and ReduceScatter's what it
  gets, so that the whole buffer is as many times more as there are ranks.
- Groups are communicators: those of one `commId` are one, and so are those that one split of a communicator gave one
  colour; their ranks are those of the communicator of all ranks. A Broadcast's root is the first of its group.
- Sends and receives of one call of a group (`opCount`) start together. If they are one of each with every rank of the
  communicator, of equal sizes, they are an All-to-All, as NCCL and PyTorch make it.
- The log has no times. The time that a rank computes is asked for, and spread equally: a part before each call. All
  runs in the order of the log, nothing at the same time on a rank.

The whole log is one iteration. Facts that are asked for: the time of computation, and how many ranks do the same as the
only one in the log.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.formats.chakra.document import document
from lightloom.formats.chakra.files import MAX_NODES, Node, RankFile
from lightloom.formats.chakra.membership import groups_of_ranks, number_of_ranks
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.chakra.trace import Trace
from lightloom.formats.nccl_log.lines import log_files, log_lines
from lightloom.formats.nccl_log.ranks import job_of
from lightloom.formats.workload_options import missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.formats.chakra.files import Value
    from lightloom.formats.nccl_log.lines import Called
    from lightloom.formats.nccl_log.ranks import Job
    from lightloom.formats.source import Source
    from lightloom.formats.workload_options import Asked

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS = frozenset({"compute_time", "ranks"})
COLLECTIVES = {
    "AllReduce": CollectiveType.ALL_REDUCE,
    "AllGather": CollectiveType.ALL_GATHER,
    "ReduceScatter": CollectiveType.REDUCE_SCATTER,
    "Broadcast": CollectiveType.BROADCAST,
    "Bcast": CollectiveType.BROADCAST,
    "AllToAll": CollectiveType.ALL_TO_ALL,
    "AlltoAll": CollectiveType.ALL_TO_ALL,
}
MESSAGES = {"Send": NodeType.SEND, "Recv": NodeType.RECEIVE}
# Collectives whose count is one of as many shares of the buffer as there are ranks.
OF_SHARES = {CollectiveType.ALL_GATHER, CollectiveType.REDUCE_SCATTER, CollectiveType.ALL_TO_ALL}
# Bytes of an element by `ncclDataType_t` (nccl.h): 8-bit, 32-bit and 64-bit integers, signed and unsigned, float16,
# float32, float64, bfloat16, and the two floats of 8 bits.
ELEMENT_BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return bool(log_files(source))


def read(source: Source, asked: Asked) -> dict[str, Any]:
    """The workload of a log of all ranks, in one file or a folder of files, or of one rank that stands for all.

    Raises `InputError` that names the field and the line, or the option that is missing or wrong.
    """
    field = source.field
    job = job_of(field, log_lines(field, log_files(source)))
    if asked.compute_time is None:
        raise missing("compute_time", "the log has no times", "the time that a rank computes, such as 20ms, or 0s")
    compute_s = _core.read_time("compute_time", asked.compute_time)
    members = _with_roots(field, job)
    is_alone = len(job.calls) == 1
    files, nodes = [], 0
    for rank, calls in enumerate(job.calls):
        if is_alone and asked.ranks is not None:
            _check_stands_for_all(calls, asked.ranks)
        files.append(_rank_file(field, rank, calls, members, compute_s))
        nodes += len(files[-1].nodes)
        if nodes > MAX_NODES:
            raise refuse(field, f"the log has more than {MAX_NODES} calls and nodes between them")
    name = source.path.resolve().name if source.is_folder else source.path.stem
    trace = Trace(name or "log", files, members or None, field)
    ranks = number_of_ranks(trace, asked)
    return document(field, trace, ranks, groups_of_ranks(field, trace, ranks, asked), lambda _kind, size, _ranks: size)


def _with_roots(field: str, job: Job) -> dict[str, tuple[int, ...]]:
    """The ranks of each communicator, and of each once more from every root of its Broadcasts on."""
    members = dict(job.members)
    for called, comm in (call for calls in job.calls for call in calls):
        if COLLECTIVES.get(called.name) is CollectiveType.BROADCAST:
            _check_peer(field, called)
            if job.members:
                ranks = job.members[comm]
                members[_rooted(called, comm)] = (*ranks[called.peer :], *ranks[: called.peer])
    return members


def _rooted(called: Called, comm: str) -> str:
    """The name of the group of a Broadcast."""
    return f"{comm} from {called.peer}" if called.peer else comm


def _check_peer(field: str, called: Called) -> None:
    if not 0 <= called.peer < called.ranks:
        raise refuse(field, f"{called.at} has root {called.peer}; it takes one of the ranks 0 to {called.ranks - 1}")


def _check_stands_for_all(calls: Sequence[tuple[Called, str]], ranks: int) -> None:
    for called, _ in calls:
        if called.ranks != ranks:
            raise refuse(
                "ranks",
                f"{ranks} differs from nranks={called.ranks} of {called.at}; the log of one rank stands for all only "
                "where all of them are in every communicator, else it takes the logs of all ranks",
            )


def _rank_file(
    field: str, rank: int, calls: Sequence[tuple[Called, str]], members: dict[str, tuple[int, ...]], compute_s: float
) -> RankFile:
    """The nodes of a rank, one after another, the messages of a group at once."""
    groups = [list(held) for _, held in groupby(calls, key=_group_key)]
    part_us = compute_s * 1e6 / len(groups) if groups else 0
    nodes: list[Node] = []
    before: tuple[int, ...] = ()
    for held in groups:
        if part_us:
            nodes.append(Node(len(nodes), "computation", NodeType.COMPUTE, before, part_us, {}))
            before = (len(nodes) - 1,)
        first = len(nodes)
        for name, kind, attributes in _made(field, rank, held, members):
            nodes.append(Node(len(nodes), name, kind, before, 0, attributes))
        if len(nodes) > first:
            before = tuple(range(first, len(nodes)))
    return RankFile({}, tuple(nodes))


def _group_key(call: tuple[Called, str]) -> tuple[str, ...]:
    """The key that calls of one group share: communicator and number for messages; a collective is a group alone."""
    called = call[0]
    return (called.comm, called.group_count) if called.name in MESSAGES else (called.at,)


def _made(
    field: str, rank: int, held: Sequence[tuple[Called, str]], members: dict[str, tuple[int, ...]]
) -> list[tuple[str, NodeType, dict[str, Value]]]:
    """The name, kind and attributes of the nodes of a group of calls."""
    called, comm = held[0]
    group: dict[str, Value] = {"pg_name": comm} if members else {}
    if called.name not in MESSAGES:
        kind = COLLECTIVES.get(called.name)
        if kind is None:
            known = ", ".join([*COLLECTIVES, *MESSAGES])
            raise refuse(field, f"{called.at} has a call of {called.name}; it takes {known}")
        size = _bytes(field, called) * (called.ranks if kind in OF_SHARES else 1)
        if members and kind is CollectiveType.BROADCAST:
            group = {"pg_name": _rooted(called, comm)}
        return [(called.name, NodeType.COLLECTIVE, {**group, "comm_type": int(kind), "comm_size": size})]
    if _is_all_to_all([one for one, _ in held]):
        size = _bytes(field, called) * called.ranks
        told: dict[str, Value] = {**group, "comm_type": int(CollectiveType.ALL_TO_ALL), "comm_size": size}
        return [("AllToAll", NodeType.COLLECTIVE, told)]
    if not members:
        raise refuse(field, f"{called.at} has a message to or from another rank; it takes the logs of all ranks")
    made: list[tuple[str, NodeType, dict[str, Value]]] = []
    tag = list(members).index(comm)
    for one, _ in held:
        _check_peer(field, one)
        message, peer = MESSAGES[one.name], members[comm][one.peer]
        side = "comm_dst" if message is NodeType.SEND else "comm_src"
        # A rank's message to itself is a copy.
        if peer != rank:
            made.append((one.name, message, {side: peer, "comm_size": _bytes(field, one), "comm_tag": tag}))
    return made


def _is_all_to_all(held: Sequence[Called]) -> bool:
    """Whether messages of a group are one to and one from every rank, all of one size."""
    first = held[0]
    everyone = set(range(first.ranks))
    peers = {name: [one.peer for one in held if one.name == name] for name in MESSAGES}
    return all(len(found) == first.ranks and set(found) == everyone for found in peers.values()) and all(
        (one.elements, one.datatype) == (first.elements, first.datatype) for one in held
    )


def _bytes(field: str, called: Called) -> int:
    if called.datatype >= len(ELEMENT_BYTES):
        raise refuse(
            field, f"{called.at} has datatype {called.datatype}; it takes ncclDataType_t, 0 to {len(ELEMENT_BYTES) - 1}"
        )
    return called.elements * ELEMENT_BYTES[called.datatype]

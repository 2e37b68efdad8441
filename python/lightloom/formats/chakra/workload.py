"""Chakra execution traces of training iterations: the traces of all ranks, joined into one graph.

Nodes that are read: computation with its stated microseconds, collectives, and sends with receives; and what each
waits for (`data_deps`; see `lightloom.formats.chakra.joining`). A node without a duration takes no time, as it
states. Start times are not read. Collectives of reduce-scatter-block are ReduceScatters, barriers computation of no
time at all ranks of the group; Reduce, Gather and Scatter are refused, which no schedule is planned for.

Nodes that are left out: operators of CPUs (`is_cpu_op`), which repeat the collectives that GPUs run, and whose own time
belongs to no GPU; collectives of one rank or of no bytes. Nodes that waited for these wait for the nodes that they
waited for.

Facts that are asked for: whether `comm_size` is a rank's input, its output or the whole buffer, and the bytes
of the elements that it counts, since writers differ; the groups, if there is no `NAME.json` next to it; and where a
trace is of one rank, how many ranks do the same as it does. In a trace without collectives, sizes of sends are bytes
where nothing else is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown
from lightloom.formats.chakra.archives import is_archive, read_archive
from lightloom.formats.chakra.files import is_trace, rank_files, read_ranks
from lightloom.formats.chakra.joining import ALL, Joined, group_of, is_collective, joined
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.chakra.trace import Trace, groups_of, read_groups, whole_attribute
from lightloom.formats.workload_options import COMM_SIZES, LEAST_RANKS, MOST_RANKS, Asked, missing

if TYPE_CHECKING:
    from lightloom.formats.source import Source

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS = frozenset({"comm_groups", "comm_size", "element_bytes", "ranks"})
COLLECTIVES = {
    CollectiveType.ALL_REDUCE: "all-reduce",
    CollectiveType.ALL_GATHER: "all-gather",
    CollectiveType.BROADCAST: "broadcast",
    CollectiveType.ALL_TO_ALL: "all-to-all",
    CollectiveType.REDUCE_SCATTER: "reduce-scatter",
    CollectiveType.REDUCE_SCATTER_BLOCK: "reduce-scatter",
}
# Collectives in which one side of a rank is a share of the buffer, and the side that comm_size counts if it counts it.
SHARES = {"all-gather": "input", "reduce-scatter": "output"}
MOST_NAME = 60


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return is_trace(source.path) or is_archive(source.path)


def read(source: Source, asked: Asked) -> dict[str, Any]:
    """The workload of the trace in a folder or archive, or one of whose files the source is.

    Raises `InputError` that names the field, or the option that is missing; see also `lightloom.formats.chakra.trace`.
    """
    trace = _trace(source, asked)
    ranks = _ranks(trace, asked)
    groups = _groups(source.field, trace, ranks, asked)
    for name, members in groups.items():
        if len(set(members)) < len(members):
            raise refuse("comm_groups", f"group {shown(name)} has a rank twice")
    whole = joined(source.field, trace, groups, same_at_all=ranks > len(trace.ranks))
    if not whole.nodes:
        raise refuse(source.field, f"`{trace.name}` has no computation of GPUs, no collectives and no messages")
    nodes = _nodes(source.field, trace, whole, groups, asked)
    used = {node["group"] for node in nodes if "group" in node}
    return {
        "schema": "lightloom.workload/1",
        "name": trace.name,
        "ranks": ranks,
        "mesh": {ALL: ranks} if any(node.get("axis") == ALL for node in nodes) else {},
        "groups": {name: list(members) for name, members in groups.items() if name in used},
        "nodes": nodes,
    }


def _trace(source: Source, asked: Asked) -> Trace:
    field = source.field
    if is_archive(source.path):
        archive = read_archive(field, source.path)
        name, files, text = archive
        is_beside = asked.comm_groups is None and text is not None
        beside = groups_of(field, text or "", f"{name}.json", len(files)) if is_beside else None
    else:
        name, paths = rank_files(field, source.path)
        files = list(read_ranks(field, paths))
        side = paths[0].parent / f"{name}.json"
        is_beside = asked.comm_groups is None and side.is_file()
        beside = read_groups(field, side, len(files)) if is_beside else None
    groups = beside if asked.comm_groups is None else read_groups("comm_groups", asked.comm_groups, len(files))
    return Trace(name, files, groups or None, field)


def _ranks(trace: Trace, asked: Asked) -> int:
    """How many ranks there are: one for every file, or as many as behave like the one file."""
    files = len(trace.ranks)
    if asked.ranks is None or asked.ranks == files:
        return files
    if files > 1:
        raise refuse(
            "ranks", f"{asked.ranks} differs from the number of ranks in `{trace.name}`, {files}; leave the option out"
        )
    if len(_named(trace)) > 1:
        raise refuse("ranks", f"`{trace.name}` is of one rank and has several groups; it takes the traces of all ranks")
    return asked.ranks


def _named(trace: Trace) -> set[str]:
    """The groups that the trace's collectives name."""
    return {group_of(node) for nodes in trace.ranks for node in nodes if is_collective(node)} - {ALL}


def _groups(field: str, trace: Trace, ranks: int, asked: Asked) -> dict[str, tuple[int, ...]]:
    """Ranks by the name of the group that collectives have; collectives without a name have all ranks."""
    everyone = tuple(range(ranks))
    if len(trace.ranks) == 1:
        if asked.ranks is None and not trace.groups and any(map(is_collective, trace.ranks[0])):
            why = f"`{trace.name}` is the trace of one rank and has collectives"
            raise missing("ranks", why, f"the number of ranks that run this trace, {LEAST_RANKS} to {MOST_RANKS}")
        if ranks > 1:
            return dict.fromkeys({ALL, *_named(trace)}, everyone)
    unknown = sorted(_named(trace) - trace.groups.keys())
    if unknown:
        why = f"collectives of `{trace.name}` name the group {shown(unknown[0])}, whose ranks the trace does not list"
        raise missing("comm_groups", why, 'a JSON file such as {"5": [0, 2]}')
    if ALL in trace.groups and trace.groups[ALL] != everyone:
        raise refuse(field, f"`{trace.name}` has a group `{ALL}` that is not all ranks; it takes another name")
    return {**trace.groups, ALL: everyone}


def _nodes(
    field: str, trace: Trace, whole: Joined, groups: dict[str, tuple[int, ...]], asked: Asked
) -> list[dict[str, Any]]:
    """The nodes of the workload, each after all that it waits for."""
    labels = [_label(trace, node.places[0]) for node in whole.nodes]
    made = []
    for index in whole.order:
        node = whole.nodes[index]
        rank, place = node.places[0]
        read = trace.ranks[rank][place]
        stated: dict[str, Any] = {"id": labels[index]}
        if node.message is not None:
            destination = node.message.receive[0]
            size = node.message.size_bytes * (asked.element_bytes or 1)
            stated |= {"kind": "send", "source": rank, "destination": destination, "size_bytes": size}
        elif read.kind == NodeType.COLLECTIVE and read.attributes.get("comm_type") != CollectiveType.BARRIER:
            members = groups[node.group]
            stated |= {"kind": "collective", "collective": _collective(field, trace, node.places[0])}
            stated |= {"axis": ALL} if whole.same_at_all or node.group == ALL else {"group": node.group}
            size = whole_attribute(field, rank, read, "comm_size")
            stated["size_bytes"] = _buffer(stated["collective"], size, len(members), asked)
        else:
            stated |= {"kind": "compute", "duration_s": read.duration_us / 1e6}
            if read.kind == NodeType.COLLECTIVE:
                stated |= {"ranks": list(groups[node.group]), "duration_s": 0.0}
            elif not whole.same_at_all:
                stated["ranks"] = [rank]
        made.append({**stated, "after": [labels[before] for before in sorted(whole.waits[index])]})
    return made


def _label(trace: Trace, place: tuple[int, int]) -> str:
    node = trace.node(place)
    return f"{place[0]}.{node.id} {node.name[:MOST_NAME]}".rstrip()


def _collective(field: str, trace: Trace, place: tuple[int, int]) -> str:
    kind = trace.node(place).attributes.get("comm_type")
    if not isinstance(kind, int) or kind not in COLLECTIVES:
        known = ", ".join(f"{int(one)} ({name})" for one, name in COLLECTIVES.items())
        raise refuse(field, f"{trace.at(place)} has comm_type `{shown(kind)}`; schedules are planned for {known}")
    return COLLECTIVES[CollectiveType(kind)]


def _buffer(collective: str, size: int, ranks: int, asked: Asked) -> int:
    """Bytes of the whole buffer, as `size_bytes` counts them, from the trace's sizes."""
    if asked.comm_size is None:
        why = "the trace does not state whether comm_size is a rank's input, its output or the whole buffer"
        raise missing("comm_size", why, ", ".join(COMM_SIZES))
    if asked.element_bytes is None:
        why = "the trace does not state whether comm_size counts bytes or elements"
        raise missing("element_bytes", why, "1 where it counts bytes, else the bytes of an element")
    shares = ranks if SHARES.get(collective) == asked.comm_size else 1
    return size * asked.element_bytes * shares

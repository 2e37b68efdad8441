"""The workload of a trace whose ranks were joined into one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown
from lightloom.formats.chakra.joint_graph import ALL, blocks_of, joined
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.chakra.trace import whole_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lightloom.formats.chakra.joint_graph import Joined, JoinedNode
    from lightloom.formats.chakra.trace import Trace

__all__ = ["COLLECTIVES", "document"]

COLLECTIVES = {
    CollectiveType.ALL_REDUCE: "all-reduce",
    CollectiveType.ALL_GATHER: "all-gather",
    CollectiveType.BROADCAST: "broadcast",
    CollectiveType.ALL_TO_ALL: "all-to-all",
    CollectiveType.REDUCE_SCATTER: "reduce-scatter",
    CollectiveType.REDUCE_SCATTER_BLOCK: "reduce-scatter",
    CollectiveType.REDUCE: "reduce",
    CollectiveType.GATHER: "gather",
    CollectiveType.SCATTER: "scatter",
}
MOST_NAME = 60


def document(
    field: str,
    trace: Trace,
    ranks: int,
    groups: Mapping[str, tuple[int, ...]],
    buffer: Callable[[str, int, int], int],
    element_bytes: int = 1,
) -> dict[str, Any]:
    """The workload of ranks that run this trace, in the form of its JSON.

    ranks: their number; if the trace has only one rank, that rank stands for all of them. groups: the ranks of each
    group, by its name. buffer: bytes of the whole buffer of a collective, by its kind, the size that the trace states
    and the number of its ranks. element_bytes: bytes of what sizes of messages count. Raises `InputError` that names
    `field` where ranks do not fit together, or nothing is left of their nodes.
    """
    whole = joined(field, trace, groups, same_at_all=ranks > len(trace.ranks))
    if not whole.nodes:
        raise refuse(field, f"`{trace.name}` has no computation of GPUs, no collectives and no messages")
    matrices: dict[tuple[tuple[int, ...], ...], str] = {}
    nodes = _nodes(field, trace, whole, groups, buffer, element_bytes, matrices)
    used = {node["group"] for node in nodes if "group" in node}
    return {
        "schema": "lightloom.workload/1",
        "name": trace.name,
        "ranks": ranks,
        "mesh": {ALL: ranks} if any(node.get("axis") == ALL for node in nodes) else {},
        "groups": {name: list(members) for name, members in groups.items() if name in used},
        **({"matrices": {name: [list(row) for row in rows] for rows, name in matrices.items()}} if matrices else {}),
        "nodes": nodes,
    }


def _nodes(
    field: str,
    trace: Trace,
    whole: Joined,
    groups: Mapping[str, tuple[int, ...]],
    buffer: Callable[[str, int, int], int],
    element_bytes: int,
    matrices: dict[tuple[tuple[int, ...], ...], str],
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
            size = node.message.size_bytes * element_bytes
            stated |= {"kind": "send", "source": rank, "destination": destination, "size_bytes": size}
        elif read.kind == NodeType.COLLECTIVE and read.attributes.get("comm_type") != CollectiveType.BARRIER:
            members = groups[node.group]
            stated |= {"kind": "collective", "collective": _collective(field, trace, node.places[0])}
            stated |= {"axis": ALL} if whole.same_at_all or node.group == ALL else {"group": node.group}
            if blocks_of(read) is None:
                size = whole_attribute(field, rank, read, "comm_size")
                stated["size_bytes"] = buffer(stated["collective"], size, len(members))
            else:
                stated |= _of_blocks(trace, node, matrices)
        else:
            stated |= {"kind": "compute", "duration_s": read.duration_us / 1e6}
            if read.kind == NodeType.COLLECTIVE:
                stated |= {"ranks": list(groups[node.group]), "duration_s": 0.0}
            elif not whole.same_at_all:
                stated["ranks"] = [rank]
        made.append({**stated, "after": [labels[before] for before in sorted(whole.waits[index])]})
    return made


def _of_blocks(trace: Trace, node: JoinedNode, matrices: dict[tuple[tuple[int, ...], ...], str]) -> dict[str, Any]:
    """The size of an All-to-All of unequal blocks, and its matrix, whose name is in `matrices` by its rows."""
    rows = tuple(blocks_of(trace.node(place)) or () for place in node.places)
    if len({size for row in rows for size in row}) == 1:
        return {"size_bytes": sum(rows[0])}
    busiest = max(*map(sum, rows), *map(sum, zip(*rows, strict=True)))
    return {"matrix": matrices.setdefault(rows, f"blocks {len(matrices)}"), "size_bytes": busiest}


def _label(trace: Trace, place: tuple[int, int]) -> str:
    node = trace.node(place)
    return f"{place[0]}.{node.id} {node.name[:MOST_NAME]}".rstrip()


def _collective(field: str, trace: Trace, place: tuple[int, int]) -> str:
    kind = trace.node(place).attributes.get("comm_type")
    if not isinstance(kind, int) or kind not in COLLECTIVES:
        known = ", ".join(f"{int(one)} ({name})" for one, name in COLLECTIVES.items())
        raise refuse(field, f"{trace.at(place)} has comm_type `{shown(kind)}`; it takes {known}")
    return COLLECTIVES[CollectiveType(kind)]

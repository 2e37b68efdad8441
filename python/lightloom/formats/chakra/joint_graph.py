"""The nodes of all ranks' Chakra traces as one graph, and what each waits for.

- The k-th collective that each rank of a group calls is one node. A rank calls them in the order in which it comes to
  its nodes: after what they wait for, the smaller number first. They must be of one kind and size.
- A message is one node, which waits for what its send waits for. Nodes that wait for the receive wait for the message,
  and for what the receive waited for.
- Nodes of a GPU that state a stream (`tid`) run on it in the order in which the rank comes to them.
- An operator of a CPU that a GPU's node waits for first has launched it (so Chakra's converter of PyTorch traces writes
  it). Any other operator that a node waits for has made data: the node waits for what that operator has launched on
  GPUs, or where it has launched nothing, for what the operator itself waited for.

Only the last of several nodes on a stream is waited for, so that the list of each node left out is short: all in all
time and memory grow with the dependencies times the streams, and more than `MOST_WAITS` is refused.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse, shown
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.chakra.trace import whole_attribute
from lightloom.formats.node_order import in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lightloom.formats.chakra.files import Node
    from lightloom.formats.chakra.trace import Message, Place, Trace

__all__ = ["ALL", "BLOCKS", "Joined", "JoinedNode", "blocks_of", "group_of", "is_collective", "joined"]

COMPUTATION = {NodeType.COMPUTE, NodeType.MEMORY_LOAD, NodeType.MEMORY_STORE}
# Dependencies that are followed, and that are kept.
MOST_WORK, MOST_WAITS = 1 << 26, 1 << 22
NONE = -1
# The group of collectives that name no group.
ALL = "all"
# The attribute of an All-to-All with the bytes of its blocks, where they differ.
BLOCKS = "lightloom_blocks"

# A rank, and its stream or, without one, only the node.
Stream = tuple[int, str, int | str]
# Last nodes to wait for: by stream the place in the rank's order, and the node.
Ends = dict[Stream, tuple[int, int]]


class JoinedNode(NamedTuple):
    """A node of the whole graph.

    places: the nodes of traces that it stands for, of a message only the send; group: of a collective, else empty.
    """

    places: tuple[Place, ...]
    group: str = ""
    message: Message | None = None


class Joined(NamedTuple):
    """The graph. waits: by node the nodes that it waits for; order: nodes, each after these.

    same_at_all: whether the trace is of one rank and stands for all.
    """

    nodes: list[JoinedNode]
    waits: list[set[int]]
    order: list[int]
    same_at_all: bool


def joined(field: str, trace: Trace, groups: Mapping[str, tuple[int, ...]], *, same_at_all: bool) -> Joined:
    """The graph of a trace. Raises `InputError` that names `field`: collectives that do not match, or a cycle."""
    nodes = [
        *(JoinedNode((place,)) for place in _computation(trace)),
        *_collectives(field, trace, groups, same_at_all),
        *(JoinedNode((message.send,), "", message) for message in trace.messages if message.size_bytes),
    ]
    waits = _Waits(field, trace, nodes).found()
    first = [(trace.node(node.places[0]).id, node.places[0][0]) for node in nodes]
    order = in_order(field, waits, first, lambda index: trace.at(nodes[index].places[0]))
    return Joined(nodes, waits, order, same_at_all)


def is_left_to_cpu(node: Node) -> bool:
    """Whether the node is an operator of a CPU."""
    return bool(node.attributes.get("is_cpu_op"))


def is_collective(node: Node) -> bool:
    """Whether the node is a collective that a GPU runs."""
    return node.kind == NodeType.COLLECTIVE and not is_left_to_cpu(node)


def group_of(node: Node) -> str:
    """The group that a collective names, or `ALL`."""
    name = node.attributes.get("pg_name")
    return name if isinstance(name, str) and name else ALL


def blocks_of(node: Node) -> tuple[int, ...] | None:
    """Bytes that an All-to-All of unequal blocks sends to each rank of its group; None of any other collective.

    Readers of other formats make such nodes, which then have no `comm_size`: Chakra's traces have no place for them.
    """
    blocks = node.attributes.get(BLOCKS)
    return blocks if isinstance(blocks, tuple) else None


def _computation(trace: Trace) -> Iterable[Place]:
    for rank, order in enumerate(trace.order):
        for place in order:
            node = trace.ranks[rank][place]
            if node.kind in COMPUTATION and not is_left_to_cpu(node):
                yield rank, place


def _collectives(
    field: str, trace: Trace, groups: Mapping[str, tuple[int, ...]], same_at_all: bool
) -> Iterable[JoinedNode]:
    called: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for rank, order in enumerate(trace.order):
        for place in order:
            node = trace.ranks[rank][place]
            if is_collective(node):
                called[group_of(node)][rank].append(place)
    for group, by_rank in called.items():
        members = (0,) if same_at_all else groups[group]
        stranger = next((rank for rank in by_rank if rank not in members), None)
        if stranger is not None:
            where = trace.at((stranger, by_rank[stranger][0]))
            raise refuse(field, f"{where} is of group {shown(group)}, which rank {stranger} is not in")
        counts = [len(by_rank[rank]) for rank in members]
        for k in range(max(counts)):
            lacking = next((rank for rank, count in zip(members, counts, strict=True) if count <= k), None)
            places = tuple((rank, by_rank[rank][k]) for rank in members if k < len(by_rank[rank]))
            if lacking is not None:
                raise refuse(
                    field,
                    f"{trace.at(places[0])} is collective {k + 1} of group {shown(group)}, but rank {lacking} "
                    f"calls only {len(by_rank[lacking])} collectives of the group",
                )
            moves = _check_same(field, trace, places, group, k)
            if moves and len(groups[group]) > 1:
                yield JoinedNode(places, group)


def _check_same(field: str, trace: Trace, places: Sequence[Place], group: str, k: int) -> bool:
    """Refuse a collective whose ranks do not agree on it; whether it moves bytes between ranks, or is a barrier."""
    stated = []
    for place in places:
        node = trace.node(place)
        size = whole_attribute(field, place[0], node, "comm_size", 0)
        stated.append((node.attributes.get("comm_type"), size))
    for place, one in zip(places, stated, strict=True):
        if one != stated[0]:
            raise refuse(
                field,
                f"collective {k + 1} of group {shown(group)} differs between ranks: {trace.at(places[0])} has "
                f"comm_type {shown(stated[0][0])} and comm_size {stated[0][1]}, {trace.at(place)} {shown(one[0])} and "
                f"{one[1]}",
            )
    if stated[0][1] > 0 or stated[0][0] == CollectiveType.BARRIER:
        return True
    rows = [blocks_of(trace.node(place)) or () for place in places]
    return any(size for own, row in enumerate(rows) for to, size in enumerate(row) if to != own)


class _Waits:
    """The nodes that each node of the graph waits for, found along `trace.progress`."""

    def __init__(self, field: str, trace: Trace, nodes: list[JoinedNode]) -> None:
        self._field, self._trace = field, trace
        self._work, self._held = MOST_WORK, MOST_WAITS
        self._waits: list[set[int]] = [set() for _ in nodes]
        self._kept = {place: index for index, node in enumerate(nodes) for place in node.places}
        self._position = [{place: at for at, place in enumerate(order)} for order in trace.order]
        self._sent_by = {message.receive: message.send for message in trace.messages}
        # By stream: places in the rank's order, and the nodes there.
        self._streams: dict[Stream, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        self._launched: dict[Place, list[Place]] = defaultdict(list)
        for rank, order in enumerate(trace.order):
            for at, place in enumerate(order):
                index = self._kept.get((rank, place))
                if index is None:
                    continue
                on_stream = self._streams[self._stream((rank, place), index)]
                on_stream[0].append(at)
                on_stream[1].append(index)
                launcher = self._launcher((rank, place))
                if launcher is not None:
                    self._launched[launcher].append((rank, place))
        self._left_out: dict[Place, Ends] = {}

    def found(self) -> list[set[int]]:
        """By node the nodes that it waits for. Raises `InputError` where that is too much."""
        for place in self._trace.progress:
            ends = self._before(place)
            index = self._kept.get(place)
            if index is None:
                self._left_out[place] = ends
            else:
                self._keep(place, index, ends)
        return self._waits

    def _keep(self, place: Place, index: int, ends: Ends) -> None:
        at, waits = self._position[place[0]][place[1]], self._waits[index]
        before = len(waits)
        self._spend(len(ends), 0)
        for stream, (end_at, end) in ends.items():
            # A node does not wait for nodes that its rank launched later; places in different ranks do not compare.
            is_earlier = stream[0] != place[0] or end_at < at
            waits.add(end if is_earlier else self._last_before(stream, at))
        waits.add(self._last_before(self._stream(place, index), at))
        waits -= {NONE, index}
        self._spend(0, len(waits) - before)

    def _before(self, place: Place) -> Ends:
        """The ends that the node waits for, by stream."""
        rank = place[0]
        launcher = self._launcher(place) if place in self._kept else None
        parts = []
        for number in self._trace.node(place).after:
            other = rank, self._trace.places[rank][number]
            parts.append(self._left_out[other] if other == launcher else self._ends_of(other))
        if place in self._sent_by:
            parts.append(self._ends_of(self._sent_by[place]))
        return self._merged(parts)

    def _ends_of(self, place: Place) -> Ends:
        """The ends that nodes waiting for the node must wait for."""
        index = self._kept.get(place)
        if index is not None:
            return {self._stream(place, index): (self._position[place[0]][place[1]], index)}
        launched = self._launched.get(place)
        return self._merged([self._ends_of(one) for one in launched]) if launched else self._left_out[place]

    def _merged(self, parts: list[Ends]) -> Ends:
        if len(parts) == 1:
            return parts[0]
        ends: Ends = {}
        for part in parts:
            self._spend(1 + len(part), 0)
            for stream, end in part.items():
                if stream not in ends or end > ends[stream]:
                    ends[stream] = end
        self._spend(0, len(ends))
        return ends

    def _spend(self, work: int, held: int) -> None:
        self._work -= work
        self._held -= held
        if self._work < 0 or self._held < 0:
            name = self._trace.name
            raise refuse(self._field, f"`{name}` has too many dependencies through nodes that are left out")

    def _last_before(self, stream: Stream, at: int) -> int:
        places, nodes = self._streams[stream]
        found = bisect_left(places, at)
        return nodes[found - 1] if found else NONE

    def _stream(self, place: Place, index: int) -> Stream:
        stream = self._trace.node(place).attributes.get("tid")
        return (place[0], "", index) if not isinstance(stream, int | str) else (place[0], "tid", stream)

    def _launcher(self, place: Place) -> Place | None:
        """The operator of a CPU that launched a node of a GPU."""
        node = self._trace.node(place)
        if not node.after or is_left_to_cpu(node):
            return None
        first = place[0], self._trace.places[place[0]][node.after[0]]
        return first if is_left_to_cpu(self._trace.node(first)) else None

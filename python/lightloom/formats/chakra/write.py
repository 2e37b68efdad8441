"""Chakra execution traces: one file a rank, with a send and a receive for every hop.

Data that takes several hops is received and sent on by the GPUs between, as on the circuits of a plan, so that every
message goes along one circuit. Dependencies (`data_deps`):

- A rank comes to the sends and receives of a step when all is done that it does in the steps before.
- Data that is sent on was received.
- Data that arrives is added, or replaces data that is sent, once it has arrived and the replaced data was sent: a node
  of computation that takes no time.

Where a rank ends a step in many nodes and begins the next with many, one node of computation stands between.

Tags are numbers from 0, one a message, so that each pairs one send with one receive. Attributes whose names begin with
`lightloom_` say what a trace has no place for: steps, chunks, and whether they are added. Other tools pass over them.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from lightloom.formats.chakra.files import Node, written
from lightloom.formats.chakra.schema import NodeType, messages
from lightloom.formats.chakra.statement import SCHEMA
from lightloom.formats.output import Exported
from lightloom.formats.parcels import Arc, Parcel, arcs_of
from lightloom.formats.side_files import side_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.formats.chakra.files import Value
    from lightloom.plans import Plan

__all__ = ["export", "rank_files"]

SIDE_FILE = "circuits.json"


def export(plan: Plan) -> Exported:
    """The folder of a plan: `COLLECTIVE.RANK.et` for every rank, and the side file.

    Raises `InputError` that names `plan` where it does not verify or has more hops than are written out, `chakra` where
    the package `protobuf` is missing.
    """
    files = {f"{plan.collective}.{rank}.et": content for rank, content in enumerate(rank_files(plan))}
    return Exported({**files, SIDE_FILE: side_file(plan, "chakra")}, SIDE_FILE)


def rank_files(plan: Plan, steps: list[list[Arc]] | None = None) -> list[bytes]:
    """The content of the file of every rank, of the arcs of these steps or of the plan; errors as for `export`."""
    messages()
    ranks = [_Rank(rank) for rank in range(plan.gpus)]
    tags = count()
    for step, arcs in enumerate(arcs_of(plan) if steps is None else steps):
        for rank in ranks:
            rank.begin(step)
        _add_step(ranks, arcs, tags)
        for rank in ranks:
            rank.end()
    attributes = _of_all(plan)
    return [written(attributes, rank.nodes) for rank in ranks]


class _Hop(NamedTuple):
    """One hop of a parcel; `place` counts it among the hops of the parcel."""

    tag: int
    arc: Arc
    parcel: Parcel
    place: int

    @property
    def source(self) -> int:
        return self.parcel.gpus[self.place]

    @property
    def destination(self) -> int:
        return self.parcel.gpus[self.place + 1]


def _add_step(ranks: list[_Rank], arcs: list[Arc], tags: Iterator[int]) -> None:
    """Add the nodes of one step to all ranks: own sends, receives, forwarded data, and the end of the step."""
    hops = [
        _Hop(next(tags), arc, parcel, place)
        for arc in arcs
        for parcel in arc.parcels
        for place in range(len(parcel.gpus) - 1)
    ]
    sends: dict[int, list[tuple[Arc, int]]] = defaultdict(list)
    for hop in hops:
        if hop.place == 0:
            sends[hop.source].append((hop.arc, ranks[hop.source].send(hop, ())))
    received = {hop.tag: ranks[hop.destination].receive(hop) for hop in hops}
    for hop in hops:
        if hop.place > 0:
            ranks[hop.source].send(hop, (received[hop.tag - 1],))
    arrived: dict[tuple[int, int], list[int]] = defaultdict(list)
    for hop in hops:
        if hop.destination == hop.arc.destination:
            arrived[hop.arc.source, hop.arc.destination].append(received[hop.tag])
    added: dict[tuple[int, int], int] = {}
    summed = {(arc.destination, chunk) for arc in arcs for chunk in arc.reduced}
    for arc in arcs:
        rank = arc.destination
        changed = {*arc.copied, *arc.reduced}
        read = [node for own, node in sends[rank] if not changed.isdisjoint((*own.copied, *own.reduced))]
        if not (arc.reduced or read or any((rank, chunk) in summed for chunk in arc.copied)):
            continue
        # Two sums into one chunk come one after the other, and both after what they are added to.
        before = {added[rank, chunk] for chunk in arc.reduced if (rank, chunk) in added}
        node = ranks[rank].compute(arc, (*arrived[arc.source, rank], *read, *sorted(before)))
        added.update(((rank, chunk), node) for chunk in (*arc.copied, *arc.reduced))


class _Rank:
    """The graph of one rank, as it grows."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.nodes: list[Node] = []
        self._step = 0
        self._first = 0
        # The ends of the last step in which the rank had something to do.
        self._before: tuple[int, ...] = ()

    def begin(self, step: int) -> None:
        self._step, self._first = step, len(self.nodes)

    def send(self, hop: _Hop, after: tuple[int, ...]) -> int:
        arc, verb = hop.arc, "forward" if after else "send"
        chunks: dict[str, Value] = {}
        if hop.place == 0:
            chunks = {"lightloom_copied": arc.copied, "lightloom_reduced": arc.reduced}
        return self._add(f"{verb} to {hop.destination}", NodeType.SEND, after, {**_of_hop(hop), **chunks})

    def receive(self, hop: _Hop) -> int:
        return self._add(f"receive from {hop.source}", NodeType.RECEIVE, (), _of_hop(hop))

    def compute(self, arc: Arc, after: tuple[int, ...]) -> int:
        verb = "add" if arc.reduced else "keep"
        attributes: dict[str, Value] = {"num_ops": 0, "tensor_size": arc.size_bytes, "lightloom_source": arc.source}
        return self._add(f"{verb} what {arc.source} sent", NodeType.COMPUTE, after, attributes)

    def end(self) -> None:
        """Let everything in the step that has no node before it wait for the ends of the steps before."""
        own = self.nodes[self._first :]
        if not own:
            return
        begins = [place for place in range(self._first, len(self.nodes)) if not self.nodes[place].after]
        followed = {before for node in own for before in node.after}
        if len(begins) * len(self._before) > len(begins) + len(self._before):
            # Fewer dependencies through one node than from each to each.
            self._before = (self._between(),)
        for place in begins:
            self.nodes[place] = self.nodes[place]._replace(after=self._before)
        self._before = tuple(node.id for node in own if node.id not in followed)

    def _between(self) -> int:
        attributes: dict[str, Value] = {"num_ops": 0, "tensor_size": 0, "lightloom_step": self._step}
        self.nodes.append(
            Node(len(self.nodes), f"step {self._step}: begin", NodeType.COMPUTE, self._before, 0, {**CPU, **attributes})
        )
        return self.nodes[-1].id

    def _add(self, name: str, kind: NodeType, after: tuple[int, ...], attributes: dict[str, Value]) -> int:
        own: dict[str, Value] = {**CPU, **attributes, "lightloom_step": self._step}
        self.nodes.append(Node(len(self.nodes), f"step {self._step}: {name}", kind, after, 0, own))
        return self.nodes[-1].id


CPU: dict[str, Value] = {"is_cpu_op": False}


def _of_hop(hop: _Hop) -> dict[str, Value]:
    """The attributes that the send and the receive of a hop share."""
    return {
        "comm_src": hop.source,
        "comm_dst": hop.destination,
        "comm_size": hop.parcel.size_bytes,
        "comm_tag": hop.tag,
        "lightloom_source": hop.arc.source,
        "lightloom_destination": hop.arc.destination,
        "lightloom_first_byte": hop.parcel.first_byte,
    }


def _of_all(plan: Plan) -> dict[str, Value]:
    """The attributes of the whole trace."""
    chunks = plan.chunks()
    attributes: dict[str, Value] = {
        "schema": "1.0.2-chakra.0.0.4",
        "collective": plan.collective,
        "lightloom_schema": SCHEMA,
        "lightloom_algorithm": plan.algorithm,
        "lightloom_size_bytes": plan.size_bytes,
    }
    if chunks.per_buffer is not None:
        attributes["lightloom_chunks"] = chunks.per_buffer
        if plan.root is not None:
            attributes["lightloom_root"] = plan.root
    else:
        attributes["lightloom_chunk_sources"] = tuple(chunks.source.tolist())
        attributes["lightloom_chunk_destinations"] = tuple(chunks.destination.tolist())
        attributes["lightloom_chunk_shares"] = tuple((chunks.size_bytes / plan.size_bytes).tolist())
    return attributes

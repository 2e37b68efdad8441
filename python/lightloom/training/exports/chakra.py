"""Training iterations as Chakra execution traces: for every rank what it computes, and the communication it is in.

Collectives are nodes of their own, whose schedules are the traces of their plans; `pg_name` is their group, whose ranks
`ranks.json` lists. Dependencies (`data_deps`) of a node on its rank:

- The nodes that it waits for in the workload. Where the rank is in none of such a node, those that that node waits for.
- The computation before it on the rank, and the communication before it on its ports, as the iteration has them in
  order.

Sizes are bytes of the whole buffer of a rank (`--comm-size buffer --element-bytes 1` reads them back), durations whole
microseconds, as the schema has them. Attributes whose names begin with `lightloom_` say what a trace has no place for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse
from lightloom.formats.chakra.files import Node, Value, written
from lightloom.formats.chakra.schema import CollectiveType, NodeType, messages
from lightloom.training.exports.iterations import plan_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.training.result import Event, Training

__all__ = ["ITERATION", "graph_files"]

NAME = "ranks"
# The attribute of the whole trace that says that it is of an iteration, not of one collective.
ITERATION = "lightloom_iteration_s"
# Nodes of all ranks, as many as are read back.
MOST_NODES = 1 << 20
COLLECTIVES = {
    "all-reduce": CollectiveType.ALL_REDUCE,
    "all-gather": CollectiveType.ALL_GATHER,
    "broadcast": CollectiveType.BROADCAST,
    "all-to-all": CollectiveType.ALL_TO_ALL,
    "reduce-scatter": CollectiveType.REDUCE_SCATTER,
    "reduce": CollectiveType.REDUCE,
    "gather": CollectiveType.GATHER,
    "scatter": CollectiveType.SCATTER,
}


def graph_files(training: Training) -> dict[str, bytes]:
    """The files `ranks.RANK.et`, and `ranks.json` with the ranks of every group.

    Raises `InputError` that names `plan` where there are more nodes than are read back, `chakra` where the package
    `protobuf` is missing.
    """
    messages()
    nodes = sum(len(event.ranks) * (2 if event.kind == "send" else 1) for event in training.events)
    if nodes > MOST_NODES:
        raise refuse("plan", f"its ranks have {nodes} nodes together; at most {MOST_NODES} are written")
    graph = _Graph(training)
    # Events in the order of time, which no dependency contradicts.
    for index in sorted(range(len(training.events)), key=lambda index: _when(training.events[index], index)):
        graph.add(index)
    attributes: dict[str, Value] = {"schema": "1.0.2-chakra.0.0.4", ITERATION: training.total_s}
    files = {f"{NAME}.{rank}.et": written(attributes, made) for rank, made in enumerate(graph.ranks)}
    groups = {name: list(ranks) for ranks, name in graph.groups.items()}
    return {**files, f"{NAME}.json": (json.dumps(groups) + "\n").encode()}


def _when(event: Event, index: int) -> tuple[float, float, int]:
    return event.start_s, event.end_s, index


class _Graph:
    """The graphs of all ranks, as they grow."""

    def __init__(self, training: Training) -> None:
        self.ranks: list[list[Node]] = [[] for _ in range(training.ranks)]
        # Names of groups by their ranks.
        self.groups: dict[tuple[int, ...], str] = {}
        self._training = training
        self._places = {event.node: index for index, event in enumerate(training.events)}
        # By event and rank its nodes, or where the rank is not in it the nodes that stand for it.
        self._ends: list[dict[int, tuple[int, ...]]] = [{} for _ in training.events]
        # By rank, and by rank and port, the nodes that used it last; by stream and rank the last collective.
        self._computed: dict[int, tuple[int, ...]] = {}
        self._used: dict[tuple[int, int], tuple[int, ...]] = {}
        self._streams: dict[tuple[str, int], tuple[int, ...]] = {}
        self._tag = 0

    def add(self, index: int) -> None:
        """Add the nodes of an event to its ranks."""
        event, node = self._training.events[index], self._training.nodes[index]
        if event.kind == "collective":
            for group in self._training.members.groups_of(node):
                name = self.groups.setdefault(group, f"{event.label}-{len(self.groups)}")
                for rank in group:
                    self._add(index, rank, NodeType.COLLECTIVE, self._of_collective(index, name))
        elif event.kind == "send":
            for source, destination in self._training.members.pairs_of(node):
                shared: dict[str, Value] = {"comm_src": source, "comm_dst": destination, "comm_tag": self._tag}
                shared["comm_size"] = int(node["size_bytes"])
                self._add(index, source, NodeType.SEND, shared)
                self._add(index, destination, NodeType.RECEIVE, shared)
                self._tag += 1
        else:
            for rank in event.ranks:
                self._add(index, rank, NodeType.COMPUTE, {"num_ops": 0, "tensor_size": 0})
        for rank in event.ranks:
            self._use(index, rank)

    def _of_collective(self, index: int, name: str) -> dict[str, Value]:
        event, node = self._training.events[index], self._training.nodes[index]
        assert event.plan is not None  # noqa: S101 (a collective has a plan)
        return {
            "comm_type": int(COLLECTIVES[node["collective"]]),
            "comm_size": int(node["size_bytes"]),
            "pg_name": name,
            "lightloom_plan": plan_name(event.plan),
            "lightloom_ports": event.ports,
        }

    def _add(self, index: int, rank: int, kind: NodeType, attributes: dict[str, Value]) -> None:
        event = self._training.events[index]
        own = self.ranks[rank]
        after = {before for name in self._training.nodes[index]["after"] for before in self._at(name, rank)}
        if kind == NodeType.COMPUTE:
            after.update(self._computed.get(rank, ()))
        for port in event.ports:
            after.update(self._used.get((rank, port), ()))
        if (stream := self._training.nodes[index].get("stream")) is not None:
            after.update(self._streams.get((stream, rank), ()))
        duration_us = round((event.end_s - event.start_s) * 1e6) if kind == NodeType.COMPUTE else 0
        told: dict[str, Value] = {"is_cpu_op": False, **attributes, "lightloom_start_s": event.start_s}
        own.append(Node(len(own), event.node, kind, tuple(sorted(after)), duration_us, told))
        made = self._ends[index]
        made[rank] = (*made.get(rank, ()), own[-1].id)

    def _use(self, index: int, rank: int) -> None:
        """Note what a rank has done last, once all nodes of the event are there."""
        event, ends = self._training.events[index], self._ends[index][rank]
        if event.kind == "compute":
            self._computed[rank] = ends
        for port in event.ports:
            self._used[rank, port] = ends
        if (stream := self._training.nodes[index].get("stream")) is not None:
            self._streams[stream, rank] = ends

    def _at(self, name: str, rank: int) -> Sequence[int]:
        """The nodes of an event at a rank; if it has none, the rank's nodes of the events that this one waits for."""
        pending = [self._places[name]]
        found: list[int] = []
        seen: set[int] = set()
        while pending:
            index = pending.pop()
            if (ends := self._ends[index].get(rank)) is not None:
                found += ends
            elif index not in seen:
                seen.add(index)
                pending += [self._places[before] for before in self._training.nodes[index]["after"]]
        return found

"""TopoOpt's task graphs: the FlatBuffers that its FlexFlow writes and its htsim runs (hipersys-team/TopoOpt).

The fields that are read, by index. Root: 0 GPUs of a node, 1 nodes, 2 switches, 8 tasks, 9 devices. Task: 0 type, 1 id,
2 device, 3 run time, 4 bytes, 5 ids of the tasks that follow. Device: 0 type, 1 id, 3 property. Their meaning is what
TopoOpt's writer and simulator do with them (`get_taskgraph_flatbuf`, ffapp.cpp), and holds for a published file:

- Ranks are GPUs. A device for computation has its GPU's number as property; the tasks on it (forward, backward, update)
  are computation of that rank.
- An AllReduce has no device: the field of the tasks that follow has the GPUs of its group, and nothing
  waits for it. Its own run time, which the writer estimated for a network, is not read.
- A communication task on a device of the network (types 13 and 14) is a message between nodes: the property is source ×
  (nodes + switches) + destination. Such tasks are read where a node has one GPU.
- Barriers and copies within a node take no time here; tasks that follow them wait for the tasks that they waited for.

The file has no unit of run times; it must be given (TopoOpt's simulator takes them for milliseconds). Operators,
connections, routes and bandwidths of the network are not read: the fabric is given apart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse
from lightloom.formats.node_order import in_order, passed_on
from lightloom.formats.topoopt.flatbuffer import Buffer, damage_refused
from lightloom.formats.workload_options import MOST_RANKS, TIME_UNITS, Asked, missing

if TYPE_CHECKING:
    from lightloom.formats.source import Source

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS = frozenset({"time_unit"})
SUFFIX = ".fbuf"
TYPES = ("forward", "backward", "communication", "update", "barrier", "communication", "all-reduce")
COMPUTATION, ALL_REDUCE, COMMUNICATION = {0, 1, 3}, 6, {2, 5}
# Types of devices.
COMPUTING, NETWORK = {0, 1}, {13, 14}
MOST_TASKS = MOST_DEVICES = 1 << 19
# The axis of AllReduces of all ranks.
ALL = "all"


class Task(NamedTuple):
    """A task as it stands in the file."""

    type: int
    id: int
    device: int
    run_time: float
    size_bytes: int
    following: tuple[int, ...]


class Graph(NamedTuple):
    """The parts of the file that are read. devices: type and property by id."""

    gpus_of_node: int
    nodes: int
    switches: int
    tasks: list[Task]
    devices: dict[int, tuple[int, int]]


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return not source.is_folder and source.path.suffix == SUFFIX


def read(source: Source, asked: Asked) -> dict[str, Any]:
    """The workload. Raises `InputError` that names the field, or the option that is missing."""
    field = source.field
    with damage_refused(field, f"`{source.path}` is not a task graph of TopoOpt, or a damaged one"):
        graph = _graph(field, source.content)
    if asked.time_unit is None:
        raise missing("time_unit", "the file does not state the unit of run times", ", ".join(TIME_UNITS))
    ranks = graph.gpus_of_node * graph.nodes
    if not 1 <= ranks <= MOST_RANKS:
        said = f"{graph.nodes} nodes of {graph.gpus_of_node} GPUs"
        raise refuse(field, f"it has {said}; 1 to {MOST_RANKS} GPUs are read")
    groups: dict[tuple[int, ...], str] = {}
    made = [
        _node(f"{field}.tasks[{index}]", task, graph, ranks, groups, TIME_UNITS[asked.time_unit])
        for index, task in enumerate(graph.tasks)
    ]
    if not any(made):
        raise refuse(field, "it has no computation and no communication")
    waits = passed_on(field, _waits(field, graph.tasks), [node is None for node in made])
    labels = [f"{index}.{TYPES[task.type]}" for index, task in enumerate(graph.tasks)]
    order = in_order(field, waits, [(index,) for index in range(len(made))], lambda index: f"task {index}")
    nodes = [
        {"id": labels[index], **node, "after": [labels[before] for before in sorted(waits[index])]}
        for index in order
        if (node := made[index]) is not None
    ]
    return {
        "schema": "lightloom.workload/1",
        "name": source.path.stem,
        "ranks": ranks,
        "mesh": {ALL: ranks} if any("axis" in node for node in nodes) else {},
        "groups": {name: list(members) for members, name in groups.items()},
        "nodes": nodes,
    }


def _graph(field: str, content: bytes) -> Graph:
    buffer = Buffer(field, content)
    root = buffer.root()
    devices = {}
    for one in buffer.tables(root, 9, MOST_DEVICES, "devices"):
        number = buffer.number(one, 1, "uint64")
        devices[number] = buffer.number(one, 0, "int16"), buffer.number(one, 3, "uint32")
    tasks: list[Task] = []
    for one in buffer.tables(root, 8, MOST_TASKS, "tasks"):
        task = Task(
            buffer.number(one, 0, "int16"),
            buffer.number(one, 1, "uint64"),
            buffer.number(one, 2, "uint64"),
            buffer.number(one, 3, "float"),
            buffer.number(one, 4, "uint64"),
            buffer.numbers(one, 5),
        )
        if not 0 <= task.type < len(TYPES):
            raise refuse(f"{field}.tasks[{len(tasks)}]", f"type {task.type} is unknown; it takes 0 to {len(TYPES) - 1}")
        tasks.append(task)
    gpus_of_node, nodes, switches = (buffer.number(root, index, "uint32") for index in range(3))
    return Graph(gpus_of_node, nodes, switches, tasks, devices)


def _node(
    field: str, task: Task, graph: Graph, ranks: int, groups: dict[tuple[int, ...], str], unit_s: float
) -> dict[str, Any] | None:
    """The task as a node of a workload, without id and `after`; None where it takes no time and moves nothing."""
    if task.type == ALL_REDUCE:
        return _all_reduce(field, task, ranks, groups)
    kind, number = graph.devices.get(task.device, (None, 0))
    if task.type in COMPUTATION:
        if kind not in COMPUTING or number >= ranks:
            raise refuse(field, f"device {task.device} is not one of the GPUs 0 to {ranks - 1}")
        duration_s = task.run_time * unit_s
        if not 0 <= duration_s < math.inf:
            raise refuse(field, f"run time {task.run_time} is not accepted; it takes a number from 0")
        return {"kind": "compute", "ranks": [number], "duration_s": duration_s}
    if task.type not in COMMUNICATION or kind not in NETWORK:
        return None
    if graph.gpus_of_node != 1:
        said = f"it is a message between nodes of {graph.gpus_of_node} GPUs"
        raise refuse(field, f"{said}; messages are read only where a node has one GPU")
    source, destination = divmod(number, graph.nodes + graph.switches)
    if not (source < ranks and destination < ranks):
        raise refuse(field, f"it is from {source} to {destination}; it takes nodes 0 to {ranks - 1}")
    if source == destination or not task.size_bytes:
        return None
    return {"kind": "send", "source": source, "destination": destination, "size_bytes": task.size_bytes}


def _all_reduce(field: str, task: Task, ranks: int, groups: dict[tuple[int, ...], str]) -> dict[str, Any] | None:
    members = task.following
    if len(set(members)) < len(members) or any(rank >= ranks for rank in members):
        raise refuse(field, f"its group is not a list of different GPUs from 0 to {ranks - 1}")
    if len(members) < 2 or not task.size_bytes:
        return None
    where = {"axis": ALL}
    if len(members) < ranks:
        where = {"group": groups.setdefault(members, f"group-{len(groups)}")}
    return {"kind": "collective", "collective": "all-reduce", **where, "size_bytes": task.size_bytes}


def _waits(field: str, tasks: list[Task]) -> list[set[int]]:
    """By task those that it follows."""
    places = {task.id: index for index, task in enumerate(tasks)}
    if len(places) < len(tasks):
        twice = next(index for index, task in enumerate(tasks) if places[task.id] != index)
        raise refuse(f"{field}.tasks[{twice}]", "another task has the same id")
    waits: list[set[int]] = [set() for _ in tasks]
    for index, task in enumerate(tasks):
        for following in task.following if task.type != ALL_REDUCE else ():
            if following not in places:
                raise refuse(f"{field}.tasks[{index}]", f"its next task, {following}, does not exist")
            waits[places[following]].add(index)
    return waits

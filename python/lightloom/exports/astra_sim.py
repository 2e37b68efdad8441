"""ASTRA-sim: its network, system and workload, with the plan as the custom algorithm of a collective.

A folder to run ASTRA-sim in. `COLLECTIVE.RANK.et` are the plan's Chakra traces, which `system.json` names as the
collective's algorithm, and `workload.RANK.et` a workload of that one collective; for Broadcast, which ASTRA-sim takes
no algorithm for, the traces are the workload. `logical-topology.json` has the number of GPUs, `remote-memory.json` says
that there is none.

Networks (astra-sim/astra-network-analytical, common/network-parser; its GB/s are 2^30 bytes a second):

- `network.yml`, for the analytical one. Of a plan on one topology that is a ring or a torus of rings: that. Else fully
  connected, which has every circuit of every step. The traces use the circuits of their step alone, so that each step
  has its own times; reconfigurations have no time in it. Left out where links have different numbers of circuits.
- `topology-INDEX.txt`, the physical topology for the one on ns-3, for every topology of the plan. Its links are both
  ways; one with circuits one way alone carries nothing on the other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lightloom.exports import chakra
from lightloom.exports.circuits import side_file
from lightloom.exports.exported import Exported
from lightloom.traces.files import Node, written
from lightloom.traces.schema import CollectiveType, NodeType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom import _core
    from lightloom.plans import Plan
    from lightloom.traces.files import Value

__all__ = ["export"]

SIDE_FILE = "circuits.json"
GIB, SECOND_NS, GIGA = 1 << 30, 1e9, 1e9
# Collectives that a system takes an algorithm of its own for (CollectiveImplLookup.cc).
CUSTOM = {
    "all-reduce": CollectiveType.ALL_REDUCE,
    "all-gather": CollectiveType.ALL_GATHER,
    "reduce-scatter": CollectiveType.REDUCE_SCATTER,
    "all-to-all": CollectiveType.ALL_TO_ALL,
}
FULLY_CONNECTED = "FullyConnected"


def export(plan: Plan) -> Exported:
    """The folder of a plan; errors as for `lightloom.exports.chakra.export`."""
    traces = {f"{plan.collective}.{rank}.et": content for rank, content in enumerate(chakra.rank_files(plan))}
    workload = plan.collective
    if plan.collective in CUSTOM:
        workload = "workload"
        traces |= {f"workload.{rank}.et": content for rank, content in enumerate([_workload(plan)] * plan.gpus)}
    files = {
        "system.json": _json(_system(plan)),
        "logical-topology.json": _json({"logical-dims": [str(plan.gpus)]}),
        "remote-memory.json": _json({"memory-type": "NO_MEMORY_EXPANSION"}),
    }
    inputs = f"--workload-configuration={workload} --system-configuration=system.json"
    memory = "--remote-memory-configuration=remote-memory.json"
    network = _network(plan)
    if network is None:
        logical = "--logical-topology-configuration=logical-topology.json"
        notes = [
            f"run it in the folder, on ns-3: {inputs} {memory} {logical}, and a network with one of topology-INDEX.txt",
            "no network.yml: the analytical network has the same rate on all links, here they have unequal circuits",
        ]
    else:
        notes = [f"run it in the folder: {inputs} {memory} --network-configuration=network.yml"]
        blocks, counts, circuits = network
        files["network.yml"] = _yaml(plan, blocks, counts, circuits)
        if blocks == [FULLY_CONNECTED] and not _is_complete(plan):
            notes.append("network.yml is fully connected: of it the traces use the circuits of their step alone")
    for index, topology in enumerate(plan.topologies):
        files[f"topology-{index}.txt"] = _physical(plan, topology)
    files[SIDE_FILE] = side_file(plan, "astra-sim")
    return Exported({**files, **traces}, SIDE_FILE, tuple(notes))


def _workload(plan: Plan) -> bytes:
    """The trace of a rank that calls the collective once."""
    kind = int(CUSTOM[plan.collective])
    attributes: dict[str, Value] = {"is_cpu_op": False, "comm_type": kind, "comm_size": plan.size_bytes}
    node = Node(0, plan.collective, NodeType.COLLECTIVE, (), 0, attributes)
    return written({"schema": "1.0.2-chakra.0.0.4"}, [node])


def _system(plan: Plan) -> dict[str, object]:
    # The algorithm is of the whole buffer, which is therefore not split.
    system: dict[str, object] = {"scheduling-policy": "FIFO", "preferred-dataset-splits": 1, "endpoint-delay": 0}
    if plan.collective in CUSTOM:
        system[f"{plan.collective}-implementation-custom"] = [plan.collective]
    return {**system, "local-mem-bw": 1600}


def _network(plan: Plan) -> tuple[list[str], list[int], int] | None:
    """Building blocks and their sizes, the fastest dimension first, and circuits of a link; None where these differ."""
    used = {step.topology_index for step in plan.steps}
    topologies = [plan.topologies[index].links.tolist() for index in sorted(used)]
    circuits = {count for links in topologies for _, _, count in links}
    if len(circuits) > 1:
        return None
    (count,) = circuits
    if len(topologies) == 1 and not _is_complete(plan):
        pairs = {(source, destination) for source, destination, _ in topologies[0]}
        for dims in ([plan.gpus], list(plan.dims)):
            if _is_torus(pairs, dims):
                return ["Ring"] * len(dims), dims[::-1], count
    return [FULLY_CONNECTED], [plan.gpus], count


def _is_complete(plan: Plan) -> bool:
    """Whether the plan has one topology, of links between all GPUs."""
    used = {step.topology_index for step in plan.steps}
    return len(used) == 1 and len(plan.topologies[used.pop()].links) == plan.gpus * (plan.gpus - 1)


def _is_torus(pairs: Iterable[tuple[int, int]], dims: Sequence[int]) -> bool:
    """Whether every link is one step around a ring of one dimension, the last dimension being the fastest."""

    def place(gpu: int) -> list[int]:
        digits = []
        for size in reversed(dims):
            digits.append(gpu % size)
            gpu //= size
        return digits

    sizes = list(reversed(dims))
    for source, destination in pairs:
        steps = [(b - a) % size for a, b, size in zip(place(source), place(destination), sizes, strict=True) if a != b]
        moved = [size for a, b, size in zip(place(source), place(destination), sizes, strict=True) if a != b]
        if len(steps) != 1 or steps[0] not in {1, moved[0] - 1}:
            return False
    return True


def _yaml(plan: Plan, blocks: list[str], counts: list[int], circuits: int) -> bytes:
    rates = [circuits * plan.bandwidth_bps / 8 / GIB] * len(blocks)
    delays = [plan.hop_delay_s * SECOND_NS] * len(blocks)
    rows = {
        "topology": ", ".join(blocks),
        "npus_count": ", ".join(map(str, counts)),
        "bandwidth": ", ".join(map(repr, rates)),
        "latency": ", ".join(map(repr, delays)),
    }
    units = {"bandwidth": "  # 2^30 bytes a second", "latency": "  # ns"}
    return "".join(f"{name}: [ {row} ]{units.get(name, '')}\n" for name, row in rows.items()).encode()


def _physical(plan: Plan, topology: _core.Topology) -> bytes:
    """Nodes, switches, links; the switches; and a line a link: GPUs, rate, delay, share of packets that are lost."""
    circuits: dict[tuple[int, int], int] = {}
    for source, destination, count in topology.links.tolist():
        pair = min(source, destination), max(source, destination)
        circuits[pair] = max(count, circuits.get(pair, 0))
    delay = f"{plan.hop_delay_s * SECOND_NS:.12g}ns"
    lines = [f"{plan.gpus} 0 {len(circuits)}", ""]
    for (source, destination), count in sorted(circuits.items()):
        lines.append(f"{source} {destination} {count * plan.bandwidth_bps / GIGA:.12g}Gbps {delay} 0")
    return ("\n".join(lines) + "\n").encode()


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=2) + "\n").encode()

"""ASTRA-sim: its network, system and workload, with the plan as the custom algorithm of a collective.

A folder to run ASTRA-sim in. `COLLECTIVE.RANK.et` are the plan's Chakra traces, which `system.json` names as the
collective's algorithm, and `workload.RANK.et` a workload of that one collective. A rank has as many sends of an
algorithm under way as can begin, and one of a workload. ASTRA-sim takes no algorithm for Broadcast: its traces are
those of an AllGather. `logical-topology.json` has the number of GPUs, `remote-memory.json` says: no remote memory.

Traces send data of several hops on at each hop, when all of a message has arrived: it is cut into pieces.

Networks (astra-sim/astra-network-analytical, common/network-parser; its GB/s are 2^30 bytes a second):

- `network.yml`, for the analytical one in which messages wait for each other on a link (congestion-aware), and which
  has one dimension. For a plan on one ring: that ring. Else fully connected, which has every circuit of every step. The
  traces use only the circuits of their step, so that each step has its own times; reconfigurations have no time in
  it. Left out where links have different numbers of circuits.
- `topology-INDEX.txt`, the physical topology for the one on ns-3, for every topology of the plan. Its links are both
  ways; one with circuits in only one direction carries nothing in the other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lightloom._core import counted
from lightloom.formats.chakra import write as chakra
from lightloom.formats.chakra.files import Node, written
from lightloom.formats.chakra.schema import CollectiveType, NodeType
from lightloom.formats.link_rates import has_one_rate, hop_delay_of, link_rates, slowest_circuit_bps
from lightloom.formats.output import Exported
from lightloom.formats.parcels import arcs_of, in_pieces
from lightloom.formats.side_files import side_file

if TYPE_CHECKING:
    from lightloom.formats.chakra.files import Value
    from lightloom.formats.parcels import Arc
    from lightloom.plans import Plan

__all__ = ["export"]

SIDE_FILE = "circuits.json"
GIB, SECOND_NS, GIGA = 1 << 30, 1e9, 1e9
# For every collective, the one that its traces are an algorithm of, among those for which a system file names one
# (CollectiveImplLookup.cc), and how a node of the workload calls that.
ALGORITHM_OF = {
    "all-reduce": ("all-reduce", CollectiveType.ALL_REDUCE),
    "all-gather": ("all-gather", CollectiveType.ALL_GATHER),
    "reduce-scatter": ("reduce-scatter", CollectiveType.REDUCE_SCATTER),
    "all-to-all": ("all-to-all", CollectiveType.ALL_TO_ALL),
    "broadcast": ("all-gather", CollectiveType.ALL_GATHER),
    "reduce": ("reduce-scatter", CollectiveType.REDUCE_SCATTER),
    "gather": ("all-gather", CollectiveType.ALL_GATHER),
    "scatter": ("all-gather", CollectiveType.ALL_GATHER),
}
PROGRAM = "AstraSim_Analytical_Congestion_Aware"
FULLY_CONNECTED = "FullyConnected"


def export(plan: Plan) -> Exported:
    """The folder of a plan; errors as for `lightloom.formats.chakra.write.export`."""
    arcs = arcs_of(plan)
    network = _network(plan)
    pieces = in_pieces(plan, arcs, slowest_circuit_bps(plan) if network is None else network[1])
    traces = {f"{plan.collective}.{rank}.et": content for rank, content in enumerate(chakra.rank_files(plan, pieces))}
    traces |= {f"workload.{rank}.et": content for rank, content in enumerate([_workload(plan)] * plan.gpus)}
    files = {
        "system.json": _json(_system(plan)),
        "logical-topology.json": _json({"logical-dims": [str(plan.gpus)]}),
        "remote-memory.json": _json({"memory-type": "NO_MEMORY_EXPANSION"}),
    }
    inputs = "--workload-configuration=workload --system-configuration=system.json"
    memory = "--remote-memory-configuration=remote-memory.json"
    if network is None:
        logical = "--logical-topology-configuration=logical-topology.json"
        notes = [
            f"run ASTRA-sim on ns-3 in the folder with: {inputs} {memory} {logical}, and a network configuration "
            "that uses one of topology-INDEX.txt",
            "no network.yml: the analytical network has one rate for all links, and the links of this plan have "
            + ("unequal numbers of circuits" if has_one_rate(plan) else "different rates"),
        ]
    else:
        notes = [f"run in the folder: {PROGRAM} {inputs} {memory} --network-configuration=network.yml"]
        block, link_bps = network
        files["network.yml"] = _yaml(plan, block, link_bps)
        if block == FULLY_CONNECTED and not _is_complete(plan):
            notes.append("network.yml connects all pairs of GPUs; the traces send only over the circuits of their step")
    notes += _waiting(plan, arcs, pieces)
    for index, rates_bps in enumerate(link_rates(plan)):
        files[f"topology-{index}.txt"] = _physical(plan, rates_bps)
    files[SIDE_FILE] = side_file(plan, "astra-sim")
    return Exported({**files, **traces}, SIDE_FILE, tuple(notes))


def _workload(plan: Plan) -> bytes:
    """The trace of a rank that calls the collective once."""
    kind = int(ALGORITHM_OF[plan.collective][1])
    attributes: dict[str, Value] = {"is_cpu_op": False, "comm_type": kind, "comm_size": plan.size_bytes}
    node = Node(0, plan.collective, NodeType.COLLECTIVE, (), 0, attributes)
    return written({"schema": "1.0.2-chakra.0.0.4"}, [node])


def _system(plan: Plan) -> dict[str, object]:
    # The algorithm is of the whole buffer, which is therefore not split.
    system: dict[str, object] = {"scheduling-policy": "FIFO", "preferred-dataset-splits": 1, "endpoint-delay": 0}
    system[f"{ALGORITHM_OF[plan.collective][0]}-implementation-custom"] = [plan.collective]
    return {**system, "local-mem-bw": 1600}


def _network(plan: Plan) -> tuple[str, float] | None:
    """The building block of the network, and bit/s of a link; None where these differ."""
    used, rates_bps = {step.topology_index for step in plan.steps}, link_rates(plan)
    topologies = [rates_bps[index] for index in sorted(used)]
    of_links = {rate_bps for links in topologies for rate_bps in links.values()}
    if len(of_links) > 1:
        return None
    (link_bps,) = of_links
    around = {1, plan.gpus - 1}
    is_ring = len(topologies) == 1 and all((b - a) % plan.gpus in around for a, b in topologies[0])
    return ("Ring" if is_ring and not _is_complete(plan) else FULLY_CONNECTED), link_bps


def _waiting(plan: Plan, arcs: list[list[Arc]], pieces: list[list[Arc]]) -> list[str]:
    """The notes on data of several hops."""
    hops = max(step.hops for step in plan.steps)
    if hops < 2:
        return []
    numbers = [sum(len(arc.parcels) for step in cut for arc in step) for cut in (arcs, pieces)]
    return [
        f"data that take several hops (up to {hops}) are forwarded only when their whole message has arrived, so "
        f"messages are cut into pieces: {counted(numbers[1], 'message')} in place of {numbers[0]}"
    ]


def _is_complete(plan: Plan) -> bool:
    """Whether the plan has one topology, of links between all GPUs."""
    used = {step.topology_index for step in plan.steps}
    return len(used) == 1 and len(plan.topologies[used.pop()].links) == plan.gpus * (plan.gpus - 1)


def _yaml(plan: Plan, block: str, link_bps: float) -> bytes:
    rows = {
        "topology": block,
        "npus_count": plan.gpus,
        "bandwidth": repr(link_bps / 8 / GIB),
        "latency": repr(plan.longest_hop_delay_s * SECOND_NS),
    }
    units = {"bandwidth": "  # 2^30 bytes a second", "latency": "  # ns"}
    return "".join(f"{name}: [ {row} ]{units.get(name, '')}\n" for name, row in rows.items()).encode()


def _physical(plan: Plan, rates_bps: dict[tuple[int, int], float]) -> bytes:
    """Nodes, switches, links; the switches; and a line a link: GPUs, rate, delay, share of lost packets."""
    both: dict[tuple[int, int], float] = {}
    for (source, destination), rate_bps in rates_bps.items():
        pair = min(source, destination), max(source, destination)
        both[pair] = max(rate_bps, both.get(pair, 0.0))
    delay_s = hop_delay_of(plan)
    lines = [f"{plan.gpus} 0 {len(both)}", ""]
    for pair, rate_bps in sorted(both.items()):
        delay = f"{delay_s(pair) * SECOND_NS:.12g}ns"
        lines.append(f"{pair[0]} {pair[1]} {rate_bps / GIGA:.12g}Gbps {delay} 0")
    return ("\n".join(lines) + "\n").encode()


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=2) + "\n").encode()

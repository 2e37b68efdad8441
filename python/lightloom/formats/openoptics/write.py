"""OpenOptics' circuits: the arguments of `BaseNetwork.connect` (mpi-ncs/openoptics, openoptics/Toolbox.py), as JSON.

A list of [time slice, node, node, port, port], one a circuit; a slice is a step of the plan. OpenOptics has ports that
send and receive, and takes each for one circuit only: so a GPU's ports have the numbers from 0 on where they send, and
after these where they receive, and circuits are joined with `unidirectional=True`. `deploy_topo()` sets them up.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lightloom._core import counted, show_time
from lightloom.base.errors import refuse
from lightloom.formats.output import MAIN, OUTPUT_NAME, SIDE, Exported
from lightloom.formats.side_files import side_file

if TYPE_CHECKING:
    from lightloom import _core
    from lightloom.plans import Plan

__all__ = ["export"]


def export(plan: Plan) -> Exported:
    """The circuits of a plan and its side file.

    Raises `InputError` that names `plan` where several circuits join two GPUs, of which OpenOptics keeps one.
    """
    circuits = [
        [step.index, *circuit]
        for step in plan.steps
        for circuit in _circuits(plan.topologies[step.topology_index], plan.gpus, plan.ports)
    ]
    longest_s = max(step.total_s - step.reconfiguration_s for step in plan.steps)
    notes = (
        f"for one in json.load(open('{OUTPUT_NAME}')): net.connect(*one, unidirectional=True); then net.deploy_topo()",
        f"BaseNetwork(nb_node={plan.gpus}, nb_link={2 * plan.ports}, …); {counted(len(plan.steps), 'slice')} of one "
        f"length, at least the longest step: {show_time(longest_s)}",
    )
    text = "[\n" + ",\n".join(map(json.dumps, circuits)) + "\n]\n"
    return Exported({MAIN: text.encode(), SIDE: side_file(plan, "openoptics")}, SIDE, notes)


def _circuits(topology: _core.Topology, gpus: int, ports: int) -> list[tuple[int, int, int, int]]:
    """Source, destination, port that sends and port that receives of every circuit."""
    sends, receives = [0] * gpus, [ports] * gpus
    found = []
    for source, destination, circuits in sorted(topology.links.tolist()):
        if circuits > 1:
            what = f"topology {topology.name} has {counted(circuits, 'circuit')} from GPU {source} to GPU {destination}"
            raise refuse("plan", f"{what}; openoptics keeps one between two nodes")
        found.append((source, destination, sends[source], receives[destination]))
        sends[source] += 1
        receives[destination] += 1
    return found

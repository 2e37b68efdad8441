"""GraphML: a directed graph for every topology of a plan, by NetworkX.

Nodes are GPUs 0, 1, ...; an edge is a link, with the attributes `circuits`, how many circuits it stands for, and
`bandwidth_bps`, what these carry together. `--topology FILE` and `lightloom.from_networkx` read the same topology back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.formats.graphml.graph import graph_of
from lightloom.formats.link_rates import link_rates
from lightloom.formats.output import Exported
from lightloom.formats.side_files import side_file

if TYPE_CHECKING:
    from lightloom import _core
    from lightloom.plans import Plan

__all__ = ["export", "graphml"]

SIDE_FILE = "circuits.json"


def export(plan: Plan) -> Exported:
    """The folder of a plan: `topology-INDEX.graphml` for every topology by its index in the plan, and the side file."""
    files = {
        f"topology-{index}.graphml": graphml(topology, rates_bps)
        for index, (topology, rates_bps) in enumerate(zip(plan.topologies, link_rates(plan), strict=True))
    }
    return Exported({**files, SIDE_FILE: side_file(plan, "graphml")}, SIDE_FILE)


def graphml(topology: _core.Topology, rates_bps: dict[tuple[int, int], float]) -> bytes:
    """The file of a topology whose links carry so much each."""
    import networkx as nx

    graph = graph_of(topology, nx.DiGraph, rates_bps)
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return "\n".join((head, *nx.generate_graphml(graph), "")).encode()

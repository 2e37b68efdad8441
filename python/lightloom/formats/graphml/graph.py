"""Topologies as NetworkX graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    import networkx as nx

    from lightloom import _core

__all__ = ["graph_of"]


def graph_of(topology: _core.Topology, create_using: type[nx.Graph], circuit_bps: float) -> nx.Graph:
    """The topology as a graph of this class whose circuits carry `circuit_bps` each; see `lightloom.to_networkx`."""
    graph = create_using(name=topology.name)
    graph.add_nodes_from(range(topology.gpus))
    links = {(int(source), int(destination)): int(count) for source, destination, count in topology.links}
    for (source, destination), count in links.items():
        if not graph.is_directed():
            if links.get((destination, source)) != count:
                raise refuse(
                    "topology",
                    f"`{topology.name}` has other circuits from {source} to {destination} than back, so an "
                    "undirected graph cannot show them; give a directed class as create_using",
                )
            if source > destination:
                continue
        if graph.is_multigraph():
            graph.add_edges_from([(source, destination)] * count, circuits=1, bandwidth_bps=circuit_bps)
        else:
            graph.add_edge(source, destination, circuits=count, bandwidth_bps=count * circuit_bps)
    return graph

"""Topologies as NetworkX graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    import networkx as nx

    from lightloom import _core

__all__ = ["graph_of"]


def graph_of(
    topology: _core.Topology, create_using: type[nx.Graph], rates_bps: float | Mapping[tuple[int, int], float]
) -> nx.Graph:
    """The topology as a graph of this class; see `lightloom.to_networkx`.

    rates_bps: bit/s of each circuit, or of each link with all of its circuits.
    """
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
        circuit_bps = rates_bps if isinstance(rates_bps, float) else rates_bps[source, destination] / count
        link_bps = count * rates_bps if isinstance(rates_bps, float) else rates_bps[source, destination]
        if graph.is_multigraph():
            graph.add_edges_from([(source, destination)] * count, circuits=1, bandwidth_bps=circuit_bps)
        else:
            graph.add_edge(source, destination, circuits=count, bandwidth_bps=link_bps)
    return graph

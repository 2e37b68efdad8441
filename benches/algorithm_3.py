"""PCCL's algorithm 3 as it is written, on NetworkX, with which `lightloom.route_mesh` is compared.

The paper leaves numbers open. Weights begin at 1, so that paths are short; a waveguide that is in use, and one that a
path wanted and could not have, has its weight multiplied by the penalty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Iterable

PENALIZE_FACTOR = 10.0
TRIALS = 10
MAX_OVERLAP = 1


def mesh_graph(rows: int, columns: int) -> nx.DiGraph:
    """MZIs numbered row by row, with a waveguide in each direction between neighbours."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(rows * columns))
    for row in range(rows):
        for column in range(columns):
            here = row * columns + column
            if column + 1 < columns:
                graph.add_edge(here, here + 1)
                graph.add_edge(here + 1, here)
            if row + 1 < rows:
                graph.add_edge(here, here + columns)
                graph.add_edge(here + columns, here)
    return graph


def algorithm_3(graph: nx.DiGraph, pairs: Iterable[tuple[int, int]]) -> list[list[int] | None]:
    """The path of each pair, None where no trial found a valid one."""
    nx.set_edge_attributes(graph, 1.0, "weight")
    nx.set_edge_attributes(graph, 0, "count")
    routes: list[list[int] | None] = []
    for source, destination in pairs:
        routes.append(None)
        for _ in range(TRIALS):
            path = nx.shortest_path(graph, source, destination, weight="weight")
            edges = [graph.edges[edge] for edge in nx.utils.pairwise(path)]
            overused = [edge for edge in edges if edge["count"] >= MAX_OVERLAP]
            if overused:
                for edge in overused:
                    edge["weight"] *= PENALIZE_FACTOR
                continue
            for edge in edges:
                edge["count"] += 1
                edge["weight"] *= PENALIZE_FACTOR
            routes[-1] = path
            break
    return routes

"""Topologies at the start: multigraphs whose ranks are not alike."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import networkx as nx

import lightloom as ll

if TYPE_CHECKING:
    import random

# Circuits by source and destination.
Graph: TypeAlias = Counter[tuple[int, int]]


def uneven(draw: random.Random, ranks: int, ports: int) -> Graph:
    """Circuits between ranks drawn one by one, as many as the ports of some fill; some ports stay dark."""
    graph, out, into = Graph(), Counter[int](), Counter[int]()
    for _ in range(draw.randint(ranks, 2 * ranks * ports)):
        src, dst = draw.sample(range(ranks), 2)
        if out[src] < ports and into[dst] < ports:
            graph[src, dst] += 1
            out[src] += 1
            into[dst] += 1
    return graph


def even(draw: random.Random, ranks: int, ports: int) -> Graph:
    """As many circuits out of each rank as into it, by random permutations; a rank that keeps its place has none."""
    places = [draw.sample(range(ranks), ranks) for _ in range(ports)]
    return Graph((src, dst) for place in places for src, dst in enumerate(place) if src != dst)


def kautz(ranks: int, ports: int) -> Graph:
    """Imase and Itoh's generalised Kautz graph, without its loops."""
    ends = ((src, (-ports * src - place) % ranks) for src in range(ranks) for place in range(1, ports + 1))
    return Graph((src, dst) for src, dst in ends if src != dst)


def with_dead_ports(draw: random.Random, graph: Graph, transmitters: int, receivers: int) -> Graph:
    """Without the circuits of this many transmitters and receivers, drawn."""
    left = Graph(graph)
    for _ in range(min(transmitters + receivers, left.total() - 1)):
        left[draw.choice(sorted(left.elements()))] -= 1
    return +left


def drawn(draw: random.Random, ranks: int, ports: int) -> Graph:
    """A topology that has some circuit, of the kinds above; most of them join every rank to every other."""
    graphs = [_any(draw, ranks, ports) for _ in range(6)]
    return next((graph for graph in graphs if reaches_all(graph, ranks)), graphs[-1])


def _any(draw: random.Random, ranks: int, ports: int) -> Graph:
    kind = draw.randrange(4)
    graph = uneven(draw, ranks, ports) if kind < 2 else even(draw, ranks, ports) if kind == 2 else kautz(ranks, ports)
    if kind >= 2:
        graph = with_dead_ports(draw, graph, draw.randint(0, 2), draw.randint(0, 2)) if graph else graph
    return graph if graph else Graph({(0, 1): 1})


def reaches_all(graph: Graph, ranks: int) -> bool:
    """Whether every rank reaches every other."""
    return bool(math.prod(nx.to_numpy_array(nx.transitive_closure(directed(graph, ranks), reflexive=True)).flat) > 0)


def directed(graph: Graph, ranks: int) -> nx.MultiDiGraph:
    """The graph with parallel edges for parallel circuits."""
    made = nx.MultiDiGraph()
    made.add_nodes_from(range(ranks))
    made.add_edges_from(graph.elements())
    return made


def topology(graph: Graph, ranks: int) -> ll.Topology:
    """The topology of these circuits."""
    return ll.from_networkx(directed(graph, ranks), gpus=ranks)

"""NetworkX graphs in and out, wherever a topology is taken, and topology files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightloom as ll

LINKS = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] != pair[1]),
    st.integers(1, 4),
    min_size=1,
    max_size=20,
)


def circuits(topology: ll.Topology) -> dict[tuple[int, int], int]:
    return {(int(src), int(dst)): int(count) for src, dst, count in topology.links}


@given(LINKS)
def test_topologies_survive_networkx(links: dict[tuple[int, int], int]) -> None:
    topology = ll.Topology.from_links("any", 8, [(*pair, count) for pair, count in links.items()])
    assert circuits(topology) == links
    for create_using in (nx.MultiDiGraph, nx.DiGraph):
        graph = ll.to_networkx(topology, create_using)
        assert type(graph) is create_using
        assert graph.number_of_nodes() == 8
        back = ll.from_networkx(graph)
        assert (back.gpus, back.name, circuits(back)) == (8, "any", links)


@given(LINKS)
def test_undirected_graphs_are_circuits_both_ways(links: dict[tuple[int, int], int]) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(range(8))
    graph.add_edges_from((src, dst, {"count": count}) for (src, dst), count in links.items())
    topology = ll.from_networkx(graph, name="both")
    assert circuits(topology) == {
        pair: data["count"] for src, dst, data in graph.edges(data=True) for pair in ((src, dst), (dst, src))
    }
    for create_using in (nx.Graph, nx.MultiGraph):
        assert circuits(ll.from_networkx(ll.to_networkx(topology, create_using))) == circuits(topology)


def test_edges_carry_circuits_and_bandwidth() -> None:
    topology = ll.Topology.from_links("any", 3, [(0, 1, 2), (1, 2, 1)])
    assert list(ll.to_networkx(topology, nx.DiGraph, bandwidth="400Gbps").edges(data=True)) == [
        (0, 1, {"circuits": 2, "bandwidth_bps": 8e11}),
        (1, 2, {"circuits": 1, "bandwidth_bps": 4e11}),
    ]
    edges = ll.to_networkx(topology).edges(data=True)
    assert [(src, dst) for src, dst, _ in edges] == [(0, 1), (0, 1), (1, 2)]
    assert all(carried == {"circuits": 1, "bandwidth_bps": ll.Fabric().bandwidth_bps} for *_, carried in edges)
    with pytest.raises(ll.InputError, match="bandwidth"):
        ll.to_networkx(topology, bandwidth="fast")


def test_edges_may_call_circuits_a_count() -> None:
    graph = nx.DiGraph()
    graph.add_edge(0, 1, count=3)
    graph.add_edge(1, 0, circuits=2)
    assert circuits(ll.from_networkx(graph)) == {(0, 1): 3, (1, 0): 2}


def test_a_one_way_topology_is_no_undirected_graph() -> None:
    ring = ll.Topology.named("ring", 5, (), 1)
    with pytest.raises(ll.InputError, match="directed"):
        ll.to_networkx(ring, nx.Graph)


def test_families_are_the_graphs_that_networkx_builds() -> None:
    for spec, gpus, dims, ports, graph in [
        ("ring", 12, (), 2, nx.cycle_graph(12)),
        ("hypercube", 16, (), 4, nx.hypercube_graph(4)),
        ("torus", 12, (3, 4), 4, nx.grid_graph([3, 4], periodic=True)),
        ("grid", 12, (3, 4), 4, nx.grid_graph([3, 4])),
        ("circulant:1,-1,5,-5", 13, (), 4, nx.circulant_graph(13, [1, 5])),
        ("complete", 5, (), 4, nx.complete_graph(5)),
    ]:
        ours = nx.Graph(ll.to_networkx(ll.Topology.named(spec, gpus, dims, ports)))
        assert nx.is_isomorphic(ours, nx.Graph(graph)), spec


@pytest.mark.parametrize(
    "given_as",
    [
        lambda graph, _: graph,
        lambda graph, _: [graph],
        lambda graph, _: ll.from_networkx(graph, name="chords"),
        lambda graph, path: _written(nx.write_graphml, graph, path / "chords.graphml"),
        lambda graph, path: str(_written(nx.write_graphml, graph, path / "chords.graphml")),
        lambda graph, path: _edge_list(graph, path / "chords.edgelist", " "),
        lambda graph, path: str(_edge_list(graph, path / "chords.csv", ",")),
    ],
)
def test_every_way_of_giving_a_topology_plans_the_same(
    given_as: Callable[[nx.Graph, Path], Any], tmp_path: Path
) -> None:
    graph = nx.circulant_graph(8, [1, 3])
    fabric = ll.Fabric(gpus=8, ports=4)
    plan = ll.plan(
        "all-reduce",
        size="1MiB",
        fabric=fabric,
        algorithm="halving-doubling",
        planner="static",
        topology=given_as(graph, tmp_path),
    )
    expected = {pair for edge in graph.edges for pair in (edge, edge[::-1])}
    assert circuits(plan.topologies[0]) == dict.fromkeys(expected, 1)
    assert {step.topology_index for step in plan.steps} == {0}
    started = ll.plan("all-reduce", size="1MiB", algorithm="ring", fabric=ll.Fabric(gpus=8, ports=4, initial=graph))
    assert started.initial != "free"


def _written(write: Callable[[nx.Graph, Path], None], graph: nx.Graph, path: Path) -> Path:
    write(graph, path)
    return path


def _edge_list(graph: nx.Graph, path: Path, separator: str) -> Path:
    lines = [separator.join(map(str, pair)) for edge in graph.edges for pair in (edge, edge[::-1])]
    path.write_text("# src dst\n" + "\n".join(lines) + "\n")
    return path


def test_profile_takes_graphs_and_matrices() -> None:
    graph = nx.cycle_graph(6, create_using=nx.DiGraph)
    matrix = np.zeros((6, 6))
    for u in range(6):
        matrix[u, (u + 2) % 6] = 1.0
    by_graph = ll.profile(graph, matrix)
    assert by_graph == ll.profile("ring", [(u, (u + 2) % 6, 1.0) for u in range(6)], fabric=ll.Fabric(gpus=6))
    assert [point.hops for point in by_graph] == [2]
    assert [point.load for point in by_graph] == pytest.approx([2.0])


@pytest.mark.parametrize(
    "graph",
    [
        nx.Graph([("a", "b")]),
        nx.Graph([(-1, 0)]),
        nx.Graph([(0, 1.5)]),
        nx.DiGraph([(0, 1, {"count": 0})]),
        nx.DiGraph([(0, 1, {"count": 1.5})]),
        nx.DiGraph([(0, 0)]),
        nx.empty_graph(4),
        nx.DiGraph([(0, 1 << 40)]),
        object(),
        3.5,
    ],
)
def test_graphs_that_are_no_topology(graph: Any) -> None:
    fabric = ll.Fabric(gpus=4)
    with pytest.raises(ll.InputError) as raised:
        ll.plan("all-reduce", size="1MiB", fabric=fabric, algorithm="ring", planner="static", topology=[graph])
    assert raised.value.field == "topology"

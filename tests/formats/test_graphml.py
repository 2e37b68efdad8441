"""Topologies of plans as GraphML: NetworkX and Lightloom read the same circuits back."""

from __future__ import annotations

import io
from pathlib import Path

import networkx as nx
import pytest

import lightloom as ll
from lightloom.formats.graphml import write as graphml
from tests.conftest import RunCli
from tests.formats.plans import random_plans

PLANS = [
    *random_plans(12, 16),
    ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4, ports=3), planner="static", topology="ring"),
]


@pytest.mark.parametrize("plan", PLANS, ids=repr)
def test_every_topology_reads_back(plan: ll.Plan, tmp_path: Path) -> None:
    files = graphml.export(plan).files
    assert set(files) == {*(f"topology-{index}.graphml" for index in range(len(plan.topologies))), "circuits.json"}
    for index, topology in enumerate(plan.topologies):
        name = f"topology-{index}.graphml"
        graph = nx.read_graphml(io.BytesIO(files[name]), node_type=int)
        assert graph.graph["name"] == topology.name
        links = sorted([source, destination, held["circuits"]] for source, destination, held in graph.edges(data=True))
        assert links == topology.links.tolist()
        assert sorted(graph) == list(range(plan.gpus))
        for _, _, held in graph.edges(data=True):
            assert held["bandwidth_bps"] == held["circuits"] * plan.bandwidth_bps
        if topology.name == "dark":  # which has no circuits, and cannot be planned on
            continue
        assert ll.from_networkx(graph).links.tolist() == topology.links.tolist()
        (tmp_path / name).write_bytes(files[name])
        found = ll.from_networkx(nx.read_graphml(tmp_path / name, node_type=int), gpus=plan.gpus)
        assert found.links.tolist() == topology.links.tolist()


def test_a_written_topology_is_planned_on(cli: RunCli, in_tmp: Path) -> None:
    ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=8), planner="static", topology="ring").save("plan.json")
    assert cli("export", "plan.json", "--to", "graphml", "--output", "graphs").status == 0
    asked = ("--collective", "all-gather", "--size", "1MiB", "--gpus", 8, "--planner", "static")
    again = cli("plan", *asked, "--topology", in_tmp / "graphs" / "topology-0.graphml", "--output", "again.json")
    assert again.status == 0, again.err
    first, second = ll.Plan.load("plan.json"), ll.Plan.load("again.json")
    assert second.total_s == first.total_s
    assert second.topologies[0].links.tolist() == first.topologies[0].links.tolist()

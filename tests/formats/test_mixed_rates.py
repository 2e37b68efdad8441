"""Plans on circuits of different rates in formats of other tools: rates of links as their own files say them."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.formats import FORMATS
from lightloom.formats.astra_sim import write as astra_sim
from lightloom.formats.graphml import write as graphml
from tests.reference.plan_document import by_rate, circuits_of, pairs_of, rates_of

WRITTEN = [chosen for chosen in FORMATS if chosen.written]
FABRICS: dict[str, dict[str, Any]] = {
    "ports": {"ports": 3, "bandwidth": ["400Gbps", "800Gbps", "400Gbps"]},
    "pairs": {"ports": 2, "bandwidth": "400Gbps", "hop_delay": "1us", "pair_rates": "inside:4:800Gbps:100ns"},
}


@cache
def planned(kind: str, collective: str = "all-gather") -> ll.Plan:
    fabric = ll.Fabric(gpus=8, reconfiguration_delay="100ns", **FABRICS[kind])
    return ll.plan(collective, "1MiB", fabric=fabric)


def link_rates(plan: ll.Plan) -> list[dict[tuple[int, int], float]]:
    """By topology of a plan's file bit/s of each link: circuits by rate times these rates."""
    told = json.loads(plan.to_json())
    rates_bps = rates_of(told["fabric"], told["gpus"])
    found = []
    for topology in told["topologies"]:
        circuits = circuits_of(topology, told["gpus"])
        of_links = dict.fromkeys(circuits, 0.0)
        for (source, destination, place), count in by_rate(topology, circuits).items():
            of_links[source, destination] += count * rates_bps[place]
        found.append(of_links)
    return found


@pytest.mark.parametrize("kind", FABRICS)
@pytest.mark.parametrize("collective", ["all-gather", "all-to-all", "broadcast"])
def test_links_have_their_rates(kind: str, collective: str) -> None:
    plan = planned(kind, collective)
    told = json.loads(plan.to_json())
    graphs, physical = graphml.export(plan).files, astra_sim.export(plan).files
    seen = set()
    for index, wanted in enumerate(link_rates(plan)):
        graph = nx.read_graphml(io.BytesIO(graphs[f"topology-{index}.graphml"]), node_type=int)
        assert {(tail, head): held["bandwidth_bps"] for tail, head, held in graph.edges(data=True)} == wanted
        lines = physical[f"topology-{index}.txt"].decode().splitlines()[2:]
        for line in lines:
            source, destination, rate, delay, _ = line.split()
            pair, back = (int(source), int(destination)), (int(destination), int(source))
            assert float(rate.removesuffix("Gbps")) * 1e9 == max(wanted.get(pair, 0.0), wanted.get(back, 0.0))
            delay_s = pairs_of(told["fabric"], 8)[pair][1] if kind == "pairs" else told["fabric"]["hop_delay_s"]
            assert float(delay.removesuffix("ns")) == pytest.approx(delay_s * 1e9)
        assert len(lines) == len({tuple(sorted(link)) for link in wanted})
        seen |= {*wanted.values()}
    assert all(rate > 0.0 for rate in seen)


@pytest.mark.parametrize("kind", FABRICS)
@pytest.mark.parametrize("name", [chosen.name for chosen in WRITTEN])
def test_every_format_has_the_rates_or_says_that_it_cannot(name: str, kind: str, tmp_path: Path) -> None:
    plan, (chosen,) = planned(kind), [one for one in WRITTEN if one.name == name]
    target = tmp_path / "out"
    if kind in chosen.one_rate:
        with pytest.raises(InputError, match=f"have different rates, which have no place in {name}; export it to"):
            ll.export(plan, name, target)
        assert not target.exists()
        return
    ll.export(plan, name, target)
    sides = [path for path in tmp_path.rglob("*.json") if b"lightloom.exported-circuits/1" in path.read_bytes()]
    (side,) = [json.loads(path.read_text()) for path in sides]
    fabric = json.loads(plan.to_json())["fabric"]
    assert side["bandwidth_bps"] == fabric["bandwidth_bps"]
    assert side.get("pair_rates") == fabric.get("pair_rates")
    for topology in side["topologies"]:
        counts = [count for *_, count in topology["links"]]
        assert [sum(of_link) for of_link in topology["circuits_by_rate"]] == counts


def test_the_card_of_a_host_has_the_rates_of_all_ports(tmp_path: Path) -> None:
    plan = planned("ports")
    ll.export(plan, "htsim", tmp_path / "plan.cm")
    text = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "Downlink_speed_Gbps 1600" in text


def test_an_iteration_is_exported_with_its_rates(tmp_path: Path) -> None:
    collective = {"kind": "collective", "collective": "all-gather", "axis": "a", "size_bytes": 10**6}
    nodes = [{"id": "c", **collective, "after": []}]
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"a": 4}, "groups": {}, "nodes": nodes}
    training = ll.train(ll.Workload.from_json(json.dumps(told)), fabric=ll.Fabric(ports=2, bandwidth=[8e11, 4e11]))
    ll.export(training, "msccl-xml", tmp_path / "out")
    events = json.loads((tmp_path / "out" / "events.json").read_text())
    assert events["bandwidth_bps"] == [8e11, 4e11]

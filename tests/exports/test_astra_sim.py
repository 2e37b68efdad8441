"""Plans for ASTRA-sim: its files are read as its own parsers read them, and hold the plan's circuits and traffic."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
import yaml

import lightloom as ll
from lightloom.exports import astra_sim
from lightloom.exports.exported import Exported
from tests.conftest import RunCli
from tests.exports.plans import document_of, random_plans
from tests.reference.chakra_execution import decode, hops, run
from tests.reference.plan_document import chunks_of

Pairs = set[tuple[int, int]]


def network_of(exported: Exported) -> dict[str, list[Any]]:
    """As NetworkParser.cpp does: four lists of one length, each number in its range."""
    network: dict[str, list[Any]] = yaml.safe_load(exported.files["network.yml"])
    assert set(network) == {"topology", "npus_count", "bandwidth", "latency"}
    assert len({len(row) for row in network.values()}) == 1
    assert set(network["topology"]) <= {"Ring", "FullyConnected", "Switch"}
    assert all(isinstance(count, int) and count > 1 for count in network["npus_count"])
    assert all(rate > 0 for rate in network["bandwidth"])
    assert all(delay >= 0 for delay in network["latency"])
    return network


def links_of(network: dict[str, list[Any]]) -> Pairs:
    """What the analytical network connects: dimension by dimension, the first the fastest (MultiDimTopology)."""
    pairs, stride = set(), 1
    total = 1
    for count in network["npus_count"]:
        total *= count
    for block, count in zip(network["topology"], network["npus_count"], strict=True):
        for npu in range(total):
            place = npu // stride % count
            others = {(place + 1) % count, (place - 1) % count} if block == "Ring" else set(range(count))
            pairs |= {(npu, npu + (other - place) * stride) for other in others - {place}}
        stride *= count
    return pairs


def physical_of(content: bytes) -> tuple[int, dict[tuple[int, int], tuple[str, str]]]:
    """As `topof >> ...` does: tokens, whatever lines they are on."""
    tokens = iter(content.decode().split())
    nodes, switches, links = (int(next(tokens)) for _ in range(3))
    assert switches == 0
    found = {}
    for _ in range(links):
        source, destination, rate, delay, lost = (next(tokens) for _ in range(5))
        assert float(lost) == 0
        assert (int(source), int(destination)) not in found
        found[int(source), int(destination)] = (rate, delay)
    assert next(tokens, None) is None
    return nodes, found


def used_by(plan: ll.Plan) -> Pairs:
    return {
        pair for index in range(len(plan.steps)) for path in plan.routes(index) for pair in pairwise(path.gpus.tolist())
    }


@pytest.mark.parametrize("plan", random_plans(16, 12), ids=repr)
def test_the_networks_have_the_plan_s_circuits(plan: ll.Plan) -> None:
    exported = astra_sim.export(plan)
    of_links = {count for step in plan.steps for _, _, count in step.topology.links.tolist()}
    if "network.yml" in exported.files:
        network = network_of(exported)
        (circuits,) = of_links
        assert used_by(plan) <= links_of(network)
        # GB/s are 2^30 bytes a second there (NetworkFunction.cpp).
        for rate in network["bandwidth"]:
            assert rate * 2**30 * 8 == pytest.approx(circuits * plan.bandwidth_bps)
        for delay_ns in network["latency"]:
            assert delay_ns == pytest.approx(plan.hop_delay_s * 1e9)
        total = 1
        for count in network["npus_count"]:
            total *= count
        assert total == plan.gpus
    else:
        assert len(of_links) > 1
        assert any("no network.yml" in note for note in exported.notes)
    for index, topology in enumerate(plan.topologies):
        nodes, links = physical_of(exported.files[f"topology-{index}.txt"])
        assert nodes == plan.gpus
        circuits_of: dict[tuple[int, int], int] = {}
        for source, destination, count in topology.links.tolist():
            pair = min(source, destination), max(source, destination)
            circuits_of[pair] = max(count, circuits_of.get(pair, 0))
        assert links.keys() == circuits_of.keys()
        for pair, (rate, delay) in links.items():
            assert float(rate.removesuffix("Gbps")) * 1e9 == pytest.approx(circuits_of[pair] * plan.bandwidth_bps)
            assert float(delay.removesuffix("ns")) == pytest.approx(plan.hop_delay_s * 1e9)


@pytest.mark.parametrize("plan", random_plans(16, 12), ids=repr)
def test_the_system_runs_the_plan_as_its_algorithm(plan: ll.Plan) -> None:
    """What `CollectiveImplLookup` finds for the workload's one collective is the plan's traces, which compute it."""
    files = astra_sim.export(plan).files
    system = json.loads(files["system.json"])
    assert system["preferred-dataset-splits"] == 1
    custom = [key for key in system if key.endswith("-implementation-custom")]
    if plan.collective == "broadcast":
        assert custom == []
        assert "workload.0.et" not in files
    else:
        assert custom == [f"{plan.collective}-implementation-custom"]
        assert system[custom[0]] == [plan.collective]
        kinds = {"all-reduce": 0, "all-gather": 2, "all-to-all": 6, "reduce-scatter": 7}
        for rank in range(plan.gpus):
            _, (node,) = decode(files[f"workload.{rank}.et"])
            assert (node.kind, node.values["comm_type"]) == (7, kinds[plan.collective])
            assert node.values["comm_size"] == plan.size_bytes
    told = chunks_of(document_of(plan))
    traces = [files[f"{plan.collective}.{rank}.et"] for rank in range(plan.gpus)]
    assert run(traces, told.first, told.last, 3) == []
    assert {(source, destination) for _, source, destination, _ in hops(traces)} <= used_by(plan)
    assert json.loads(files["logical-topology.json"]) == {"logical-dims": [str(plan.gpus)]}
    assert json.loads(files["remote-memory.json"]) == {"memory-type": "NO_MEMORY_EXPANSION"}


@pytest.mark.parametrize("collective", ["all-reduce", "broadcast"])
@pytest.mark.usefixtures("in_tmp")
def test_it_is_written_and_read_back(collective: str, cli: RunCli) -> None:
    ll.plan(collective, "1MiB", fabric=ll.Fabric(gpus=8)).save("plan.json")
    ran = cli("export", "plan.json", "--to", "astra-sim", "--output", "astra")
    assert (ran.status, ran.err) == (0, "")
    ran = cli("verify", "astra")
    assert (ran.status, ran.err) == (0, "")
    assert "all 6 checks passed" in ran.out
    ran = cli("plan", "--schedule", "astra", "--size", "1MiB", "--output", "again.json")
    assert ran.status == 0, ran.err
    plan, again = ll.Plan.load("plan.json"), ll.Plan.load("again.json")
    assert (again.collective, again.algorithm, again.total_s) == (plan.collective, plan.algorithm, plan.total_s)


@pytest.mark.parametrize(
    ("fabric", "topology", "blocks", "counts"),
    [
        (ll.Fabric(gpus=8), "ring", ["Ring"], [8]),
        (ll.Fabric(gpus=12, dims="3x4", ports=4), "torus", ["Ring", "Ring"], [4, 3]),
        (ll.Fabric(gpus=5, ports=4), "complete", ["FullyConnected"], [5]),
        (ll.Fabric(gpus=8, ports=2), "circulant:1,3", ["FullyConnected"], [8]),
    ],
)
def test_the_analytical_network_is_the_topology_where_it_can_be(
    fabric: ll.Fabric, topology: str, blocks: list[str], counts: list[int]
) -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=fabric, planner="static", topology=topology)
    exported = astra_sim.export(plan)
    network = network_of(exported)
    assert (network["topology"], network["npus_count"]) == (blocks, counts)
    up = {(source, destination) for source, destination, _ in plan.topologies[0].links.tolist()}
    assert up <= links_of(network)
    assert (up == links_of(network)) or topology in {"ring", "circulant:1,3"}
    assert any("fully connected" in note for note in exported.notes) == topology.startswith("circulant")

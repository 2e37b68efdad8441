"""Plans for ASTRA-sim: its files are read as its own parsers read them, and hold the plan's circuits and traffic."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
import yaml

import lightloom as ll
from lightloom.formats.astra_sim import write as astra_sim
from lightloom.formats.output import Exported
from tests.conftest import RunCli
from tests.formats.plans import document_of, random_plans
from tests.reference.astra_sim_timing import end_ns
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
    """The links of the analytical network: dimension by dimension, the first the fastest (MultiDimTopology)."""
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


@pytest.mark.large
@pytest.mark.parametrize("plan", random_plans(16, 12), ids=repr)
def test_the_system_runs_the_plan_as_its_algorithm(plan: ll.Plan) -> None:
    """`CollectiveImplLookup` finds the plan's traces for the workload's one collective, and they compute it."""
    files = astra_sim.export(plan).files
    system = json.loads(files["system.json"])
    assert system["preferred-dataset-splits"] == 1
    custom = [key for key in system if key.endswith("-implementation-custom")]
    # It takes no algorithm for collectives with a root.
    others = {"broadcast": "all-gather", "gather": "all-gather", "scatter": "all-gather", "reduce": "reduce-scatter"}
    called = others.get(plan.collective, plan.collective)
    assert custom == [f"{called}-implementation-custom"]
    assert system[custom[0]] == [plan.collective]
    kinds = {"all-reduce": 0, "all-gather": 2, "all-to-all": 6, "reduce-scatter": 7}
    for rank in range(plan.gpus):
        _, (node,) = decode(files[f"workload.{rank}.et"])
        assert (node.kind, node.values["comm_type"]) == (7, kinds[called])
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
        (ll.Fabric(gpus=12, dims="3x4", ports=4), "torus", ["FullyConnected"], [12]),
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
    assert (up == links_of(network)) or topology in {"ring", "torus", "circulant:1,3"}
    assert any("connects all pairs" in note for note in exported.notes) == (topology in {"torus", "circulant:1,3"})
    # Only the program without congestion takes a network of several dimensions.
    assert len(network["topology"]) == 1
    assert exported.notes[0].startswith("run in the folder: AstraSim_Analytical_Congestion_Aware --workload")


def end_of(plan: ll.Plan) -> int:
    files = astra_sim.export(plan).files
    return end_ns([files[f"{plan.collective}.{rank}.et"] for rank in range(plan.gpus)], files["network.yml"])


# Results of ASTRA-sim itself for the files that are written, in cycles of a nanosecond: its repository of March 2026,
# AstraSim_Analytical_Congestion_Aware.
MEASURED: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("all-reduce", {"gpus": 8}, {"algorithm": "halving-doubling", "planner": "harvest"}, 38113),
    ("broadcast", {"gpus": 8}, {"planner": "static", "algorithm": "scatter-allgather", "topology": "ring"}, 25517),
    ("all-reduce", {"gpus": 8}, {"algorithm": "recursive-doubling", "planner": "static", "topology": "ring"}, 34212),
    ("all-to-all", {"gpus": 8}, {"algorithm": "direct", "planner": "static", "topology": "ring"}, 39749),
]


@pytest.mark.parametrize(("collective", "fabric", "asked", "cycles"), MEASURED, ids=lambda one: str(one)[:14])
def test_astra_sim_takes_what_its_model_says(
    collective: str, fabric: dict[str, Any], asked: dict[str, Any], cycles: int
) -> None:
    assert end_of(ll.plan(collective, "1MiB", fabric=ll.Fabric(**fabric), **asked)) == cycles


def sent_s(plan: ll.Plan) -> float:
    """The time of a plan in ASTRA-sim: no startup, no reconfiguration."""
    return sum(step.propagation_s + step.transmission_s for step in plan.steps)


@pytest.mark.parametrize("gpus", [5, 8, 12])
def test_a_broadcast_takes_what_the_plan_takes(gpus: int) -> None:
    """Several sends of a rank are under way at once: with the traces as the workload it took 1.8 times as long."""
    plan = ll.plan("broadcast", "1MiB", fabric=ll.Fabric(gpus=gpus, ports=2))
    one_hop = max(step.hops for step in plan.steps) == 1
    assert one_hop or gpus != 8
    assert end_of(plan) * 1e-9 <= sent_s(plan) * (1.0001 if one_hop else 1.05)


@pytest.mark.large
@pytest.mark.parametrize("ports", [1, 2])
@pytest.mark.parametrize("collective", ["broadcast", "all-gather"])
def test_data_of_several_hops_take_what_the_plan_takes(collective: str, ports: int) -> None:
    """Whole messages took 1.7 times as long; less than the plan, since GPUs begin a step before others have ended."""
    fabric = ll.Fabric(gpus=8, ports=ports)
    algorithm = "binomial-tree" if collective == "broadcast" else "recursive-doubling"
    plan = ll.plan(collective, "4MiB", fabric=fabric, planner="static", topology="ring", algorithm=algorithm)
    assert max(step.hops for step in plan.steps) > 1
    assert end_of(plan) * 1e-9 <= sent_s(plan) * 1.05
    assert any(note.startswith("data that take several hops (up to ") for note in astra_sim.export(plan).notes)


def test_pieces_are_few_where_there_are_many_messages() -> None:
    from lightloom.formats.parcels import MOST_HOPS_OF_PIECES, arcs_of, in_pieces

    fabric = ll.Fabric(gpus=32)
    plan = ll.plan("all-to-all", "1MiB", fabric=fabric, algorithm="direct", planner="static", topology="ring")
    arcs = arcs_of(plan)
    counts = [
        sum(len(parcel.gpus) - 1 for step in cut for arc in step for parcel in arc.parcels)
        for cut in (arcs, in_pieces(plan, arcs, plan.bandwidth_bps))
    ]
    assert counts[0] < counts[1] <= MOST_HOPS_OF_PIECES + counts[0]

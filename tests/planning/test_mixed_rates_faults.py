"""What is broken on fabrics of mixed rates: ports and pairs of GPUs with different rates, and plans among some GPUs."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from tests.bounds_from_starts.all_schedules import Step
from tests.bounds_from_starts.graphs import Graph
from tests.names import names
from tests.planning.test_faults import dead
from tests.planning.unlike_rates import BITS, ROUNDING, least_load
from tests.reference import recomputed_plan
from tests.reference.plan_document import pairs_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

MIXED: dict[str, dict[str, Any]] = {
    "ports": {"bandwidth": ["800Gbps", "400Gbps"]},
    "pairs": {"bandwidth": "400Gbps", "pair_rates": "inside:4:800Gbps:100ns"},
}
FAULTS = ["gpu:3", "port:5.1", "port:5.0", "receiver:0.0", "link:0-7", "link:2>1", "switch:1"]
FAULTS += ["gpu:1,port:5.0,link:2-3"]


def fabric(mixed: str, **more: Any) -> ll.Fabric:
    return ll.Fabric(gpus=8, ports=2, **MIXED[mixed], **more)


def hold_to_what_it_says(plan: ll.Plan, failed: str, ports: int) -> None:
    """The judge, the second computation of all numbers, and the ports of each rate that work, counted here."""
    text = plan.to_json()
    assert all(check.passed for check in ll.verify(plan))
    assert recomputed_plan.faults(text) == []
    assert ll.Plan.from_json(text).to_json() == text
    document = json.loads(text)
    gpus = document.get("ranks", list(range(document["gpus"])))
    dead_ports = dead(failed, max(gpus) + 1, ports)
    cut = {fault.removeprefix("link:") for fault in failed.split(",")}
    told = document["fabric"]["bandwidth_bps"]
    by_port = told if isinstance(told, list) else [told] * ports
    rates = sorted(set(by_port), reverse=True)
    for topology in document["topologies"]:
        used: Counter[tuple[int, int, float]] = Counter()
        listed = topology.get("circuits_by_rate") if isinstance(told, list) else None
        by_rate = listed or [[count] for *_, count in topology["links"]]
        for (src, dst, _), counts in zip(topology["links"], by_rate, strict=True):
            ends = gpus[src], gpus[dst]
            assert not {"{}>{}".format(*ends), "{}-{}".format(*sorted(ends))} & cut
            for rate, count in zip(rates, counts, strict=True):
                used[0, ends[0], rate] += count
                used[1, ends[1], rate] += count
        for (side, gpu, rate), count in used.items():
            works = [port for port in range(ports) if by_port[port] == rate and (gpu, port) not in dead_ports[side]]
            assert count <= len(works), (topology["name"], side, gpu, rate)


@pytest.mark.large
@pytest.mark.parametrize("mixed", MIXED)
@pytest.mark.parametrize("failed", FAULTS)
@pytest.mark.parametrize("collective", names("collectives"))
def test_plans_repairs_and_circuits_keep_off_what_is_broken(collective: str, failed: str, mixed: str) -> None:
    plan = ll.plan(collective, "1MiB", fabric=fabric(mixed, failed=failed))
    hold_to_what_it_says(plan, failed, 2)
    out, into = dead(failed, 8, 2)
    circuits = ll.circuits(plan)
    assert all(check.passed for check in ll.verify(circuits, plan=plan))
    for configuration in json.loads(circuits.to_json())["configurations"]:
        for ingress, egress in configuration["switches"][0]["connections"]:
            assert divmod(ingress - 1, 2) not in out
            assert divmod(egress - 1, 2) not in into
    whole = ll.plan(collective, "1MiB", fabric=fabric(mixed))
    if collective in {"broadcast", "reduce", "scatter", "gather"} or "gpu" not in failed:
        mended = ll.repair(whole, failed, compare_anew=False)
        hold_to_what_it_says(mended.plan, failed, 2)
        assert mended.plan.total_s <= 4 * plan.total_s


def drawn(number: int) -> tuple[str, int, ll.Fabric, str]:
    """Collective, bytes, fabric of four GPUs and faults of a random problem."""
    rng = Random(f"faults of mixed rates {number}")  # noqa: S311
    ports = rng.choice((2, 2, 3))
    rates = [float(f"{rng.uniform(1, 9):.3g}e11") for _ in range(ports)]
    classes = [f"{one}:{other}:{rng.randint(100, 900)}Gbps:200ns" for one, other in ((0, 1), (2, 3), (0, 3))]
    mixed: dict[str, Any] = {"bandwidth": rates} if number % 2 else {"pair_rates": ",".join(classes)}
    kinds = [
        f"port:{rng.randrange(4)}.{rng.randrange(ports)}",
        f"receiver:{rng.randrange(4)}.{rng.randrange(ports)}",
        f"switch:{rng.randrange(ports)}",
        "link:{}-{}".format(*rng.sample(range(4), 2)),
        f"gpu:{rng.randrange(1, 4)}",
    ]
    failed = rng.choice(kinds)
    initial = rng.choice((None, None, "ring", "repeated"))
    own = ll.Fabric(gpus=4, ports=ports, failed=failed, initial=initial, reconfiguration_delay="1s", **mixed)
    return rng.choice(names("collectives")), rng.choice((400, 40_000, 4_000_000)), own, failed


def rate_of_circuits(document: dict[str, Any]) -> tuple[list[float], dict[tuple[int, int], tuple[float, float]]]:
    told, gpus = document["fabric"], document["gpus"]
    by_port = told["bandwidth_bps"]
    ports = by_port if isinstance(by_port, list) else [by_port] * told["ports"]
    return ports, pairs_of({**told, "bandwidth_bps": max(ports)}, gpus)


@pytest.mark.large
@pytest.mark.parametrize("number", range(24))
def test_no_bound_is_above_schedules_on_what_works(number: int) -> None:
    """Linear programs of all schedules on random circuits of the ports and links that work, port by port."""
    collective, size_bytes, own, failed = drawn(number)
    plan = ll.plan(collective, size_bytes, fabric=own)
    hold_to_what_it_says(plan, failed, own.ports)
    bound_s = ll.bound(collective, size_bytes, fabric=own).lower_bound_s
    assert bound_s <= plan.total_s * (1 + ROUNDING)
    if own.initial is not None:
        return
    document = json.loads(plan.to_json())
    by_port, pairs = rate_of_circuits(document)
    ranks, n = document.get("ranks", list(range(4))), document["gpus"]
    out, into = dead(failed, 4, own.ports)
    cut = {tuple(map(int, fault.removeprefix("link:").split("-"))) for fault in failed.split(",") if "link" in fault}
    rng = Random(number)  # noqa: S311
    for _ in range(6):
        graph: Any = Graph()
        hop_s = 0.0
        for port, rate_bps in enumerate(by_port):
            for src, dst in enumerate(rng.sample(range(n), n)):
                ends = ranks[src], ranks[dst]
                if src == dst or (ends[0], port) in out or (ends[1], port) in into or tuple(sorted(ends)) in cut:
                    continue
                graph[src, dst] += rate_bps * pairs[src, dst][0] / max(by_port) ** 2
                hop_s = max(hop_s, pairs[src, dst][1])
        hops = [rng.randint(1, n - 1) for _ in range(rng.choice((1, 2)))]
        load = least_load(collective, n, [Step(graph, limit) for limit in hops])
        if load is not None:
            total_s = plan.startup_s * len(hops) + hop_s * sum(hops) + BITS / max(by_port) * size_bytes * load
            assert bound_s <= total_s * (1 + ROUNDING)


@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all"])
def test_a_dead_plane_leaves_the_fabric_of_the_others(collective: str) -> None:
    """800, 400 and 200 Gbit/s without the first are 400 and 200: no slower, and with no smaller a bound."""
    rates = ["800Gbps", "400Gbps", "200Gbps"]
    broken = ll.plan(collective, "4MiB", fabric=ll.Fabric(gpus=6, ports=3, bandwidth=rates, failed="switch:0"))
    others = ll.plan(collective, "4MiB", fabric=ll.Fabric(gpus=6, ports=2, bandwidth=rates[1:]))
    assert broken.total_s == pytest.approx(others.total_s, rel=1e-9)
    assert broken.lower_bound_s == pytest.approx(others.lower_bound_s, rel=0.01)


@pytest.mark.large
@pytest.mark.parametrize("collective", ["all-gather", "all-to-all"])
def test_survivors_have_the_rates_of_their_pairs(collective: str) -> None:
    """Without GPU 3, groups of three and four GPUs are left, which are as fast inside as they were."""
    broken = ll.plan(collective, "4MiB", fabric=fabric("pairs", failed="gpu:3"))
    told = json.loads(broken.to_json())
    pairs = pairs_of(told["fabric"], 7)
    for (one, other), (rate_bps, _) in pairs.items():
        assert rate_bps == (8e11 if (one < 3) == (other < 3) else 4e11)
    named = "0-2:0-2:800Gbps:100ns,3-6:3-6:800Gbps:100ns"
    alone = ll.plan(collective, "4MiB", fabric=ll.Fabric(gpus=7, ports=2, bandwidth="400Gbps", pair_rates=named))
    assert broken.total_s == pytest.approx(alone.total_s, rel=1e-9)
    among = ll.plan(collective, "4MiB", fabric=fabric("pairs"), ranks=[0, 1, 2, 4, 5, 6, 7])
    assert among.total_s == broken.total_s


def test_ranks_of_one_group_have_one_rate() -> None:
    """In the order of ranks, and to the last bit of the times of a fabric of their rate."""
    some = ll.plan("all-reduce", "1MiB", fabric=fabric("pairs"), ranks=[6, 4, 5, 7])
    alike = ll.Fabric(gpus=4, ports=2, bandwidth="800Gbps", hop_delay="100ns")
    assert some.total_s == ll.plan("all-reduce", "1MiB", fabric=alike).total_s
    assert "pair_rates" not in json.loads(some.to_json())["fabric"]
    mixed = ll.plan("all-reduce", "1MiB", fabric=fabric("pairs"), ranks=[6, 0, 5])
    pairs = pairs_of(json.loads(mixed.to_json())["fabric"], 3)
    assert {pair: rate for pair, (rate, _) in pairs.items() if pair[0] < pair[1]} == {
        (0, 1): 4e11,
        (0, 2): 8e11,
        (1, 2): 4e11,
    }


@pytest.mark.large
def test_a_ring_at_the_start_keeps_the_circuits_that_work() -> None:
    """Clockwise on ports of 800 and back on ports of 400 Gbit/s: GPU 2 loses one circuit of the rate of its port."""
    links = {}
    for port in (0, 1):
        plan = ll.plan("all-gather", "1KiB", fabric=fabric("ports", failed=f"port:2.{port}", initial="ring"))
        document = json.loads(plan.to_json())
        start = document["topologies"][document["initial_topology"]]
        by_rate = dict(zip(((src, dst) for src, dst, _ in start["links"]), start["circuits_by_rate"], strict=True))
        links[port] = [sum(counts[port] for (src, _), counts in by_rate.items() if src == gpu) for gpu in range(8)]
    assert links == {0: [1, 1, 0, 1, 1, 1, 1, 1], 1: [1, 1, 0, 1, 1, 1, 1, 1]}


@pytest.mark.large
def test_a_repair_keeps_circuits_at_their_rates() -> None:
    """Kept are those that some topology of the plan before has on ports of the same rate."""
    before = ll.plan("all-reduce", "1MiB", fabric=fabric("ports"))
    found = ll.repair(before, "port:5.1", compare_anew=False)

    def circuits(plan: ll.Plan) -> list[Counter[tuple[int, int, int]]]:
        document = json.loads(plan.to_json())
        used = sorted({step.topology_index for step in plan.steps})
        every = []
        for topology in (document["topologies"][index] for index in used):
            listed = zip(topology["links"], topology["circuits_by_rate"], strict=True)
            places = (
                ((src, dst, place), count) for (src, dst, _), counts in listed for place, count in enumerate(counts)
            )
            every.append(Counter(dict(places)))
        return every

    own, others = circuits(found.plan), circuits(before)
    kept = sum(max((one & other).total() for other in others) for one in own)
    assert (found.circuits_kept, found.circuits_new) == (kept, sum(one.total() for one in own) - kept)


@pytest.mark.large
@pytest.mark.parametrize("mixed", MIXED)
def test_every_single_fault_is_compared_and_kept_in_a_file(mixed: str, tmp_path: Path, cli: RunCli) -> None:
    options = {
        "ports": ("--bandwidth", "800Gbps,400Gbps"),
        "pairs": ("--bandwidth", "400Gbps", "--pair-rates", "inside:2:800Gbps"),
    }[mixed]
    asked = ("--collective", "all-gather", "--size", "64KiB", "--gpus", "4", "--ports", "2", *options)
    file = tmp_path / "fallbacks.json"
    ran = cli("plan", *asked, "--failed", "any-port,any-gpu", "--output", str(file))
    assert ran.status == 0, ran.err
    assert cli("verify", str(file)).status == 0
    document = json.loads(file.read_text())
    changed = document["plans"]["gpu:0"]["fabric"]
    changed["bandwidth_bps"] = [8e11, 2e11] if mixed == "ports" else 2e11
    file.write_text(json.dumps(document))
    judged = cli("verify", str(file))
    assert judged.status == 1
    assert "one-problem" in judged.out
    assert "gpu:0: " in judged.out
    compared = json.loads(cli("compare", *asked, "--failed", "any-switch", "--format", "json").out)
    assert compared
    for one, other in itertools.combinations((0, 1), 2):
        both = cli("plan", *asked, "--failed", f"switch:{one},switch:{other}")
        assert both.status == 2
        assert both.err.startswith("error: failed: ")

"""Iterations on ports of different rates, by every policy: against the judge, their files and a second simulator."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.training.result import Training
from tests.conftest import RunCli
from tests.reference import recomputed_plan
from tests.training import judge_simulations
from tests.training.judge_random_workloads import CHOOSABLE, planned

GIGA = 1e9
RATES_BPS = (100 * GIGA, 400 * GIGA, 800 * GIGA)


def drawn(seed: int) -> tuple[ll.Fabric, dict[str, Any], int, int]:
    """A fabric of two or three ports that are not all alike, a workload, packets and bytes of a header."""
    fabric, told, packets, header_bytes = judge_simulations.drawn(seed)
    rng = random.Random(seed)  # noqa: S311 (a test's draws, not a secret)
    rates = rng.sample(RATES_BPS, 2) + [rng.choice(RATES_BPS)] * rng.randint(0, 1)
    rng.shuffle(rates)
    return replace(fabric, ports=len(rates), bandwidth=rates), told, packets, header_bytes


def hold_to_what_it_says(training: Training, seed: int, packets: int, header_bytes: int) -> None:
    """Its plans are recomputed, a second simulator takes as long, and circuits are put on ports of their rates."""
    assert Training.from_json(training.to_json()).to_json() == training.to_json()
    assert all(check.passed for check in ll.verify(training))
    for plan in training.plans:
        assert recomputed_plan.faults(plan.to_json()) == []
    compared = judge_simulations.compared(training, seed, packets, header_bytes)
    assert abs(compared.difference) <= 1e-9, seed
    for kind in ("crossbar", "parallel"):
        checks = ll.verify(ll.circuits(training, optics=kind), plan=training, optics=kind)
        assert all(check.passed for check in checks), (seed, kind, checks)


def judge(seeds: range) -> None:
    """Every policy; the one that plans everything together is the fastest."""
    for seed in seeds:
        fabric, told, packets, header_bytes = drawn(seed)
        carry = planned(told, fabric)
        hold_to_what_it_says(carry, seed, packets, header_bytes)
        policy = CHOOSABLE[seed % len(CHOOSABLE)]
        for name in CHOOSABLE:
            seconds = carry.policies[name]
            assert seconds is None or carry.lower_bound_s <= carry.total_s * (1 + 1e-9) <= seconds * (1 + 2e-9), seed
        if carry.policies[policy] is not None and policy != "carry":
            hold_to_what_it_says(planned(told, fabric, policy), seed, packets, header_bytes)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(4))
def test_iterations_hold_what_they_say(seed: int) -> None:
    judge(range(seed, seed + 1))


@pytest.mark.large
def test_many_iterations_hold_what_they_say() -> None:
    judge(range(100, 120))


def message(**node: Any) -> dict[str, Any]:
    """A workload of messages from rank 0 to rank 1, one after the other."""
    sends = [
        {"id": f"s{place}", "kind": "send", "source": 0, "destination": 1, "size_bytes": 10**6, "after": after}
        for place, after in enumerate(([], ["s0"]))
    ]
    return {"schema": "lightloom.workload/1", "ranks": 2, "mesh": {}, "groups": {}, "nodes": sends} | node


@pytest.mark.parametrize("bandwidth", [[8e11, 4e11], [4e11, 8e11, 4e11], [1e11, 8e11, 8e11]])
def test_messages_take_the_sum_of_the_rates(bandwidth: list[float]) -> None:
    # α + δ + 8·m/Σr for each, and circuits stay; no port can carry more, so that the bound is what the bytes take.
    training = planned(message(), ll.Fabric(ports=len(bandwidth), bandwidth=bandwidth, startup="1us", hop_delay="2us"))
    bytes_s = 8e6 / sum(bandwidth)
    assert training.total_s == pytest.approx(2 * (3e-6 + bytes_s), rel=1e-12)
    assert training.lower_bound_s == pytest.approx(training.total_s, rel=1e-9)


@pytest.mark.parametrize("gigas", [(800, 8), (800, 8, 8, 8, 800), (1, 3, 1000), (700, 500, 300, 200), (800, 7.3, 11.1)])
def test_packets_fill_every_port(gigas: tuple[float, ...]) -> None:
    """A long message takes as long as all ports together, but for what 1 % and few packets on the slowest one take."""
    sends = [{"id": "s", "kind": "send", "source": 0, "destination": 1, "size_bytes": 10**8, "after": []}]
    training = planned(message(nodes=sends), ll.Fabric(ports=len(gigas), bandwidth=[giga * GIGA for giga in gigas]))
    packet_s = 8 * 4096 / (min(gigas) * GIGA)
    late_s = ll.simulate(training, packet_size=4096).total_s - training.total_s
    assert 0 <= late_s <= 0.01 * training.total_s + 2 * packet_s


@pytest.mark.parametrize("order", list(itertools.permutations((8e11, 4e11))))
def test_each_stream_has_the_port_that_suits_it(order: tuple[float, float]) -> None:
    """Two streams at once, of 300 and of 100 MB, on circuits that stay: the larger has the fast port, wherever that is.

    Two ranks send each other all they have, in α + δ + 8·m/r. On a port each that is as long as the larger takes.
    """
    collective = {"kind": "collective", "collective": "all-reduce", "after": []}
    nodes = [
        {"id": "large", **collective, "axis": "a", "size_bytes": 3 * 10**8, "stream": "x"},
        {"id": "small", **collective, "axis": "b", "size_bytes": 10**8, "stream": "y"},
    ]
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"a": 2, "b": 2}, "groups": {}, "nodes": nodes}
    fabric = ll.Fabric(ports=2, bandwidth=list(order), reconfiguration_delay="1s", startup=0, hop_delay="1us")
    one_shot = planned(told, fabric, "one-shot")
    assert one_shot.total_s == pytest.approx(1e-6 + 8 * 3e8 / 8e11, rel=1e-9)
    fast = order.index(8e11)
    assert [event.ports for event in one_shot.events] == [(fast,), (1 - fast,)]


def test_a_list_of_equal_rates_is_one_rate() -> None:
    _, told, *_ = drawn(5)
    one = planned(told, ll.Fabric(ports=2, bandwidth=4e11))
    assert planned(told, ll.Fabric(ports=2, bandwidth=[4e11, 4e11])).to_json() == one.to_json()


def test_the_judge_knows_which_ports_are_fast() -> None:
    nodes = [{"id": "c", "kind": "collective", "collective": "all-gather", "axis": "a", "size_bytes": 10**7}]
    told = {"schema": "lightloom.workload/1", "ranks": 4, "mesh": {"a": 4}, "groups": {}, "nodes": nodes}
    nodes[0]["after"] = []
    document = json.loads(planned(told, ll.Fabric(ports=2, bandwidth=[8e11, 2e11])).to_json())
    for other in ([2e11, 8e11], [8e11, 4e11], 8e11):
        changed = document | {"fabric": document["fabric"] | {"bandwidth_bps": other}}
        with pytest.raises(InputError, match="check `plans` failed: node `c`: the bandwidth of its plan"):
            Training.from_json(json.dumps(changed))


def test_jobs_take_as_long_as_their_iterations(in_tmp: Path) -> None:
    (in_tmp / "jobs.toml").write_text('job = [{name = "one", model = "bert-pccl", ranks = 2, iterations = 10}]')
    fabric = ll.Fabric(gpus=4, ports=2, bandwidth=["800Gbps", "200Gbps"])
    one = ll.train("bert-pccl", ranks=2, fabric=replace(fabric, gpus=None))
    slow = ll.train("bert-pccl", ranks=2, fabric=ll.Fabric(ports=2, bandwidth="200Gbps"))
    (run,) = ll.place_jobs(in_tmp / "jobs.toml", fabric=fabric, sharing="own").runs
    assert one.policies["one-shot"] is not None
    assert run.makespan_s == pytest.approx(10 * one.policies["one-shot"], rel=1e-3)
    assert one.total_s < slow.total_s


@pytest.mark.parametrize("verb", [("run",), ("export", "--to", "openoptics", "--output", "out")])
def test_what_has_one_rate_is_refused_in_a_line(cli: RunCli, in_tmp: Path, verb: tuple[str, ...]) -> None:
    nodes = [{"id": "c", "kind": "collective", "collective": "all-gather", "group": "g", "size_bytes": 8, "after": []}]
    told = message(nodes=nodes, groups={"g": [0, 1]})
    planned(told, ll.Fabric(ports=2, bandwidth=[8e11, 4e11])).save(in_tmp / "iteration.json")
    ran = cli(verb[0], "iteration.json", *verb[1:])
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "plan" in ran.err
    assert "rates" in ran.err
    assert not (in_tmp / "out").exists()


def test_pairs_of_different_rates_are_refused() -> None:
    with pytest.raises(InputError, match="iterations are planned with one rate for all pairs of GPUs"):
        planned(message(), ll.Fabric(ports=2, pair_rates="0:1:100Gbps"))

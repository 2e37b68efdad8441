"""Iterations timed again and simulated, against the plan's own times, numbers on paper and plans by themselves."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.simulation.iterations import TrainingSimulation
from lightloom.simulation.message_packets import MessageTimes, packets_each
from lightloom.simulation.message_paths import Paths
from lightloom.simulation.retiming import retimed
from lightloom.training.result import Training
from tests.conftest import RunCli
from tests.training.iterations import workload
from tests.training.random_workloads import fabric as fabric_by_chance
from tests.training.random_workloads import workload as workload_by_chance

POLICIES = ("carry", "alone", "pccl", "one-shot", "static")
MICRO = 1e-6


def _durations(training: Training) -> list[float]:
    return [event.end_s - event.start_s for event in training.events]


def _assert_as_planned(training: Training) -> None:
    found = retimed(training, _durations(training))
    rounding_s = 1e-9 * training.total_s
    assert found.total_s == pytest.approx(training.total_s, rel=0, abs=rounding_s)
    assert found.starts_s == pytest.approx([event.start_s for event in training.events], rel=0, abs=rounding_s)


@pytest.mark.large
@pytest.mark.parametrize("ports", [1, 2, 3])
@pytest.mark.parametrize("policy", POLICIES)
def test_with_its_own_durations_an_iteration_is_as_it_was_planned(ports: int, policy: str) -> None:
    if ports == 1 and policy in {"one-shot", "static"}:
        pytest.skip("two axes do not share one port without changes")
    fabric = ll.Fabric(ports=ports, reconfiguration_delay="10us")
    _assert_as_planned(ll.train(ll.Workload.of(workload(3)), fabric=fabric, policy=policy))


@pytest.mark.large
@pytest.mark.parametrize("policy", ["carry", "alone", "pccl"])
@pytest.mark.parametrize("model", ["bert-pccl", "bert-pccl-overlapped"])
def test_models_are_as_they_were_planned(model: str, policy: str) -> None:
    _assert_as_planned(ll.train(model, ranks=8, fabric=ll.Fabric(ports=2), policy=policy))


@pytest.mark.large
@pytest.mark.parametrize("seed", range(12))
def test_workloads_by_chance_are_as_they_were_planned(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (tests)
    read, fabric = ll.Workload.of(workload_by_chance(rng)), fabric_by_chance(rng)
    for policy in ("carry", "alone"):
        _assert_as_planned(ll.train(read, fabric=fabric, policy=policy))


@pytest.fixture(scope="module")
def shared_port() -> Training:
    """100 µs of computation, then an AllReduce on either axis, which take turns on one port: circuits change twice."""
    told: dict[str, Any] = {**workload(), "nodes": [{"id": "f", "kind": "compute", "duration_s": 1e-4, "after": []}]}
    for axis, before in (("tp", "f"), ("dp", "tp")):
        node = {"id": axis, "kind": "collective", "collective": "all-reduce", "axis": axis, "size_bytes": 1 << 20}
        told["nodes"].append({**node, "after": [before]})
    training = ll.train(ll.Workload.of(told), fabric=ll.Fabric(reconfiguration_delay="10us"))
    assert [event.reconfigured for event in training.events] == [False, True, True]
    return training


@pytest.mark.parametrize(
    ("durations", "starts", "total"),
    [
        # The change before tp hides behind f, that before dp is waited for.
        ((100, 20, 30), (0, 100, 130), 160),
        # f hides 4 of the 10 µs after the iteration before.
        ((4, 20, 30), (0, 10, 40), 70),
        ((0, 0, 0), (0, 10, 20), 20),
    ],
)
def test_with_other_durations_circuits_still_take_their_time(
    shared_port: Training, durations: tuple[int, ...], starts: tuple[int, ...], total: int
) -> None:
    found = retimed(shared_port, [MICRO * duration for duration in durations])
    assert found.starts_s == pytest.approx([MICRO * start for start in starts])
    assert found.total_s == pytest.approx(MICRO * total)


def test_longer_events_never_make_an_iteration_shorter() -> None:
    fabric = ll.Fabric(ports=2, reconfiguration_delay="10us")
    training = ll.train(ll.Workload.of(workload(2)), fabric=fabric)
    durations_s = _durations(training)
    for index in range(len(durations_s)):
        longer = [*durations_s]
        longer[index] += 20 * MICRO
        assert retimed(training, longer).total_s >= training.total_s * (1 - 1e-12)


def test_plans_are_simulated_once_and_packets_are_of_all_groups() -> None:
    training = ll.train(ll.Workload.of(workload(2)), fabric=ll.Fabric(ports=2))
    found = ll.simulate(training, header_size=64)
    assert isinstance(found, TrainingSimulation)
    assert len(found.plans) == len(training.plans) == 2
    for event, start_s, end_s in zip(
        training.events, found.to_columns()["start_s"], found.to_columns()["end_s"], strict=True
    ):
        if event.plan is not None:
            by_itself = ll.simulate(training.plans[event.plan], header_size=64)
            assert end_s - start_s == pytest.approx(by_itself.total_s, rel=1e-9)
        elif event.kind == "compute":
            assert end_s - start_s == pytest.approx(event.end_s - event.start_s)
    # Layers of two groups of 4, four groups of 2 and four messages of ⌈1 MB / 4 KiB⌉ packets each.
    tp, dp = (plan.packets for plan in found.plans)
    assert found.packets == 2 * (2 * tp + 4 * dp + 4 * 245)
    assert found.packet_hops >= found.packets
    # Headers make everything longer but computation.
    assert 1 < found.ratio < 1.02
    simulated_s, predicted_s = found.by_label["compute"]
    assert simulated_s == pytest.approx(predicted_s)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 (our own)
    assert again.to_json() == found.to_json()


@pytest.mark.large
@pytest.mark.parametrize("reconfiguration", ["global", "ports"])
def test_what_changes_before_a_plan_is_the_iterations_affair(reconfiguration: str) -> None:
    told = {**workload(), "groups": {"all": [*range(8)]}}
    told["nodes"] = [{"id": "a", "kind": "collective", "collective": "all-reduce", "group": "all"}]
    told["nodes"][0] |= {"size_bytes": 1 << 24, "after": []}
    fabric = ll.Fabric(ports=2, reconfiguration_delay="1ns")
    training = ll.train(ll.Workload.of(told), fabric=fabric, policy="alone")
    (plan,) = training.plans
    assert plan.steps[0].reconfigured
    found = ll.simulate(training, packet_size=256, reconfiguration=reconfiguration)
    # Back to rest, and from there on: the change after it and the one before it follow each other.
    assert found.plans[0].total_s == pytest.approx(plan.total_s - 1e-9, rel=1e-5)
    assert found.total_s == pytest.approx(training.total_s, rel=1e-5)


@pytest.mark.large
def test_with_small_packets_and_no_headers_the_plan_is_met() -> None:
    for policy in ("carry", "alone"):
        training = ll.train(ll.Workload.of(workload(2)), fabric=ll.Fabric(ports=3), policy=policy)
        for settings in ({"packet_size": 256, "injection": "paced"}, {"level": "flow"}):
            assert ll.simulate(training, **settings).ratio == pytest.approx(1, rel=2e-3)


@pytest.mark.large
@pytest.mark.parametrize(("ports", "size"), [(1, 1_000_000), (2, 1_000_000), (3, 12_288), (3, 4096), (4, 1)])
@pytest.mark.parametrize("header", [0, 64])
def test_a_message_takes_what_a_broadcast_to_one_takes(ports: int, size: int, header: int) -> None:
    """Over one hop: the packets of a plan of two GPUs, which the packet simulator follows."""
    fabric = ll.Fabric(gpus=2, ports=ports)
    plan = ll.plan("broadcast", size, fabric=fabric, algorithm="binomial-tree", planner="static", topology="ring")
    by_itself = ll.simulate(plan, header_size=header)
    training = ll.train(ll.Workload.of(workload()), fabric=ll.Fabric(ports=ports))
    # A ring of two has circuits over all ports.
    circuits = max(count for *_, count in plan.topologies[0].links.tolist())
    message = Paths(((0, 1),), {(0, 1): circuits}, (), training.fabric.rates_bps, {})
    times = MessageTimes(training, by_itself.settings)
    assert times.seconds(message, size) == pytest.approx(by_itself.total_s, rel=1e-6)
    assert packets_each(size, by_itself.settings) == by_itself.packets


def test_the_verb_tells_what_python_finds(cli: RunCli, in_tmp: Path) -> None:
    training = ll.train(ll.Workload.of(workload()), fabric=ll.Fabric(ports=2))
    training.save("training.json")
    ran = cli("simulate", "training.json", "--header-size", "64B", "--format", "json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out) == json.loads(ll.simulate(in_tmp / "training.json", header_size=64).to_json())
    ran = cli("simulate", "training.json", "--format", "csv")
    assert [line.split(",")[0] for line in ran.out.splitlines()] == ["node", *(event.node for event in training.events)]
    ran = cli("simulate", "training.json")
    assert {"compute", "tp", "dp", "sends", "iteration"} <= {line.split()[0] for line in ran.out.splitlines() if line}
    ran = cli("simulate", "training.json", "--plot", "picture.png")
    assert ran.err.startswith("error: plot: it is only for plans")
    assert ran.status == 2


def test_what_the_judge_refuses_is_not_simulated(in_tmp: Path) -> None:
    training = ll.train(ll.Workload.of(workload()), fabric=ll.Fabric(ports=2))
    told = json.loads(training.to_json())
    told["events"][-1]["end_s"] += 1e-5
    (in_tmp / "training.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=r"^training: check `durations` failed"):
        ll.simulate("training.json")

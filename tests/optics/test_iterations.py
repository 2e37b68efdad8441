"""The circuits of training iterations: numbers on paper, random iterations, and faults that the verifier finds."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.optics.test_judge import resettled
from tests.training.iterations import workload
from tests.training.random_workloads import fabric as fabric_by_chance
from tests.training.random_workloads import workload as workload_by_chance

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lightloom.optics.port_maps import Configuration
    from tests.conftest import RunCli

LAYERS = ("crossbar", "parallel")
MICRO = 1e-6


@pytest.fixture(scope="module")
def shared_port() -> ll.Training:
    """100 µs of computation, then an AllReduce on either axis, which take turns on one port: circuits change twice."""
    told: dict[str, Any] = {**workload(), "nodes": [{"id": "f", "kind": "compute", "duration_s": 1e-4, "after": []}]}
    for axis, before in (("tp", "f"), ("dp", "tp")):
        node = {"id": axis, "kind": "collective", "collective": "all-reduce", "axis": axis, "size_bytes": 1 << 20}
        told["nodes"].append({**node, "after": [before]})
    return ll.train(ll.Workload.of(told), fabric=ll.Fabric(reconfiguration_delay="10us"))


def _joined(configuration: Configuration) -> set[tuple[int, int]]:
    """Pairs of ranks that a crossbar of one port a rank joins."""
    return {(ingress - 1, egress - 1) for ingress, egress in configuration.switches[0].connections.tolist()}


def test_two_axes_take_turns_on_one_port(shared_port: ll.Training) -> None:
    # 4 × 2 ranks: tp has {0, 1, 2, 3} and {4, 5, 6, 7}, dp has {0, 4} to {3, 7}, each in its ring. The change before tp
    # is due 10 µs before it starts, while ranks compute; that before dp begins when tp ends, 10 µs before dp starts.
    made = ll.circuits(shared_port)
    events = {event.node: event for event in shared_port.events}
    dp = {(rank, rank + 4) for rank in range(4)} | {(rank + 4, rank) for rank in range(4)}
    first, tp, last = made.configurations
    assert _joined(first) == _joined(last) == dp
    assert all(source // 4 == destination // 4 for source, destination in _joined(tp))
    assert len(_joined(tp)) == 8
    assert tp.time_s == pytest.approx(events["tp"].start_s - 10 * MICRO)
    assert tp.events == (("dp",), ("tp",), (0,))
    assert last.time_s == pytest.approx(events["tp"].end_s)
    assert last.time_s == pytest.approx(events["dp"].start_s - 10 * MICRO)
    assert last.events == (("tp",), ("dp",), (0,))
    assert first.events is None
    assert first.topology_index == last.topology_index != tp.topology_index


@pytest.mark.large
@pytest.mark.parametrize("seed", range(16))
def test_iterations_by_chance_have_the_circuits_that_they_need(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (tests)
    read, fabric = ll.Workload.of(workload_by_chance(rng, most=6)), fabric_by_chance(rng)
    served = [name for name, time_s in ll.train(read, fabric=fabric).policies.items() if time_s is not None]
    for policy in sorted({"carry", "alone", "pccl"} & set(served)):
        training = ll.train(read, fabric=fabric, policy=policy)
        for layer in LAYERS:
            made = ll.circuits(training, layer)
            assert [check for check in ll.verify(made) if not check.passed] == []
            assert ll.Circuits.from_json(made.to_json()) == made
            if any(event.reconfigured for event in training.events):
                assert len(made.configurations) > 1


def test_circuits_that_never_change_are_one_configuration() -> None:
    training = ll.train("bert-pccl", ranks=8, fabric=ll.Fabric(ports=2), policy="static")
    assert not any(event.reconfigured for event in training.events)
    made = ll.circuits(training)
    assert len(made.configurations) == 1
    assert "the circuits never change" in made._repr_html_()


def _late(document: dict[str, Any]) -> None:
    document["configurations"][1]["time_s"] += 1e-6


def _early(document: dict[str, Any]) -> None:
    document["configurations"][-1]["time_s"] -= 1e-6


def _dark(document: dict[str, Any]) -> None:
    document["configurations"][1]["switches"][0]["connections"].pop()


def _ends_differently(document: dict[str, Any]) -> None:
    document["configurations"].pop()


def _unknown_event(document: dict[str, Any]) -> None:
    document["configurations"][1]["events"]["before"] = ["n\u00e9"]


def _no_events(document: dict[str, Any]) -> None:
    del document["configurations"][1]["events"]


def _strange_events(document: dict[str, Any]) -> None:
    document["configurations"][1]["events"] = {"after": ["f"], "before": [], "steps": []}


def _no_step(document: dict[str, Any]) -> None:
    document["configurations"][1]["events"]["steps"] = []


def _steps(document: dict[str, Any]) -> None:
    document["configurations"][1]["steps"] = [0]


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (_late, "circuits"),
        (_early, "circuits"),
        (_dark, "circuits"),
        (_ends_differently, "changes"),
        (_unknown_event, "events"),
        (_no_events, "events"),
        (_steps, "events"),
        (_strange_events, "events"),
        (_no_step, "events"),
    ],
)
def test_the_judge_finds_what_is_wrong(
    change: Callable[[dict[str, Any]], None], check: str, shared_port: ll.Training
) -> None:
    document = json.loads(ll.circuits(shared_port).to_json())
    change(document)
    resettled(document)
    changed = ll.Circuits.from_json(json.dumps(document))
    failed = [one.name for one in ll.verify(changed, plan=shared_port) if not one.passed]
    assert failed[:1] == [check]


@pytest.mark.parametrize(
    ("layer", "reason"),
    [("islands:4x2", "island 0 has 2 ports; more circuits leave it at once"), ("awgr:8", "`awgr:8`.*islands:AxB")],
)
def test_layers_that_cannot_have_its_circuits_are_refused(layer: str, reason: str, shared_port: ll.Training) -> None:
    with pytest.raises(InputError, match=rf"^optics: {reason}"):
        ll.circuits(shared_port, layer)


def test_files_are_shown_judged_and_kept_apart(cli: RunCli, shared_port: ll.Training, in_tmp: Path) -> None:
    shared_port.save(in_tmp / "iteration.json")
    told = cli("circuits", "iteration.json", "--optics", "parallel", "--output", "circuits.json").out
    assert [line.split()[:3] for line in told.splitlines() if line.startswith("             ")] == [
        ["1", "-", "the"],
        ["2", "dp", "tp"],
        ["3", "tp", "dp"],
    ]
    assert "all 4 checks passed" in cli("verify", "circuits.json", "--plan", "iteration.json").out
    shown = cli("circuits", "circuits.json", "--all-connections").out
    assert "configuration 2: after dp, for tp" in shown
    rows = cli("circuits", "iteration.json", "--format", "csv").out.splitlines()
    assert rows[0].startswith("configuration,topology_index,time_s")
    assert len(rows) == 1 + 8 + 2 * 16

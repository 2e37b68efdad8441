"""Lengths of fibres between interposers, their delay in plans, and orders of interposers, recomputed here."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.conftest import RunCli
from tests.refusals import assert_refused

# Four interposers in a row, a GPU on each of two tiles; positions in metres.
MESH = "mesh:4x4,tiles=1x2,interposers=1x4,fibres=4,wavelengths=4"
POSITIONS_M = (0.0, 2.0, 5.0, 30.0)
PLACED = f"{MESH},column_positions_m=0:2:5:30"


def plan_of(optics: str | None = None, algorithm: str = "recursive-doubling") -> ll.Plan:
    fabric = ll.Fabric(gpus=8, reconfiguration_delay="100ns", optics=optics)
    return ll.plan("all-gather", "64KiB", fabric=fabric, algorithm=algorithm, planner="harvest")


@pytest.fixture(scope="module")
def plan() -> ll.Plan:
    return plan_of()


def failures(document: dict[str, Any], plan: ll.Plan, optics: str | None = None) -> dict[str, str]:
    """Name and detail of each check that fails."""
    checks = ll.verify(ll.Circuits.from_json(json.dumps(document)), plan=plan, optics=optics)
    return {check.name: check.detail for check in checks if not check.passed}


def test_a_circuit_has_the_fibre_between_its_interposers(plan: ll.Plan) -> None:
    circuits = ll.circuits(plan, PLACED)
    lengths_m = set()
    for paths in circuits.light:
        for one in paths:
            ends = [(port - 1) // 2 for port in (one.ingress, one.egress)]
            # All interposers are in a row: no way is shorter than the difference of the positions, and none goes back.
            assert one.fibre_m == pytest.approx(abs(POSITIONS_M[ends[0]] - POSITIONS_M[ends[1]]))
            lengths_m.add(one.fibre_m)
    assert len(lengths_m) > 2
    assert {check.passed for check in ll.verify(circuits, plan=plan, optics=PLACED)} == {True}
    assert ll.Circuits.from_json(circuits.to_json()) == circuits


@pytest.mark.parametrize(("setting", "ns_per_m"), [("", 5.0), (",fibre_delay_ns_per_m=3", 3.0)])
def test_each_step_waits_for_its_longest_circuit(plan: ll.Plan, setting: str, ns_per_m: float) -> None:
    circuits = ll.circuits(plan, PLACED + setting)
    delay = circuits.fibre_delay
    assert delay is not None
    expected = [0.0] * len(plan.steps)
    for configuration in circuits.configurations:
        links = plan.topologies[configuration.topology_index].links
        longest_m = max(abs(POSITIONS_M[src // 2] - POSITIONS_M[dst // 2]) for src, dst, _ in links.tolist())
        for step in configuration.steps:
            expected[step] = plan.steps[step].hops * longest_m * ns_per_m * 1e-9
    assert delay.steps_s == pytest.approx(expected)
    assert delay.total_s == pytest.approx(sum(expected))
    assert delay.total_s > 0


def test_equal_lengths_are_positions_at_equal_distances(plan: ll.Plan) -> None:
    equal = ll.circuits(plan, f"{MESH},fibre_m=2.5")
    placed = ll.circuits(plan, f"{MESH},column_positions_m=0:2.5:5:7.5")
    assert equal.to_json() == placed.to_json()
    assert failures(json.loads(equal.to_json()), plan, f"{MESH},fibre_m=2.5") == {}


def test_fibres_of_no_length_take_no_time_and_change_nothing_else(plan: ll.Plan) -> None:
    without, none = (
        json.loads(ll.circuits(plan, MESH).to_json()),
        json.loads(ll.circuits(plan, f"{MESH},fibre_m=0").to_json()),
    )
    assert none.pop("fibre_delay")["total_s"] == 0
    assert none["mesh"].pop("fibre_lengths")["row_positions_m"] == [0]
    for configuration in none["configurations"]:
        assert {path.pop("fibre_m") for path in configuration["light"]} == {0}
    assert none == without
    assert "fibre_m" not in json.dumps(without)


def delay_s(plan: ll.Plan, positions_m: list[tuple[float, float]], order: tuple[int, ...]) -> float:
    """Seconds of light in fibres where the i-th pair of GPUs is on interposer order[i]."""
    total_s = 0.0
    for step in plan.steps:
        lengths = [0.0]
        for src, dst, _ in plan.topologies[step.topology_index].links.tolist():
            ends = [positions_m[order[gpu // 2]] for gpu in (src, dst)]
            lengths.append(sum(abs(a - b) for a, b in zip(*ends, strict=True)))
        total_s += step.hops * max(lengths) * 5e-9
    return total_s


@settings(max_examples=15, deadline=None)
@given(
    positions=st.lists(st.integers(0, 40), min_size=4, max_size=4).map(sorted),
    algorithm=st.sampled_from(["ring", "bruck"]),
)
def test_the_shortest_order_is_the_best_of_all(positions: list[int], algorithm: str) -> None:
    plan = plan_of(algorithm=algorithm)
    places = ":".join(map(str, positions))
    made = ll.circuits(plan, f"{MESH},column_positions_m={places},interposer_order=shortest")
    order = tuple(json.loads(made.to_json())["mesh"]["interposer_order"])
    assert sorted(order) == [0, 1, 2, 3]
    points = [(0.0, float(one)) for one in positions]
    best_s = min(delay_s(plan, points, other) for other in itertools.permutations(range(4)))
    assert delay_s(plan, points, order) == pytest.approx(best_s)
    assert made.fibre_delay is not None
    assert made.fibre_delay.total_s >= best_s * (1 - 1e-9)
    assert {check.passed for check in ll.verify(made, plan=plan)} == {True}


def test_interposers_that_are_exchanged_save_what_they_can() -> None:
    # A ring of 8 GPUs, two on each interposer.
    plan = plan_of(algorithm="ring")
    text = f"{MESH},column_positions_m=0:10:20:30"
    before, after = ll.circuits(plan, text), ll.circuits(plan, f"{text},interposer_order=shortest")
    assert before.fibre_delay is not None
    assert after.fibre_delay is not None
    # In a row the ring closes over 30 m. By way of 0, 10, 30, 20 and back no circuit is longer than 20 m.
    assert before.fibre_delay.total_s / after.fibre_delay.total_s == pytest.approx(30 / 20)


def test_more_interposers_than_are_tried_one_by_one_are_exchanged() -> None:
    fabric = ll.Fabric(gpus=9, reconfiguration_delay="1us")
    plan = ll.plan("all-gather", "64KiB", fabric=fabric, algorithm="ring", planner="harvest")
    text = "mesh:4x4,interposers=3x3,fibres=4,wavelengths=4,fibre_m=10"
    before, after = ll.circuits(plan, text), ll.circuits(plan, f"{text},interposer_order=shortest")
    assert before.fibre_delay is not None
    assert after.fibre_delay is not None
    # A ring of nine places on a 3x3 grid has one circuit of two fibres at least, as the grid is bipartite and 9 is odd.
    assert after.fibre_delay.total_s == pytest.approx(8 * 20 * 5e-9)
    assert before.fibre_delay.total_s > after.fibre_delay.total_s
    assert {check.passed for check in ll.verify(after, plan=plan)} == {True}


@pytest.mark.parametrize(
    ("at", "value", "check"),
    [
        (("fibre_delay", "total_s"), 1.0, "fibres"),
        (("fibre_delay", "steps_s", 1), 1.0, "fibres"),
        (("configurations", 0, "light", 0, "fibre_m"), 1.5, "fibres"),
        (("mesh", "fibre_lengths", "column_positions_m", 1), 3.0, "fibres"),
        (("mesh", "fibre_lengths", "fibre_delay_ns_per_m"), 3.0, "fibres"),
        (("mesh", "interposer_order"), [1, 0, 2, 3], "paths"),
    ],
)
def test_the_judge_finds_wrong_lengths(plan: ll.Plan, at: tuple[Any, ...], value: Any, check: str) -> None:
    document = json.loads(ll.circuits(plan, PLACED).to_json())
    inside: Any = document
    for key in at[:-1]:
        inside = inside[key]
    inside[at[-1]] = value
    assert check in failures(document, plan)


@pytest.mark.parametrize(
    ("described", "detail"),
    [
        (f"{MESH},column_positions_m=0:2:5:31", "`column_positions_m` is 0x2x5x30 in the file and 0x2x5x31"),
        (f"{PLACED},fibre_delay_ns_per_m=4", "`fibre_delay_ns_per_m` is 5 in the file and 4"),
        (f"{PLACED},interposer_order=0:1:2:3", "`interposer_order` is none in the file and 0x1x2x3"),
        (MESH, "`row_positions_m` is 0 in the file and none"),
    ],
)
def test_the_judge_compares_lengths_with_those_described(plan: ll.Plan, described: str, detail: str) -> None:
    document = json.loads(ll.circuits(plan, PLACED).to_json())
    assert failures(document, plan, described)["mesh"].startswith(detail)


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ("fibre_m=-1", "fibre_m: -1.0 is not accepted; it takes metres from 0 to 33333"),
        (
            "fibre_m=3,column_positions_m=0:1:2:3",
            "fibre_m: 3.0 is not accepted; it takes interposers in a row or column without positions",
        ),
        ("fibre_m=NaN", "fibre_m: NaN is not accepted"),
        (
            "fibre_m=1e9",
            "fibre_m: 1000000000.0 is not accepted; it takes metres from 0 to 33333",
        ),
        ("fibre_m=10m", "fibre_m: `10m` is not accepted; it takes a number"),
        ("column_positions_m=0:1", "column_positions_m: 2 positions is not accepted; it takes 4"),
        ("column_positions_m=0:1:2:inf", "column_positions_m: inf is not accepted"),
        ("column_positions_m=0:1::3", "column_positions_m: `0:1::3` is not accepted"),
        ("row_positions_m=0", "column_positions_m: nothing is not accepted"),
        ("fibre_delay_ns_per_m=5", "fibre_delay_ns_per_m: 5.0 is not accepted; it takes a delay only next to fibre_m"),
        ("fibre_m=1,fibre_delay_ns_per_m=-1", "fibre_delay_ns_per_m: -1.0 is not accepted"),
        ("interposer_order=0:0:1:2", "interposer_order: `0:0:1:2` is not accepted; it takes each interposer"),
        ("interposer_order=shortest", "interposer_order: `shortest` is not accepted; it takes lengths of fibres"),
    ],
)
def test_wrong_settings_are_one_line(plan: ll.Plan, tmp_path: Path, cli: RunCli, settings: str, refusal: str) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    assert_refused(cli, tmp_path, "circuits", path, "--optics", f"{MESH},{settings}", field=refusal)


@settings(max_examples=200, deadline=None)
@given(
    key=st.sampled_from(["fibre_m", "row_positions_m", "column_positions_m", "interposer_order"]),
    value=st.one_of(st.text(max_size=12), st.lists(st.floats(), max_size=5).map(lambda one: ":".join(map(repr, one)))),
)
def test_any_text_is_taken_or_refused_in_one_line(key: str, value: str) -> None:
    try:
        ll.Fabric(gpus=4, optics=f"mesh:2x2,interposers=1x2,{key}={value}")
    except ll.InputError as error:
        assert "\n" not in str(error)

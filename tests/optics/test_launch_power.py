"""Launch power of lasers and the energy of plans, recomputed here from losses, times and bytes."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.conftest import RunCli
from tests.refusals import assert_refused

PLAIN = "mesh:4x4,tiles=2x2,interposers=1x2,fibres=3,waveguides=2,wavelengths=3,tile_size_cm=1.5"
POWER = f"{PLAIN},sensitivity_dbm=-12,margin_db=3,laser_efficiency=0.1"


def plan_of(*candidates: str, background: bool = False, optics: str | None = None, ports: int = 2) -> ll.Plan:
    fabric = ll.Fabric(
        gpus=8,
        ports=ports,
        reconfiguration_delay="100ns",
        background_reconfiguration=background,
        optics=optics,
    )
    return ll.plan(
        "all-gather",
        "1MiB",
        fabric=fabric,
        algorithm="recursive-doubling",
        planner="harvest",
        candidates=list(candidates) or None,
    )


@pytest.fixture(scope="module")
def plan() -> ll.Plan:
    return plan_of("circulant:1,2", "circulant:1,4")


def failures(document: dict[str, Any], plan: ll.Plan, optics: str | None = None) -> dict[str, str]:
    """Name and detail of each check that fails."""
    checks = ll.verify(ll.Circuits.from_json(json.dumps(document)), plan=plan, optics=optics)
    return {check.name: check.detail for check in checks if not check.passed}


def test_a_laser_makes_up_for_the_loss_of_its_path() -> None:
    mesh = ll.Mesh(mzis="1x3", sensitivity_dbm=-10.0, margin_db=1.0)
    routing = ll.route_mesh(mesh, [(0, 1), (0, 2)])
    # Tiles of 1 cm: 0.4 dB of waveguide and 0.25 dB of crossing each; the second circuit finds the first in its way.
    assert routing.losses_db[0] == pytest.approx(0.65)
    assert routing.launch_mw[0] == pytest.approx(10 ** ((-10 + 1 + 0.65) / 10))
    assert math.isnan(routing.launch_mw[1])
    assert all(math.isnan(launch_mw) for launch_mw in ll.route_mesh("1x3", [(0, 1)]).launch_mw)


def ways(mesh: ll.Mesh, source: int, destination: int) -> list[tuple[int, ...]]:
    """Every path without a cell twice."""
    found: list[tuple[int, ...]] = []

    def extend(path: tuple[int, ...]) -> None:
        if path[-1] == destination:
            found.append(path)
            return
        row, column = divmod(path[-1], mesh.columns)
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            there = (row + down) * mesh.columns + column + right
            inside = 0 <= row + down < mesh.rows and 0 <= column + right < mesh.columns
            if inside and there not in path:
                extend((*path, there))

    extend((source,))
    return found


def systems(
    mesh: ll.Mesh, circuits: list[tuple[int, int]], crossings: set[int]
) -> Iterator[tuple[float, dict[int, float]]]:
    """Of every way to route all circuits at once: mW in all, and by source."""
    assert mesh.sensitivity_dbm is not None

    def milliwatts(path: tuple[int, ...]) -> float:
        assert mesh.sensitivity_dbm is not None
        loss_db = 0.0
        for here, there in itertools.pairwise(path):
            column = max(here % mesh.columns, there % mesh.columns)
            across = here % mesh.columns != there % mesh.columns
            # A tile is one row high and two columns wide.
            loss_db += 0.4 / 2 if across else 0.4
            loss_db += mesh.crossing_loss_db if not across or column in crossings else 0.0
        return 10 ** ((mesh.sensitivity_dbm + loss_db) / 10)

    ends = [(int(mesh.mzi_of_tile[one]), int(mesh.mzi_of_tile[other])) for one, other in circuits]
    options = [
        [(path, wavelength, milliwatts(path)) for path in ways(mesh, *pair) for wavelength in range(mesh.wavelengths)]
        for pair in ends
    ]

    def rest(index: int, used: frozenset[tuple[int, int, int]], of_source: dict[int, float]) -> Iterator[Any]:
        if index == len(options):
            yield sum(of_source.values()), of_source
            return
        for path, wavelength, launch_mw in options[index]:
            places = {(here, there, wavelength) for here, there in itertools.pairwise(path)}
            if places.isdisjoint(used):
                source = ends[index][0]
                more = {**of_source, source: of_source.get(source, 0.0) + launch_mw}
                yield from rest(index + 1, used | places, more)

    yield from rest(0, frozenset(), {})


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 3),
    wavelengths=st.integers(1, 2),
    crossing_db=st.sampled_from([0.0, 0.25, 2.0]),
    budget=st.sampled_from([None, 1.0, 1.05, 1.3]),
    data=st.data(),
)
def test_the_least_launch_power_is_that_of_all_combinations_of_paths(
    rows: int, wavelengths: int, crossing_db: float, budget: float | None, data: st.DataObject
) -> None:
    tiles = 2 * rows
    pair = st.tuples(st.integers(0, tiles - 1), st.integers(0, tiles - 1)).filter(lambda ends: ends[0] != ends[1])
    circuits = data.draw(st.lists(pair, min_size=1, max_size=3 if wavelengths * rows < 6 else 2))
    described: dict[str, Any] = {
        "mzis": f"{rows}x4",
        "tiles": f"{rows}x2",
        "wavelengths": wavelengths,
        "crossing_loss_db": crossing_db,
        "sensitivity_dbm": -10.0,
    }
    mesh = ll.Mesh(**described)
    every = list(systems(mesh, circuits, {2}))
    routing = ll.route_mesh(mesh, circuits)
    routing.check()
    assert routing.is_complete == bool(every)
    if not every:
        return
    least_mw = min(total_mw for total_mw, _ in every)
    assert routing.launch_mw.sum() == pytest.approx(least_mw, rel=1e-9)
    if budget is None:
        return
    # A budget a little above what the busiest tile launches on some of the combinations.
    tile_mw = budget * min(max(of_tile.values()) for _, of_tile in every) * (1 + 1e-6)
    within = [total_mw for total_mw, of_tile in every if max(of_tile.values()) <= tile_mw]
    routing = ll.route_mesh(ll.Mesh(**described, max_tile_mw=tile_mw), circuits)
    assert routing.over_budget == ("",)
    assert routing.launch_mw.sum() == pytest.approx(min(within), rel=1e-9)
    tight = ll.route_mesh(ll.Mesh(**described, max_tile_mw=tile_mw / budget * (1 - 1e-5)), circuits)
    assert "max_tile_mw" in tight.over_budget[0]


def test_a_circuit_over_the_budget_of_its_laser_is_refused_with_its_loss() -> None:
    mesh = ll.Mesh(mzis="1x4", sensitivity_dbm=-10.0, max_launch_dbm=-8.5)
    routing = ll.route_mesh(mesh, [(0, 2), (0, 3)])
    assert routing.wavelengths.tolist() == [0, -1]
    assert routing.reasons[1] == (
        "its best path loses 1.95 dB, so that its laser would launch -8.05 dBm, more than max_launch_dbm, -8.5"
    )


def test_powers_of_a_plan_are_those_of_its_losses(plan: ll.Plan) -> None:
    circuits = ll.circuits(plan, POWER)
    assert {check.passed for check in ll.verify(circuits, plan=plan, optics=POWER)} == {True}
    for paths in circuits.light:
        for one in paths:
            assert one.launch_mw == pytest.approx(10 ** ((-12 + 3 + one.loss_db) / 10))
    again = ll.Circuits.from_json(circuits.to_json())
    assert again == circuits
    assert again.energy == circuits.energy


def test_the_energy_of_a_plan_is_power_times_the_time_that_it_is_lit(plan: ll.Plan) -> None:
    circuits = ll.circuits(plan, POWER)
    energy = circuits.energy
    assert energy is not None
    expected = [0.0] * len(plan.steps)
    for configuration, paths in zip(circuits.configurations, circuits.light, strict=True):
        watts = sum(one.launch_mw or 0.0 for one in paths) / 1000 / 0.1
        for step in configuration.steps:
            expected[step] = watts * plan.steps[step].total_s
    assert energy.steps_j == pytest.approx(expected)
    assert energy.total_j == pytest.approx(sum(expected))
    assert 0 < energy.changes_j < energy.total_j
    # Each of 8 GPUs sends seven eighths of 1 MiB, however the steps divide it.
    assert energy.sent_bits == pytest.approx(8 * 8 * 7 * 2**20 / 8)
    assert energy.picojoules_per_bit == pytest.approx(1e12 * sum(expected) / energy.sent_bits)
    assert ll.circuits(plan, POWER.replace(",laser_efficiency=0.1", "")).energy is None


def test_nothing_is_said_of_lasers_unless_it_is_asked_for(plan: ll.Plan) -> None:
    text = ll.circuits(plan, PLAIN).to_json()
    assert "launch" not in text
    assert "energy" not in text
    assert "launch power" not in {check.name for check in ll.verify(ll.Circuits.from_json(text), plan=plan)}


def _more_power(document: dict[str, Any]) -> None:
    document["configurations"][0]["light"][0]["launch_mw"] *= 1.01


def _no_power(document: dict[str, Any]) -> None:
    del document["configurations"][0]["light"][0]["launch_mw"]


def _other_sensitivity(document: dict[str, Any]) -> None:
    document["mesh"]["launch_power"]["sensitivity_dbm"] += 1


def _low_limit(document: dict[str, Any]) -> None:
    document["mesh"]["launch_power"]["max_launch_dbm"] = -8.9


def _low_tile(document: dict[str, Any]) -> None:
    document["mesh"]["launch_power"]["max_tile_mw"] = 0.2


def _low_interposer(document: dict[str, Any]) -> None:
    document["mesh"]["launch_power"]["max_interposer_mw"] = 1.0


def _no_launch_power(document: dict[str, Any]) -> None:
    del document["mesh"]["launch_power"], document["energy"]


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (_more_power, "launch power"),
        (_no_power, "launch power"),
        (_other_sensitivity, "launch power"),
        (_low_limit, "launch power"),
        (_low_tile, "launch power"),
        (_low_interposer, "launch power"),
        (_no_launch_power, "launch power"),
    ],
)
def test_the_judge_finds_wrong_powers(plan: ll.Plan, change: Any, check: str) -> None:
    document = json.loads(ll.circuits(plan, POWER).to_json())
    change(document)
    assert check in failures(document, plan)


@pytest.mark.parametrize("key", ["changes_j", "total_j", "sent_bits", "picojoules_per_bit", "steps_j"])
def test_the_judge_finds_wrong_energies(plan: ll.Plan, key: str) -> None:
    document = json.loads(ll.circuits(plan, POWER).to_json())
    if key == "steps_j":
        document["energy"][key][1] *= 1.01
    else:
        document["energy"][key] *= 1.01
    assert list(failures(document, plan)) == ["energy"]
    del document["energy"]
    assert list(failures(document, plan)) == ["energy"]


@pytest.mark.parametrize(
    ("described", "detail"),
    [
        (POWER.replace("margin_db=3", "margin_db=2"), "`margin_db` is 3 in the file and 2"),
        (POWER.replace(",margin_db=3", ""), "`margin_db` is 3 in the file and 0"),
        (POWER.replace("-12", "-13"), "`sensitivity_dbm` is -12 in the file and -13"),
        (PLAIN, "`sensitivity_dbm` is -12 in the file and none"),
        (f"{POWER},max_tile_mw=9", "`max_tile_mw` is none in the file and 9"),
    ],
)
def test_the_judge_compares_the_lasers_with_those_described(plan: ll.Plan, described: str, detail: str) -> None:
    document = json.loads(ll.circuits(plan, POWER).to_json())
    assert failures(document, plan, described)["mesh"].startswith(detail)


def test_a_file_with_numbers_of_no_laser_is_refused_with_their_place(plan: ll.Plan) -> None:
    good = json.loads(ll.circuits(plan, POWER).to_json())
    wrong: list[tuple[tuple[str, ...], Any, str]] = [
        (("mesh", "launch_power", "sensitivity_dbm"), 1000, "circuits.mesh.launch_power.sensitivity_dbm"),
        (("mesh", "launch_power", "laser_efficiency"), 0, "circuits.mesh.launch_power.laser_efficiency"),
        (("mesh", "launch_power", "max_tile_mw"), -1, "circuits.mesh.launch_power.max_tile_mw"),
        (("energy", "total_j"), -1, "circuits.energy.total_j"),
        (("energy", "steps_j"), [], "circuits.energy.steps_j"),
        (("mesh", "launch_power", "laser_efficiency"), None, "circuits.energy"),
    ]
    for at, value, place in wrong:
        document = json.loads(json.dumps(good))
        inside = document
        for key in at[:-1]:
            inside = inside[key]
        inside[at[-1]] = value
        with pytest.raises(ll.InputError, match=place.replace(".", r"\.")):
            ll.Circuits.from_json(json.dumps(document))


def test_a_tile_with_less_than_its_circuits_need_is_refused(plan: ll.Plan) -> None:
    with pytest.raises(ll.InputError, match=r"the lasers of tile \d+ must launch .* max_tile_mw of 0\.1 mW"):
        ll.circuits(plan, f"{POWER},max_tile_mw=0.1")
    with pytest.raises(ll.InputError, match=r"the lasers of interposer 0 must launch .* max_interposer_mw of 1 mW"):
        ll.circuits(plan, f"{POWER},max_interposer_mw=1")
    with pytest.raises(ll.InputError, match=r"GPU \d to GPU \d: the best path loses .* more than max_launch_dbm, -7"):
        ll.circuits(plan, f"{POWER},max_launch_dbm=-7")


def test_circuits_that_are_set_up_beside_others_count_together() -> None:
    plan = plan_of("circulant:1", "circulant:2", background=True)
    held = ll.circuits(plan, POWER)
    assert len(held.configurations) > 1
    sums = [sum(one.launch_mw or 0.0 for one in paths if one.ingress <= 8) for paths in held.light]
    between_mw = max(sums) * 1.001
    # Each configuration alone is within the budget of an interposer; two at once are not.
    with pytest.raises(ll.InputError, match="max_interposer_mw"):
        ll.circuits(plan, f"{POWER},max_interposer_mw={between_mw}")
    document = json.loads(held.to_json())
    document["mesh"]["launch_power"]["max_interposer_mw"] = between_mw
    assert list(failures(document, plan)) == ["launch power"]


def test_a_plan_takes_only_topologies_within_the_budgets() -> None:
    optics = "mesh:8x8,waveguides=4,wavelengths=4,sensitivity_dbm=-12,margin_db=3"

    def planned(optics: str) -> tuple[ll.Plan, float]:
        fabric = ll.Fabric(gpus=8, reconfiguration_delay="100ns", optics=optics)
        plan = ll.plan("all-to-all", "8MiB", fabric=fabric, planner="harvest")
        lit = ll.circuits(plan)
        assert all(check.passed for check in ll.verify(lit, plan=plan))
        return plan, max(one.launch_mw or 0.0 for paths in lit.light for one in paths)

    free, needed_mw = planned(optics)
    tight, launched_mw = planned(f"{optics},max_tile_mw={needed_mw * 0.99}")
    # The ring has the longest circuit, from the last GPU back to the first.
    assert "ring" in {topology.name for topology in free.topologies}
    assert "ring" not in {topology.name for topology in tight.topologies}
    assert launched_mw < needed_mw * 0.99
    assert tight.total_s > free.total_s


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ("margin_db=3", "margin_db: 3.0 is not accepted; it takes a launch power only next to sensitivity_dbm"),
        ("sensitivity_dbm=NaN", "sensitivity_dbm: NaN is not accepted"),
        ("sensitivity_dbm=-8dBm", "sensitivity_dbm: `-8dBm` is not accepted; it takes a number"),
        ("sensitivity_dbm=-1e9", "sensitivity_dbm: -1000000000.0 is not accepted"),
        ("sensitivity_dbm=-8,margin_db=-1", "margin_db: -1.0 is not accepted; it takes a number of dB from 0 to 100"),
        ("sensitivity_dbm=-8,max_launch_dbm=inf", "max_launch_dbm: inf is not accepted"),
        ("sensitivity_dbm=-8,max_tile_mw=0", "max_tile_mw: 0.0 is not accepted"),
        ("sensitivity_dbm=-8,max_interposer_mw=-3", "max_interposer_mw: -3.0 is not accepted"),
        ("sensitivity_dbm=-8,laser_efficiency=1.01", "laser_efficiency: 1.01 is not accepted"),
        ("sensitivity_dbm=-8,laser_efficiency=0", "laser_efficiency: 0.0 is not accepted"),
        ("sensitivity_dbm=-8,sensitivity_dbm=-9", "optics: `sensitivity_dbm` twice is not accepted"),
    ],
)
def test_wrong_settings_are_one_line(plan: ll.Plan, tmp_path: Path, cli: RunCli, settings: str, refusal: str) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    assert_refused(cli, tmp_path, "circuits", path, "--optics", f"mesh:8x8,wavelengths=2,{settings}", field=refusal)


@settings(max_examples=200, deadline=None)
@given(
    key=st.sampled_from(["sensitivity_dbm", "margin_db", "max_launch_dbm", "max_tile_mw", "laser_efficiency"]),
    value=st.one_of(
        st.text(max_size=12),
        st.floats().map(repr),
        st.integers(-(10**400), 10**400).map(lambda number: str(number)[:80]),
    ),
)
def test_any_text_is_taken_or_refused_in_one_line(key: str, value: str) -> None:
    first = "" if key == "sensitivity_dbm" else ",sensitivity_dbm=-8"
    try:
        ll.Fabric(gpus=4, optics=f"mesh:2x2{first},{key}={value}")
    except ll.InputError as error:
        assert "\n" not in str(error)


def test_settings_are_refused_by_name_in_python() -> None:
    for name, value in [
        ("sensitivity_dbm", math.nan),
        ("margin_db", -1),
        ("max_launch_dbm", "high"),
        ("max_tile_mw", 0),
        ("laser_efficiency", 2),
    ]:
        settings: dict[str, Any] = {"sensitivity_dbm": -8.0, name: value}
        with pytest.raises(ll.InputError, match=name):
            ll.Mesh(**settings)
    with pytest.raises(ll.InputError, match="margin_db"):
        ll.Mesh(margin_db=1.0)

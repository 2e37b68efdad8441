"""Positions of GPUs: hop delays by the longest fibre, recomputed; orders of GPUs against all orders."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightloom as ll
from lightloom.inputs.positions import positions_text
from tests.conftest import RunCli
from tests.refusals import assert_refused

Place = tuple[float, float, float]
PLACES = st.tuples(*[st.integers(0, 400).map(lambda tenths: tenths / 10)] * 3)


def spelled(places: list[Place]) -> str:
    return ",".join(":".join(map(str, place)) for place in places)


def longest_m(circuits: set[tuple[int, int]], places: list[Place], switch: Place | None) -> float:
    """Metres of the longest fibre of these circuits."""
    if switch is None:
        return max(math.dist(places[src], places[dst]) for src, dst in circuits)
    return max(math.dist(places[src], switch) + math.dist(switch, places[dst]) for src, dst in circuits)


def circuits_of(plan: ll.Plan, step: int) -> set[tuple[int, int]]:
    """The circuits of a step's topology, GPU to GPU of the fabric."""
    index = json.loads(plan.to_json())["steps"][step]["topology"]
    gpus = plan.ranks or range(plan.gpus)
    return {(gpus[src], gpus[dst]) for src, dst, _ in plan.topologies[index].links.tolist()}


@pytest.mark.large
@given(st.data())
def test_hops_take_the_light_in_the_longest_fibre(data: st.DataObject) -> None:
    gpus = data.draw(st.integers(3, 8))
    places = data.draw(st.lists(PLACES, min_size=gpus, max_size=gpus))
    switch = data.draw(st.none() | PLACES)
    ns_per_m = data.draw(st.sampled_from([0.25, 3, 5]))
    text = spelled(places) + ("" if switch is None else f",switch={spelled([switch])}") + f",ns_per_m={ns_per_m}"
    overlap = data.draw(st.sampled_from(["additive", "pipelined"]))
    asked: dict[str, Any] = {
        "collective": data.draw(st.sampled_from(["all-reduce", "all-gather", "all-to-all", "broadcast"])),
        "size": data.draw(st.sampled_from(["1KiB", "1MiB"])),
        "overlap": overlap,
        "planner": data.draw(st.sampled_from(["auto", "harvest", "static", "pccl", "bvn"])),
    }
    ports = data.draw(st.sampled_from([1, 2]))
    delay = data.draw(st.sampled_from(["0s", "1us", "1ms"]))
    fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay=delay, positions=text)
    plan = ll.plan(**asked, fabric=fabric)
    plan = ll.Plan.from_json(plan.to_json())
    for index, step in enumerate(plan.steps):
        hop_s = 500e-9 + longest_m(circuits_of(plan, index), places, switch) * ns_per_m * 1e-9
        if overlap == "additive":
            assert step.propagation_s == pytest.approx(step.hops * hop_s, rel=1e-9)
        else:
            assert step.propagation_s <= step.hops * hop_s * (1 + 1e-9)
    assert plan.lower_bound_s <= plan.total_s * (1 + 1e-12)
    assert all(check.passed for check in ll.verify(plan))
    without = ll.plan(**asked, fabric=ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay=delay))
    assert without.total_s <= plan.total_s * (1 + 1e-9) or asked["planner"] == "auto"


@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all"])
@pytest.mark.parametrize("planner", ["auto", "harvest", "bridge"])
def test_gpus_at_one_place_cost_what_they_cost_without(collective: str, planner: str) -> None:
    asked: dict[str, Any] = {"collective": collective, "size": "64KiB", "planner": planner}
    at_one_place = ll.Fabric(gpus=8, ports=2, positions="grid:1x1:8:3")
    there = ll.plan(**asked, fabric=at_one_place)
    assert there.total_s == ll.plan(**asked, fabric=ll.Fabric(gpus=8, ports=2)).total_s


@pytest.mark.large
@pytest.mark.parametrize("gpus", [8, 12, 32])
@pytest.mark.parametrize("size", ["1KiB", "256KiB"])
@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "all-to-all", "broadcast"])
def test_fibres_of_equal_length_are_a_longer_hop_delay(collective: str, size: str, gpus: int) -> None:
    # All GPUs in one rack, 100 m from the switch and back: 200 m, 1 µs.
    of_fibres = ll.Fabric(gpus=gpus, ports=2, positions=f"grid:1x1:{gpus}:0,switch=60:80")
    of_hops = ll.Fabric(gpus=gpus, ports=2, hop_delay="1500ns")
    there = ll.plan(collective, size, fabric=of_fibres)
    assert there.total_s == pytest.approx(ll.plan(collective, size, fabric=of_hops).total_s, rel=1e-9)


def test_a_topology_of_short_fibres_is_chosen() -> None:
    # Two rings of eight GPUs along a line 1 km long: neighbours in a row, and neighbours three apart. They are alike
    # but for their fibres.
    places = spelled([(125.0 * gpu, 0.0, 0.0) for gpu in range(8)])
    fabric = ll.Fabric(gpus=8, positions=places)
    near, far = "circulant:1", "circulant:3"
    asked: dict[str, Any] = {"collective": "all-gather", "size": "1KiB", "algorithm": "ring", "fabric": fabric}
    times = [ll.plan(**asked, planner="static", topology=[name]).total_s for name in (near, far)]
    chosen = ll.plan(**asked, planner="static", topology=[far, near])
    assert chosen.total_s == min(times)


@given(st.lists(PLACES, min_size=5, max_size=5))
def test_an_order_is_no_worse_than_the_given_and_no_better_than_all(places: list[Place]) -> None:
    fabric = ll.Fabric(gpus=5, positions=spelled(places))
    asked: dict[str, Any] = {"collective": "all-gather", "size": "1KiB", "algorithm": "ring", "planner": "static"}
    asked |= {"topology": ["ring:one-way"], "fabric": fabric}
    own, placed = ll.plan(**asked), ll.plan(**asked, placement="shortest")
    ring = {(rank, (rank + 1) % 5) for rank in range(5)}
    orders = permutations(range(5))
    least_m = min(longest_m({(order[src], order[dst]) for src, dst in ring}, places, None) for order in orders)
    startup_s = sum(step.startup_s + step.transmission_s for step in own.steps)
    least_s = startup_s + 4 * (500e-9 + least_m * 5e-9)
    assert least_s * (1 - 1e-9) <= placed.total_s <= own.total_s
    assert all(check.passed for check in ll.verify(placed))


def test_a_ring_goes_round_a_grid_of_servers() -> None:
    # 16 servers, 3 m apart, in rows that all begin on one side: ring neighbours are up to √(9² + 3²) m apart. A closed
    # way round the grid has only steps of 3 m.
    fabric = ll.Fabric(gpus=16, positions="grid:4x4:1:3")
    asked: dict[str, Any] = {"collective": "all-gather", "size": "1KiB", "algorithm": "ring", "planner": "static"}
    asked |= {"topology": ["ring:one-way"], "fabric": fabric}
    own, placed = ll.plan(**asked), ll.plan(**asked, placement="shortest")
    assert own.longest_hop_delay_s == pytest.approx(500e-9 + math.hypot(9, 9) * 5e-9)
    assert placed.longest_hop_delay_s == pytest.approx(500e-9 + 3 * 5e-9)


def test_the_judge_sees_positions_that_are_not_those_of_the_times() -> None:
    plan = ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=4, positions="grid:1x4:1:10"))
    told = json.loads(plan.to_json())
    told["fabric"]["positions"] = told["fabric"]["positions"].replace("30:0", "31:0")
    checks = ll.verify(ll.Plan.from_json(json.dumps(told)))
    assert "propagation" in {check.name for check in checks if not check.passed}


def test_files_have_a_place_for_each_gpu(tmp_path: Path, cli: RunCli) -> None:
    path = tmp_path / "places.csv"
    path.write_text("gpu,x,y\n1,3,0\n0,0,0\n")
    assert positions_text(f"{path},switch=middle") == "0:0,3:0,switch=middle"
    (tmp_path / "fabric.toml").write_text('gpus = 2\npositions = "places.csv"\n')
    assert ll.plan("all-gather", 8, fabric=tmp_path / "fabric.toml").longest_hop_delay_s == pytest.approx(515e-9)
    for rows, said in [
        ("gpu,x\n0,1\n", "columns"),
        ("gpu,x,y\n0,1\n", "line 2"),
        ("gpu,x,y\n0,1,1\n0,1,1\n", "each GPU once"),
        ("gpu,x,y\n0,1,one\n", "number of metres"),
        ("gpu,x,y\n1,1,1\n", "no place of GPU 0"),
        ("", "columns"),
    ]:
        path.write_text(rows)
        asked = ("plan", "--collective", "all-gather", "--size", "1KiB", "--gpus", 2, "--positions", path)
        assert said in assert_refused(cli, tmp_path, *asked, field="positions")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("--gpus", "3", "--positions", "0:0,1:1"), "positions"),
        (("--gpus", "2", "--positions", "0:0,1:1,2"), "positions"),
        (("--gpus", "4", "--positions", "grid:1x4:1:1", "--electrical", "2:3600Gbps"), "positions"),
        (("--gpus", "4", "--positions", "grid:1x4:1:1", "--planner", "exact"), "positions"),
        (("--gpus", "4", "--positions", "grid:1x4:1:1", "--planner", "exact", "--placement", "shortest"), "placement"),
        (("--gpus", "4", "--positions", "grid:1x4:1:1", "--convention", "harvest-published"), "convention"),
        (("--gpus", "4", "--positions", "grid:1x4:1:1", "--uncertain", "startup=uniform:0.5"), "positions"),
        (("--gpus", "4", "--placement", "shortest"), "placement"),
    ],
)
def test_what_knows_no_positions_says_so(cli: RunCli, tmp_path: Path, arguments: tuple[str, ...], field: str) -> None:
    asked = ("plan", "--collective", "all-gather", "--size", "1KiB", *arguments)
    assert_refused(cli, tmp_path, *asked, field=field)

"""Plans for optical layers that limit topologies: islands of GPUs behind shared ports, and meshes of MZIs."""

from __future__ import annotations

import json
import re
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import pytest

import lightloom as ll
from lightloom.base.errors import InputError
from tests.conftest import RunCli
from tests.names import names
from tests.planning.test_brute_force import steps_of
from tests.refusals import assert_refused

M = 1 << 20
PLANNERS = ("harvest", "static", "bvn", "pccl", "pccl-parallel", "bridge", "short-circuit", "weave", "auto")
COLLECTIVES = names("collectives")


def busiest_island(links: np.ndarray, gpus: int) -> int:
    """The most circuits out of or into one of the islands of this many GPUs."""
    islands = links[:, :2] // gpus
    crossing = islands[:, 0] != islands[:, 1]
    weights = links[crossing, 2]
    return max((int(np.bincount(islands[crossing, end], weights=weights).max(initial=0)) for end in (0, 1)), default=0)


def matchings(gpus: int) -> list[list[tuple[int, int, int]]]:
    """All topologies of one port: every GPU has a circuit to one other at most, and from one."""
    found = []
    for ends in product(range(-1, gpus), repeat=gpus):
        used = [end for end in ends if end >= 0]
        if len(used) == len(set(used)) and all(end != gpu for gpu, end in enumerate(ends)) and used:
            found.append([(gpu, end, 1) for gpu, end in enumerate(ends) if end >= 0])
    return found


@pytest.mark.parametrize(
    ("algorithm", "collective"), [("ring", "all-gather"), ("bruck", "all-to-all"), ("bruck", "all-reduce")]
)
@pytest.mark.parametrize("ports", [1, 2])
def test_the_plan_is_the_best_of_all_topologies_that_islands_hold(algorithm: str, collective: str, ports: int) -> None:
    optics, gpus = f"islands:2x{ports}", 4
    names = {f"t{index}": links for index, links in enumerate(matchings(gpus))}
    everything = [ll.Topology.from_links(name, gpus, links) for name, links in names.items()]
    held = [topology for topology in everything if busiest_island(topology.links, 2) <= ports]
    assert 0 < len(held) <= len(everything)
    assert (len(held) < len(everything)) == (ports == 1)
    fabric = ll.Fabric(gpus=gpus, optics=optics, reconfiguration_delay="2us")
    alpha, delta, beta = fabric.startup_s, fabric.hop_delay_s, 8 / fabric.bandwidth_bps
    best = dict.fromkeys(range(len(held)), 0.0)
    for share, traffic in steps_of(ll.Schedule.build(algorithm, collective, gpus)):
        cheapest = min(best.values())
        best = {
            index: min(before_s, cheapest + 2e-6)
            + min(
                (alpha + delta * p.hops + beta * M * share * p.load for p in ll.profile(held[index], traffic)),
                default=inf,
            )
            for index, before_s in best.items()
        }
    optimum_s = min(best.values())
    plan = ll.plan(collective, M, planner="harvest", candidates=everything, fabric=fabric, algorithm=algorithm)
    assert plan.total_s == pytest.approx(optimum_s, rel=1e-9)
    # What is proved for these steps on such islands, and for any algorithm, is not above what these steps attain.
    assert 0 < plan.lower_bound_s <= optimum_s
    free = ll.plan(
        collective,
        planner="harvest",
        candidates=everything,
        size=M,
        algorithm=algorithm,
        fabric=ll.Fabric(gpus=gpus, reconfiguration_delay="2us"),
    )
    assert free.total_s <= plan.total_s


@pytest.mark.large
@pytest.mark.parametrize("optics", ["islands:4x1", "islands:4x2", "islands:3x2", "mesh:8x8", "mesh:8x8,wavelengths=2"])
@pytest.mark.parametrize("planner", PLANNERS)
def test_whatever_planner_chooses_can_be_held(optics: str, planner: str) -> None:
    planned = 0
    for collective, ports, initial in product(COLLECTIVES, (1, 2), (None, "ring:one-way", "dark")):
        fabric = ll.Fabric(
            gpus=12 if planner in {"harvest", "static"} else 8, ports=ports, optics=optics, initial=initial
        )
        try:
            plan = ll.plan(collective, size="256KiB", fabric=fabric, planner=planner)
        except InputError:
            continue
        planned += 1
        assert plan.optics == optics
        if optics.startswith("islands"):
            gpus, shared = map(int, optics.removeprefix("islands:").split("x"))
            assert all(busiest_island(topology.links, gpus) <= shared for topology in plan.topologies)
        assert all(check.passed for check in ll.verify(plan))
        assert ll.verify(ll.Plan.from_json(plan.to_json()))
        # The plan's own optical layer is where its circuits are put.
        assert ll.circuits(plan).connects >= 0
    assert planned >= 2


def test_what_cannot_be_held_is_refused_with_its_reason(cli: RunCli, tmp_path: Path) -> None:
    problem = ("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", 8)
    error = assert_refused(
        cli,
        tmp_path,
        *problem,
        "--optics",
        "islands:4x1",
        "--topology",
        "shifted-ring:3",
        "--planner",
        "static",
        field="optics",
    )
    assert "island 0 (GPUs 0 to 3) has 1 port; 3 circuits of shifted-ring:3 leave it" in error
    error = assert_refused(
        cli, tmp_path, *problem, "--optics", "islands:4x1", "--planner", "bvn", "--algorithm", "swing", field="optics"
    )
    assert "1 port" in error
    error = assert_refused(
        cli, tmp_path, *problem, "--optics", "islands:4x1", "--initial", "shifted-ring:3", field="initial"
    )
    assert "leave it" in error
    error = assert_refused(
        cli,
        tmp_path,
        *problem,
        "--optics",
        "mesh:1x8",
        "--candidates",
        "shifted-ring:3",
        "--planner",
        "harvest",
        field="candidates",
    )
    assert "must leave" in error
    for optics in ("island:4x1", "islands:4", "islands:0x1", "mesh:1x2", "mesh:8x8,colour=red", "nowhere.toml"):
        assert_refused(cli, tmp_path, *problem, "--optics", optics, field="optics")
    assert_refused(
        cli, tmp_path, *problem, "--optics", "islands:4x1", "--planner", "exact", "--algorithm", "ring", field="optics"
    )
    with pytest.raises(InputError, match="optics"):
        ll.Fabric(gpus=8, optics=3)  # type: ignore[arg-type]


def test_fabric_files_and_sweeps_take_optical_layers(tmp_path: Path) -> None:
    (tmp_path / "switch.toml").write_text('kind = "islands:4x2"\nnames = ["ocs"]\n')
    (tmp_path / "fabric.toml").write_text('gpus = 16\nreconfiguration_delay = "1us"\noptics = "switch.toml"\n')
    fabric = ll.Fabric.load(tmp_path / "fabric.toml")
    assert fabric.optical_layer == "islands:4x2"
    (tmp_path / "sweep.toml").write_text(
        '[settings]\ncollective = "all-to-all"\nfabric = "fabric.toml"\nplanner = "harvest"\n'
        '[axes]\nsize = ["4KiB", "1MiB"]\noptics = ["islands:4x2", "islands:4x1", "crossbar"]\n'
    )
    table = ll.sweep(tmp_path / "sweep.toml", output=tmp_path / "out").to_pandas()
    assert len(table) == 6
    for row in table.itertuples():
        of_row = ll.Fabric.load(tmp_path / "fabric.toml", optics=row.optics)
        plan = ll.plan("all-to-all", size=int(row.size_bytes), fabric=of_row, planner="harvest")
        assert plan.total_s == row.total_s
    by_optics = table.groupby("optics")["total_s"].sum()
    assert by_optics["crossbar"] < by_optics["islands:4x2"] < by_optics["islands:4x1"]


def test_the_judge_counts_circuits_at_islands() -> None:
    plan = ll.plan(
        "all-reduce",
        size="64KiB",
        fabric=ll.Fabric(gpus=16, reconfiguration_delay="100ns"),
        algorithm="swing",
        planner="bvn",
    )
    document = json.loads(plan.to_json())
    for optics, passes in (
        ("islands:4x8", True),
        ("islands:4x2", False),
        ("mesh:16x16", True),
        ("crossbar", True),
        ("lens", False),
    ):
        document["fabric"]["optics"] = optics
        checks = {check.name: check for check in ll.verify(ll.Plan.from_json(json.dumps(document)))}
        assert checks["optics"].passed is passes, optics
    document["fabric"]["optics"] = "islands:4x2"
    check = {check.name: check for check in ll.verify(ll.Plan.from_json(json.dumps(document)))}["optics"]
    assert re.fullmatch(
        r"topology `matching-\d`: [34] circuits (into|out of) island 0, which has 2 ports", check.detail
    )


def test_shared_ports_bound_what_any_algorithm_takes() -> None:
    # 4·12 blocks of 1 MiB leave an island by 2 ports of 100 GB/s; nothing is sent without a startup and a hop.
    fabric = ll.Fabric(gpus=16, ports=3, optics="islands:4x2", reconfiguration_delay="1us")
    bound = ll.bound("all-to-all", size="1MiB/pair", fabric=fabric)
    assert bound.lower_bound_s >= 48 * M / 2 / 1e11 + 1e-6
    assert bound.lower_bound_s <= 48 * M / 2 / 1e11 + 20e-6
    assert "each island of 4 GPUs" in bound.bound_class

"""Cubes of which the faces reach switches: topologies that they hold, circuits on ports, plans of presets."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.optics.followed import circuits_of, composed, followed

if TYPE_CHECKING:
    from tests.conftest import RunCli

Pair = tuple[int, int]
# Two cubes of eight GPUs, one behind the other along each dimension in turn.
GRIDS = [(4, 2, 2), (2, 4, 2), (2, 2, 4)]
SIDES = (2, 2, 2)


def ports(grid: tuple[int, ...], sides: tuple[int, ...]) -> tuple[set[Pair], dict[tuple[int, int], int]]:
    """Pairs joined by wires; and by switch and port from 1, the GPU there, switches and cubes as documented."""
    rank = {at: number for number, at in enumerate(itertools.product(*map(range, grid)))}
    along = [size // side for size, side in zip(grid, sides, strict=True)]
    cubes = {at: number for number, at in enumerate(itertools.product(*map(range, along)))}
    faces = [
        (axis, place)
        for axis in range(3)
        for place in itertools.product(*(range(side) for other, side in enumerate(sides) if other != axis))
    ]
    wires, ends = set(), {}
    for at, gpu in rank.items():
        cube = cubes[tuple(map(int.__floordiv__, at, sides))]
        for axis, way in itertools.product(range(3), (-1, 1)):
            inside = at[axis] % sides[axis] + way
            if 0 <= inside < sides[axis]:
                next_to = list(at)
                next_to[axis] += way
                wires.add((gpu, rank[tuple(next_to)]))
            else:
                place = tuple(at[other] % sides[other] for other in range(3) if other != axis)
                ends[faces.index((axis, place)), 2 * cube + (1 if way < 0 else 2)] = gpu
    return wires, ends


def fits(pairs: list[Pair], grid: tuple[int, ...]) -> bool:
    """Whether every circuit gets a wire or a pair of fibres, by trying all of one circuit after another."""
    wires, ends = ports(grid, SIDES)

    def place(index: int, used: frozenset[object], joined: frozenset[object]) -> bool:
        if index == len(pairs):
            return True
        src, dst = pairs[index]
        if (src, dst) in wires and (src, dst) not in used:
            # Nothing else can use the wire.
            return place(index + 1, used | {(src, dst)}, joined)
        for (switch, one), (other_switch, other) in itertools.product(ends, ends):
            if switch != other_switch or one % 2 == other % 2 or (ends[switch, one], ends[switch, other]) != (src, dst):
                continue
            # Light goes both ways between the same two fibres.
            elsewhere = {
                (switch, end, far) for end, to in ((one, other), (other, one)) for far in range(1, 5) if far != to
            }
            way = (switch, one, other)
            if way not in used and not elsewhere & joined:
                both = {(switch, one, other), (switch, other, one)}
                if place(index + 1, used | {way}, joined | both):
                    return True
        return False

    return place(0, frozenset(), frozenset())


def joins_all(links: Counter[Pair]) -> bool:
    """Whether there is a path from every GPU to every other."""
    for forth in (True, False):
        reached = {0}
        while more := {pair[forth] for pair in links if pair[not forth] in reached} - reached:
            reached |= more
        if len(reached) < 16:
            return False
    return True


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(GRIDS), st.integers(0, 10**6))
def test_a_topology_is_held_where_every_circuit_finds_a_wire_or_fibres(grid: tuple[int, ...], seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    wires, ends = ports(grid, SIDES)
    # All wires; then fibres joined in pairs, and now and then a circuit that may not be.
    links = Counter(wires)
    for switch in range(12):
        lower, upper = (1, 3), (2, 4)
        for one, other in zip(rng.sample(upper, 2), lower, strict=True):
            if rng.random() < 0.7:
                pair = (ends[switch, one], ends[switch, other])
                links[pair] += 1
                links[pair[::-1]] += rng.random() < 0.8
    if rng.random() < 0.4 and links:
        src, dst = rng.choice(sorted(links))
        links[src, dst] -= 1
        links[src, rng.choice([gpu for gpu in range(16) if gpu != src])] += 1
    links = +links
    topology = ll.Topology.from_links("drawn", 16, [(*pair, count) for pair, count in links.items()])
    expected = fits(list(links.elements()), grid) and joins_all(links)
    try:
        fabric = ll.Fabric(dims=grid, ports=6, optics="cubes:2x2x2")
        plan = ll.plan("all-gather", "64KiB", fabric=fabric, algorithm="ring", planner="static", topology=topology)
    except ll.InputError:
        assert not expected
        return
    assert expected
    assert all(check.passed for check in ll.verify(plan))
    circuits = ll.circuits(plan)
    switched = circuits_of(topology) - Counter(wires)
    for joined in followed(circuits):
        assert composed(joined, lambda switch, port: ends[switch, port]) == switched
    assert all(check.passed for check in ll.verify(circuits))


@pytest.mark.large
@pytest.mark.parametrize("collective", ["all-reduce", "all-to-all", "all-gather", "reduce-scatter"])
@pytest.mark.parametrize("preset", ["tpu-v4", "pccl-servers"])
def test_presets_of_servers_and_cubes_are_planned(preset: str, collective: str) -> None:
    plan = ll.plan(collective, "16MiB", fabric=ll.Fabric.preset(preset))
    assert all(check.passed for check in ll.verify(plan))
    assert plan.lower_bound_s <= plan.total_s
    assert all(check.passed for check in ll.verify(ll.circuits(plan)))


@pytest.mark.large
@pytest.mark.parametrize("dims", [(8, 8, 8), (4, 4, 12), (4, 8, 8), (8, 8, 4)])
@pytest.mark.parametrize("collective", ["broadcast", "reduce", "all-reduce", "all-gather"])
def test_pods_of_any_number_of_cubes_are_planned(dims: tuple[int, ...], collective: str) -> None:
    """No composition that the pod cannot hold stands in the way; where no torus is twisted, a plain one is there."""
    fabric = ll.Fabric(ports=6, dims=dims, optics="cubes:4x4x4", initial="free")
    plan = ll.plan(collective, "1MiB", fabric=fabric)
    assert plan.lower_bound_s <= plan.total_s
    assert all(check.passed for check in ll.verify(plan))


@pytest.mark.large
def test_all_to_all_on_the_twisted_torus_is_faster() -> None:
    """Jouppi et al. 2023, figure 6: a twisted torus of 4x4x8 has up to 1.6 times the throughput of the plain one."""
    fabric = ll.Fabric.preset("tpu-v4")
    twisted, plain = (
        ll.plan("all-to-all", "64MiB", fabric=fabric, planner="static", topology=f"{family}:4x4x8")
        for family in ("twisted-torus", "torus")
    )
    assert 1.2 < plain.total_s / twisted.total_s <= 1.7


@pytest.mark.parametrize(
    ("optics", "dims", "number", "said"),
    [
        ("cubes:", "4x2x2", 6, "cubes:AxBxC"),
        ("cubes:2x2", "4x2x2", 6, "cubes:AxBxC"),
        ("cubes:1x2x2", "4x2x2", 6, "three sides from 2"),
        ("cubes:2x2x2", "4x2x2", 4, "ports"),
        ("cubes:2x2x2", "4x4", 6, "dims"),
        ("cubes:3x2x2", "4x2x2", 6, "gpus"),
    ],
)
def test_what_cubes_cannot_be_is_refused(cli: RunCli, optics: str, dims: str, number: int, said: str) -> None:
    fabric = ("--dims", dims, "--ports", number, "--optics", optics)
    ran = cli("plan", "--collective", "all-reduce", "--size", "1MiB", *fabric)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_dead_wire_of_a_cube_is_left_dark() -> None:
    """Its ends have no other circuits to make; a plan without it is a plan of the cubes as they are."""
    fabric = ll.Fabric(gpus=16, ports=6, optics="cubes:2x2x2", failed="link:0-1")
    plan = ll.plan("all-gather", "1MiB", fabric=fabric)
    whole = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=16, ports=6, optics="cubes:2x2x2"))
    assert all(check.passed for check in ll.verify(plan))
    assert whole.total_s <= plan.total_s <= 2 * whole.total_s
    used = {(src, dst) for topology in plan.topologies for src, dst, _ in topology.links.tolist()}
    assert not used & {(0, 1), (1, 0)}


@pytest.mark.parametrize("planner", ["weave", "harvest", "never-change"])
def test_faults_that_no_plan_gets_around_are_named(planner: str) -> None:
    """All wires of a GPU of a cube that is alone are dead: three to its neighbours, and their wrap-around fibres."""
    fabric = ll.Fabric(gpus=8, ports=6, optics="cubes:2x2x2", failed="link:0-1,link:0-2,link:0-4")
    with pytest.raises(ll.InputError, match=r"^failed: `link:0-1,link:0-2,link:0-4` is not accepted"):
        ll.plan("all-gather", "1MiB", fabric=fabric, planner=planner)

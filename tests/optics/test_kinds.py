"""Circuits on a switch per port and behind the ports of islands: exact, few changes, and what cannot be is said."""

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.conftest import RunCli
from tests.optics.followed import circuits_of, composed, followed
from tests.planning.test_plan_file import PROBLEMS

Links = set[tuple[int, int]]

SEVERAL_PORTS = [
    {"collective": "all-reduce", "size": "1GiB", "fabric": ll.Fabric(gpus=16, ports=4, reconfiguration_delay="1us")},
    {
        "collective": "all-to-all",
        "size": "1MiB/pair",
        "fabric": ll.Fabric(gpus=27, ports=3, reconfiguration_delay="1us"),
    },
    {
        "collective": "all-to-all",
        "size": "1MiB/pair",
        "fabric": ll.Fabric(gpus=16, ports=2, reconfiguration_delay=["1us", "100us"]),
    },
    {
        "collective": "all-reduce",
        "size": "1MiB",
        "fabric": ll.Fabric(gpus=32, ports=3, reconfiguration_delay="100ns", background_reconfiguration=True),
        "candidates": ["circulant:1,2", "circulant:2,4", "circulant:4,8", "circulant:8,16"],
        "planner": "harvest",
        "algorithm": "recursive-doubling",
    },
]


def random_plan(seed: int, gpus: int, ports: int, topologies: int) -> ll.Plan:
    """A plan over random regular topologies that changes between many of them."""
    drawn = random.Random(seed)  # noqa: S311
    candidates = []
    for index in range(topologies):
        links: Counter[tuple[int, int]] = Counter()
        for _ in range(ports):
            order = drawn.sample(range(gpus), gpus)
            links.update((order[place - 1], order[place]) for place in range(gpus))
        triples = [(src, dst, count) for (src, dst), count in links.items()]
        candidates.append(ll.Topology.from_links(f"drawn {index}", gpus, triples))
    return ll.plan(
        "all-reduce",
        "64MiB",
        fabric=ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay="1ns"),
        algorithm="recursive-doubling",
        planner="harvest",
        candidates=candidates,
        routing="single-path",
    )


def assert_parallel_composes(plan: ll.Plan, circuits: ll.Circuits) -> None:
    assert [switch.ports for switch in circuits.switches] == [plan.gpus] * plan.ports
    for joined, configuration in zip(followed(circuits), circuits.configurations, strict=True):
        topology = plan.topologies[configuration.topology_index]
        assert composed(joined, lambda _, port: port - 1) == circuits_of(topology)


@pytest.mark.parametrize("problem", [*PROBLEMS, *SEVERAL_PORTS], ids=str)
def test_a_switch_per_port_composes_back_to_every_topology(problem: dict[str, Any]) -> None:
    plan = ll.plan(**problem)
    circuits = ll.circuits(plan, "parallel")
    assert_parallel_composes(plan, circuits)
    assert circuits.connects >= (circuits.least_connects or 0)
    assert all(check.passed for check in ll.verify(circuits))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([4, 8, 16]), st.integers(2, 4))
def test_random_topologies_compose_back_and_change_no_less_than_they_must(seed: int, gpus: int, ports: int) -> None:
    plan = random_plan(seed, gpus, ports, 4)
    circuits = ll.circuits(plan, "parallel")
    assert_parallel_composes(plan, circuits)
    on_one = ll.circuits(plan, "crossbar")
    # Any port of a GPU serves on a crossbar: a change that it needs, a switch per port needs too.
    assert on_one.connects <= (circuits.least_connects or 0) <= circuits.connects


@pytest.mark.parametrize("delays", [["1us", "100us"], ["100us", "1us"], ["1us", "1us"]])
@pytest.mark.parametrize("background", [False, True])
def test_ports_of_their_own_speed_are_charged_no_more_than_the_plan(delays: list[str], background: bool) -> None:
    fabric = ll.Fabric(gpus=16, ports=2, reconfiguration_delay=delays, background_reconfiguration=background)
    for size in ("64KiB", "64MiB"):
        plan = ll.plan(
            "all-reduce",
            size,
            fabric=fabric,
            algorithm="recursive-doubling",
            planner="harvest",
            candidates=["circulant:1,2", "circulant:1,4", "circulant:1,8", "circulant:1,1", "circulant:2,8"],
        )
        circuits = ll.circuits(plan, "parallel")
        planned_s = sum(step.reconfiguration_s for step in plan.steps)
        assert circuits.charged_s is not None
        assert circuits.charged_s <= planned_s * (1 + 1e-9)


def test_one_slow_port_stays_where_the_other_can_change() -> None:
    fabric = ll.Fabric(gpus=16, ports=2, reconfiguration_delay=["1us", "10ms"])
    plan = ll.plan(
        "all-reduce",
        "64MiB",
        fabric=fabric,
        algorithm="recursive-doubling",
        planner="harvest",
        candidates=["circulant:1,2", "circulant:1,4", "circulant:1,8"],
    )
    circuits = ll.circuits(plan, "parallel")
    assert plan.reconfigurations > 0
    for configuration in circuits.configurations[1:]:
        fast, slow = configuration.switches
        assert (len(fast.connect), len(slow.connect)) == (16, 0)


def ways_on_two_switches(links: Links) -> list[tuple[Links, ...]]:
    """All ways to put circuits on two switches, each of which carries at most one out of and into each GPU."""
    ways = []
    for choice in itertools.product((0, 1), repeat=len(links)):
        parts = tuple(
            {link for link, at in zip(sorted(links), choice, strict=True) if at == switch} for switch in (0, 1)
        )
        if all(len({link[side] for link in part}) == len(part) for part in parts for side in (0, 1)):
            ways.append(parts)
    return ways


def test_what_changes_are_charged_comes_before_how_many_circuits_change() -> None:
    # Two circuits have to be set up, on whichever switch; the fast one can have both.
    start = {(0, 2), (1, 0), (2, 3), (3, 0), (3, 1)}
    ring = {(gpu, (gpu + 1) % 4) for gpu in range(4)}
    first, other = (ll.Topology.from_links("drawn", 4, [(*link, 1) for link in sorted(of)]) for of in (start, ring))
    delays_s = (332e-9, 3.32e-9)
    fabric = ll.Fabric(gpus=4, ports=2, reconfiguration_delay=["332ns", "3.32ns"], initial=first)
    plan = ll.plan("all-gather", "32KiB", fabric=fabric, algorithm="ring", planner="static", topology=other)
    changes = itertools.product(ways_on_two_switches(start), ways_on_two_switches(ring))
    least_s = min(
        max(delay_s for delay_s, had, has in zip(delays_s, before, after, strict=True) if had != has)
        for before, after in changes
    )
    assert ll.circuits(plan, "parallel").charged_s == pytest.approx(least_s, rel=1e-12)


def test_islands_join_what_crosses_them() -> None:
    plan = ll.plan(
        "all-reduce",
        "1MiB",
        fabric=ll.Fabric(gpus=16, reconfiguration_delay="100ns"),
        planner="harvest",
        algorithm="recursive-doubling",
        candidates=["ring", "shifted-ring:2", "shifted-ring:4"],
    )
    circuits = ll.circuits(plan, "islands:4x4")
    assert circuits.switches == (("islands", 16),)
    for joined, configuration in zip(followed(circuits), circuits.configurations, strict=True):
        crossing: Counter[tuple[int, int]] = Counter()
        for (src, dst), count in circuits_of(plan.topologies[configuration.topology_index]).items():
            if src // 4 != dst // 4:
                crossing[src // 4, dst // 4] += count
        assert composed(joined, lambda _, port: (port - 1) // 4) == crossing
    assert all(check.passed for check in ll.verify(circuits))


def test_a_ring_needs_one_port_an_island() -> None:
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=10), algorithm="ring", planner="static", topology="ring")
    (configuration,) = ll.circuits(plan, "islands:4x1").configurations
    # Islands 0 to 3, 4 to 7, 8 and 9.
    assert configuration.switches[0].connections.tolist() == [[1, 2], [2, 3], [3, 1]]


@pytest.mark.parametrize(("gpus", "optical_ports"), [(16, 8), (64, 16), (64, 32)])
def test_islands_have_the_ports_of_the_blocks_of_bridge(gpus: int, optical_ports: int) -> None:
    # BRIDGE §3.7: blocks of ceil(2n / z) nodes share two of z ports, one in each direction.
    block = -(-2 * gpus // optical_ports)
    plan = ll.plan(
        "all-to-all",
        "1MiB",
        fabric=ll.Fabric(gpus=gpus, reconfiguration_delay="1us"),
        planner="bridge",
        optical_ports=optical_ports,
    )
    circuits = ll.circuits(plan, f"islands:{block}x1")
    assert 2 * circuits.switches[0].ports == optical_ports
    assert len(circuits.configurations) > 1
    assert all(len(one.switches[0].connections) == optical_ports // 2 for one in circuits.configurations)
    assert all(check.passed for check in ll.verify(circuits))


@pytest.mark.parametrize(
    ("optics", "line"),
    [
        ("islands:4x1", "error: optics: island 0 (GPUs 0 to 3) has 1 port; 2 circuits of"),
        ("islands:4", "error: optics: `islands:4` is not accepted; it takes `islands:AxB`"),
        ("islands", "error: optics: `islands:` is not accepted"),
        ("islands:0x2", "error: optics: `islands:0x2` is not accepted"),
        ("islands:4x2x1", "error: optics: `islands:4x2x1` is not accepted"),
        ("parallel:2", "error: optics: `parallel:2` is not accepted; it takes `parallel` without parameters"),
        ("paralel", "error: optics: unknown name `paralel`, did you mean `parallel`?"),
        ("nowhere/optics.toml", "error: optics: no such file: `nowhere/optics.toml`"),
    ],
)
def test_what_cannot_be_is_one_line(cli: RunCli, in_tmp: Path, optics: str, line: str) -> None:
    plan = ll.plan(
        "all-reduce",
        "1MiB",
        fabric=ll.Fabric(gpus=16, reconfiguration_delay="1ns"),
        planner="bvn",
        algorithm="recursive-doubling",
    )
    plan.save(in_tmp / "plan.json")
    refused = cli("circuits", "plan.json", "--optics", optics, "--output", "circuits.json")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith(line)
    assert refused.err.count("\n") == 1
    assert not Path("circuits.json").exists()

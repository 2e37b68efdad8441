"""Routers by wavelength (AWGRs): topologies that they hold, wavelengths, plans next to exhaustive search."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.conftest import RunCli
from tests.optics.followed import circuits_of

Pair = tuple[int, int]

# The default fabric's startup and hop delay, and the time of a byte, in seconds; delays of the tests.
STEP_S = HOP_S = 500e-9
BYTE_S = 8 / 800e9
CHANGES_S = {"10ns": 10e-9, "3us": 3e-6, "100us": 100e-6}


def fits(pairs: list[Pair], gpus: int, ports: int, size: int, wavelengths: int) -> bool:
    """Whether every circuit gets a port that leads to its group, by trying all ports of one circuit after another."""
    groups = -(-gpus // size)
    if any((dst - src) % size >= wavelengths for src, dst in pairs):
        return False

    def place(index: int, used: frozenset[tuple[str, int, int]]) -> bool:
        if index == len(pairs):
            return True
        src, dst = pairs[index]
        for port in range(ports):
            taken = {("out", src, port), ("in", dst, port)}
            if (src // size + port) % groups == dst // size and not taken & used and place(index + 1, used | taken):
                return True
        return False

    return place(0, frozenset())


def lit(circuits: ll.Circuits, gpus: int, ports: int, size: int) -> list[Counter[Pair]]:
    """Per configuration, circuits between GPUs: where the light of every laser goes, by its wavelength alone."""
    groups = -(-gpus // size)
    found = []
    for configuration in circuits.configurations:
        pairs: Counter[Pair] = Counter()
        for router, setting in enumerate(configuration.switches):
            group, port = divmod(router, ports)
            assert len(setting.wavelengths) == len(setting.connections)
            outputs = set()
            for ingress, wavelength in zip(
                setting.connections[:, 0].tolist(), setting.wavelengths.tolist(), strict=True
            ):
                output = (ingress - 1 + wavelength) % size
                assert output not in outputs
                outputs.add(output)
                pairs[group * size + ingress - 1, (group + port) % groups * size + output] += 1
        found.append(pairs)
    return found


FABRICS = [(4, 1, 4), (4, 2, 4), (3, 2, 4), (4, 2, 2), (6, 3, 3), (6, 2, 2), (8, 3, 4)]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FABRICS), st.integers(0, 10**6), st.data())
def test_a_topology_is_held_where_every_circuit_finds_a_port(
    kind: tuple[int, int, int], seed: int, data: st.DataObject
) -> None:
    gpus, ports, size = kind
    wavelengths = data.draw(st.integers(2, size))
    drawn = random.Random(seed)  # noqa: S311
    links: Counter[Pair] = Counter()
    for _ in range(ports):
        # Rings of a few offsets fit more often than what is drawn without regard to wavelengths.
        order = drawn.sample(range(gpus), gpus) if drawn.random() < 0.3 else list(range(gpus))
        links.update((order[place - 1], order[place]) for place in range(gpus))
    topology = ll.Topology.from_links("drawn", gpus, [(*pair, count) for pair, count in links.items()])
    optics = f"awgr:{size}x{wavelengths}"
    expected = fits(list(links.elements()), gpus, ports, size, wavelengths)
    try:
        fabric = ll.Fabric(gpus=gpus, ports=ports, optics=optics)
        plan = ll.plan("all-gather", "64KiB", fabric=fabric, algorithm="ring", planner="static", topology=topology)
    except ll.InputError:
        assert not expected
        return
    assert expected
    circuits = ll.circuits(plan)
    assert lit(circuits, gpus, ports, size) == [circuits_of(topology)] * len(circuits.configurations)
    assert all(check.passed for check in ll.verify(circuits))


@pytest.mark.parametrize(("gpus", "ports", "optics"), [(8, 2, "awgr:8"), (16, 2, "awgr:16x5"), (16, 4, "awgr:8x8")])
def test_plans_keep_to_wavelengths_and_groups(gpus: int, ports: int, optics: str) -> None:
    size, _, wavelengths = optics.removeprefix("awgr:").partition("x")
    fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay="100ns", optics=optics)
    for collective in ("all-reduce", "all-to-all"):
        plan = ll.plan(collective, "4MiB", fabric=fabric)
        circuits = ll.circuits(plan)
        found = lit(circuits, gpus, ports, int(size))
        assert found == [circuits_of(plan.topologies[one.topology_index]) for one in circuits.configurations]
        used = {
            int(one)
            for configuration in circuits.configurations
            for switch in configuration.switches
            for one in switch.wavelengths
        }
        assert used
        assert max(used) < int(wavelengths or size)
        assert all(check.passed for check in ll.verify(circuits))
        assert ll.Circuits.from_json(circuits.to_json()).to_json() == circuits.to_json()


def matchings(gpus: int, wavelengths: int) -> list[tuple[int, ...]]:
    """All ways to tune the lasers of one router that lead every laser to an output of its own; wavelength 0 is none."""
    return [
        tuned
        for tuned in itertools.product(range(wavelengths), repeat=gpus)
        if len({(gpu + one) % gpus for gpu, one in enumerate(tuned)}) == gpus
    ]


def step_s(tuned: tuple[int, ...], distance: int, share: float) -> float:
    """Time of a step in which every GPU sends `share` bytes `distance` GPUs on, along the only ways there are."""
    gpus = len(tuned)
    hops, load = 0, Counter[int]()
    for src in range(gpus):
        at, length = src, 0
        while at != (src + distance) % gpus:
            load[at] += 1
            at, length = (at + tuned[at]) % gpus, length + 1
            if length > gpus:
                return float("inf")
        hops = max(hops, length)
    return STEP_S + HOP_S * hops + share * BYTE_S * max(load.values())


@pytest.mark.parametrize(("gpus", "wavelengths"), [(4, 2), (4, 3), (4, 4), (8, 2), (8, 3), (16, 2)])
@pytest.mark.parametrize("delay", CHANGES_S)
@pytest.mark.parametrize("size", [1 << 12, 1 << 24])
def test_plans_are_those_of_exhaustive_search(gpus: int, wavelengths: int, delay: str, size: int) -> None:
    fabric = ll.Fabric(gpus=gpus, reconfiguration_delay=delay, optics=f"awgr:{gpus}x{wavelengths}")
    change_s = CHANGES_S[delay]
    # Recursive doubling: the largest distance first, with one block.
    steps = [(gpus >> step, size / gpus * (1 << step - 1)) for step in range(1, gpus.bit_length())]
    every = matchings(gpus, wavelengths)
    best = dict.fromkeys(every, 0.0)
    for index, (distance, share) in enumerate(steps):
        before = min(best.values()) + (change_s if index else 0.0)
        best = {tuned: min(so_far, before) + step_s(tuned, distance, share) for tuned, so_far in best.items()}
    plan = ll.plan("all-gather", size, fabric=fabric, algorithm="recursive-doubling", planner="weave")
    assert plan.total_s == pytest.approx(min(best.values()), rel=1e-9)


def test_changed_wavelengths_are_found(cli: RunCli, in_tmp: Path) -> None:
    fabric = ll.Fabric(gpus=8, ports=2, reconfiguration_delay="10ns", optics="awgr:8x6")
    plan = ll.plan("all-to-all", "64KiB", fabric=fabric)
    document = json.loads(ll.circuits(plan).to_json())
    plan.save(in_tmp / "routed.json")
    for value in (0, 6, 7):
        changed = json.loads(json.dumps(document))
        tuned = changed["configurations"][-1]["switches"][0]["wavelengths"]
        tuned[0] = value if tuned[0] != value else value + 1
        (in_tmp / "changed.json").write_text(json.dumps(changed))
        ran = cli("verify", "changed.json", "--plan", "routed.json")
        assert ran.status == 1
        assert "leaves at egress port" in ran.out + ran.err


@pytest.mark.parametrize(
    ("optics", "gpus", "said"),
    [
        ("awgr:", 8, "awgr:N"),
        ("awgr:8x9", 8, "wavelengths, from 2 to N"),
        ("awgr:1", 8, "from 2 to"),
        ("awgr:3", 8, "gpus"),
        ("awgr:8x2x2", 8, "awgr:8x2x2"),
    ],
)
def test_what_routers_cannot_be_is_refused(cli: RunCli, optics: str, gpus: int, said: str) -> None:
    ran = cli("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", gpus, "--optics", optics)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1

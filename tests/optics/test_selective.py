"""Wavelength-selective switches (WSSs): topologies that they hold, bands, plans next to exhaustive search."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import lightloom as ll
from tests.conftest import RunCli
from tests.optics.followed import circuits_of

Pair = tuple[int, int]
Edges = tuple[tuple[Pair, int], ...]

# The default fabric's startup and hop delay, and the time of a byte, in seconds; delays of the tests.
STEP_S = HOP_S = 500e-9
BYTE_S = 8 / 800e9
CHANGES_S = {"10ns": 10e-9, "3us": 3e-6, "100us": 100e-6}


def fits(pairs: list[Pair], fibres: int, shape: tuple[int, int], outputs: int) -> bool:
    """Whether every circuit gets a fibre that leads to its group and a band, by trying all for one after another.

    shape: GPUs, and bands of a fibre.
    """
    gpus, bands = shape
    groups = -(-gpus // outputs)

    def place(index: int, used: frozenset[tuple[str, int, int, int]]) -> bool:
        if index == len(pairs):
            return True
        src, dst = pairs[index]
        for fibre, band in itertools.product(range(fibres), range(bands)):
            taken = {("out", src, fibre, band), ("in", dst, fibre, band)}
            leads = (src // outputs + fibre) % groups == dst // outputs
            if leads and not taken & used and place(index + 1, used | taken):
                return True
        return False

    return place(0, frozenset())


def lit(circuits: ll.Circuits, gpus: int, fibres: int, switch: tuple[int, int, int]) -> list[Counter[Pair]]:
    """Per configuration, circuits between GPUs: where the light of each band goes, every wavelength once a fibre."""
    outputs, bands, wavelengths = switch
    groups, width = -(-gpus // outputs), wavelengths // bands
    found = []
    for configuration in circuits.configurations:
        pairs: Counter[Pair] = Counter()
        lights: set[tuple[str, int, int, int]] = set()
        for index, setting in enumerate(configuration.switches):
            group, fibre = divmod(index, fibres)
            for (ingress, egress), first in zip(
                setting.connections.tolist(), setting.wavelengths.tolist(), strict=True
            ):
                src = group * outputs + (ingress - 1) // bands
                dst = (group + fibre) % groups * outputs + (egress - 1) // bands
                for wavelength in range(first, first + width):
                    assert wavelength < wavelengths
                    for light in (("out", src, fibre, wavelength), ("in", dst, fibre, wavelength)):
                        assert light not in lights
                        lights.add(light)
                pairs[src, dst] += 1
        found.append(pairs)
    return found


# GPUs, fibres of a GPU, and bands, outputs of a switch.
FABRICS = [(4, 1, 2, 4), (3, 2, 1, 4), (4, 2, 2, 2), (6, 3, 1, 3), (6, 2, 2, 3), (8, 2, 1, 4), (6, 2, 1, 2)]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FABRICS), st.integers(0, 10**6), st.integers(1, 3))
def test_a_topology_is_held_where_every_circuit_finds_a_band(
    kind: tuple[int, int, int, int], seed: int, width: int
) -> None:
    gpus, fibres, bands, outputs = kind
    drawn = random.Random(seed)  # noqa: S311
    groups = -(-gpus // outputs)
    links: Counter[Pair] = Counter()
    for band in range(fibres * bands):
        # Circuits that go as many groups on as a fibre leads are held more often than what is drawn without regard.
        if drawn.random() < 0.5:
            order = drawn.sample(range(gpus), gpus)
            links.update((order[place - 1], order[place]) for place in range(gpus))
            continue
        for group in range(groups):
            own = [gpu for gpu in range(gpus) if gpu // outputs == group]
            there = (group + band // bands) % groups
            others = [gpu for gpu in range(gpus) if gpu // outputs == there]
            shift = drawn.randrange(1 if there == group else 0, len(own))
            links.update((own[place], others[(place + shift) % len(own)]) for place in range(len(own)))
    topology = ll.Topology.from_links("drawn", gpus, [(*pair, count) for pair, count in links.items()])
    expected = fits(list(links.elements()), fibres, (gpus, bands), outputs)
    optics = f"wss:{outputs}x{bands}x{bands * width}"
    fabric = ll.Fabric(gpus=gpus, ports=fibres * bands, optics=optics)
    try:
        plan = ll.plan("all-gather", "64KiB", fabric=fabric, algorithm="ring", planner="static", topology=topology)
    except ll.InputError as refused:
        assert not expected or "no path" in str(refused)
        return
    assert expected
    circuits = ll.circuits(plan)
    found = lit(circuits, gpus, fibres, (outputs, bands, bands * width))
    assert found == [circuits_of(topology)] * len(circuits.configurations)
    assert all(check.passed for check in ll.verify(circuits))
    assert all(check.passed for check in ll.verify(plan))


@pytest.mark.large
@pytest.mark.parametrize(
    ("gpus", "ports", "optics"), [(8, 4, "wss:8x4x32"), (16, 4, "wss:8x2"), (16, 4, "wss:16x4x8"), (16, 4, "wss:4")]
)
def test_plans_keep_to_bands_and_groups(gpus: int, ports: int, optics: str) -> None:
    outputs, bands, wavelengths = (*map(int, optics.removeprefix("wss:").split("x")), 1, 1)[:3]
    wavelengths = max(wavelengths, bands)
    fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay="100ns", optics=optics)
    for collective in ("all-reduce", "all-to-all"):
        plan = ll.plan(collective, "4MiB", fabric=fabric)
        circuits = ll.circuits(plan)
        found = lit(circuits, gpus, ports // bands, (outputs, bands, wavelengths))
        assert found == [circuits_of(plan.topologies[one.topology_index]) for one in circuits.configurations]
        assert all(check.passed for check in ll.verify(circuits))
        assert ll.Circuits.from_json(circuits.to_json()).to_json() == circuits.to_json()


def settings_of(gpus: int, fibres: int, bands: int, outputs: int) -> set[Edges]:
    """The topologies of all settings in which each band of each fibre joins all GPUs of a group to others."""
    groups = gpus // outputs
    choices: list[list[Counter[Pair]]] = []
    for group, fibre in itertools.product(range(groups), range(fibres)):
        there = (group + fibre) % groups
        own, others = range(group * outputs, (group + 1) * outputs), range(there * outputs, (there + 1) * outputs)
        matchings = [
            tuple(zip(own, order, strict=True))
            for order in itertools.permutations(others)
            if not any(src == dst for src, dst in zip(own, order, strict=True))
        ]
        several = itertools.combinations_with_replacement(matchings, bands)
        choices.append([Counter(itertools.chain.from_iterable(some)) for some in several])
    found = set()
    for chosen in itertools.product(*choices):
        links: Counter[Pair] = Counter()
        for part in chosen:
            links.update(part)
        found.add(tuple(sorted(links.items())))
    return found


def paths(edges: dict[int, list[int]], src: int, dst: int, hops: int) -> Iterator[list[int]]:
    """All paths of at most so many hops that meet no GPU twice."""
    if src == dst:
        yield [dst]
        return
    if hops > 0:
        for after in edges[src]:
            without = {gpu: [one for one in to if one != src] for gpu, to in edges.items()}
            yield from ([src, *rest] for rest in paths(without, after, dst, hops - 1))


def along(after: dict[int, int], pattern: list[Pair], share: float) -> float:
    """The time of a step on one circuit out of each GPU, along the only paths there are."""
    most, load = 0, Counter[int]()
    for src, dst in pattern:
        at, hops = src, 0
        while at != dst:
            load[at] += 1
            at, hops = after[at], hops + 1
            if hops > len(after):
                return float("inf")
        most = max(most, hops)
    return STEP_S + HOP_S * most + share * BYTE_S * max(load.values())


def step_s(topology: Edges, pattern: list[Pair], share: float, gpus: int) -> float:
    """The least time of a step in which every pair sends `share` bytes, over all mixtures of paths and all hops."""
    if all(copies == 1 for _, copies in topology) and len(topology) == gpus:
        return along(dict(pair for pair, _ in topology), pattern, share)
    edges: dict[int, list[int]] = {gpu: [] for gpu in range(gpus)}
    for (src, dst), _ in topology:
        edges[src].append(dst)
    place = {pair: index for index, (pair, _) in enumerate(topology)}
    best = float("inf")
    for hops in range(1, gpus):
        if STEP_S + HOP_S * hops >= best:
            break
        ways = [list(paths(edges, *pair, hops)) for pair in pattern]
        if not all(ways):
            continue
        # Variables: the share of each way, then the load; every circuit carries at most the load.
        count = sum(map(len, ways))
        over, equal = np.zeros((len(topology), count + 1)), np.zeros((len(pattern), count + 1))
        over[:, -1] = [-copies for _, copies in topology]
        column = 0
        for row, some in enumerate(ways):
            for way in some:
                equal[row, column] = 1
                for pair in itertools.pairwise(way):
                    over[place[pair], column] = 1
                column += 1
        cost = np.zeros(count + 1)
        cost[-1] = 1
        solved = linprog(cost, over, np.zeros(len(topology)), equal, np.ones(len(pattern)))
        best = min(best, STEP_S + HOP_S * hops + share * BYTE_S * solved.fun)
    return best


def bruck(gpus: int, size: int) -> list[tuple[list[Pair], float]]:
    """Steps of an AllGather by Bruck: to the GPU 2^k before, as many blocks as are had and missed."""
    steps, had = [], 1
    while had < gpus:
        pattern = [(gpu, (gpu - had) % gpus) for gpu in range(gpus)]
        steps.append((pattern, size / gpus * min(had, gpus - had)))
        had *= 2
    return steps


def recursive_doubling(gpus: int, size: int) -> list[tuple[list[Pair], float]]:
    """Steps of an AllGather by recursive doubling: so many GPUs on, the largest distance first."""
    steps = range(1, gpus.bit_length())
    return [
        ([(gpu, (gpu + (gpus >> step)) % gpus) for gpu in range(gpus)], size / gpus * (1 << step - 1)) for step in steps
    ]


ALGORITHMS = {"bruck": bruck, "recursive-doubling": recursive_doubling}


@pytest.mark.large
@pytest.mark.parametrize(
    ("kind", "algorithm"),
    [
        ((4, 1, 1, 4), "recursive-doubling"),
        ((4, 1, 2, 4), "recursive-doubling"),
        ((4, 2, 1, 2), "recursive-doubling"),
        ((4, 2, 2, 2), "recursive-doubling"),
        ((5, 1, 1, 5), "bruck"),
        ((6, 1, 1, 6), "bruck"),
        ((8, 1, 1, 8), "recursive-doubling"),
    ],
)
@pytest.mark.parametrize("size", [1 << 12, 1 << 24])
def test_plans_are_those_of_exhaustive_search(kind: tuple[int, int, int, int], algorithm: str, size: int) -> None:
    for delay, (planned_s, best_s) in next_to_exhaustive(kind, algorithm, size).items():
        assert planned_s == pytest.approx(best_s, rel=1e-9), delay


@pytest.mark.large
@pytest.mark.parametrize("size", [1 << 12, 1 << 24])
def test_no_plan_is_below_exhaustive_search(size: int) -> None:
    # Circuits that a step leaves over, in groups, are no topology of a family.
    for delay, (planned_s, best_s) in next_to_exhaustive((6, 2, 1, 3), "bruck", size).items():
        assert best_s * (1 - 1e-9) <= planned_s, delay


def next_to_exhaustive(kind: tuple[int, int, int, int], algorithm: str, size: int) -> dict[str, tuple[float, float]]:
    """By delay, the time of the plan and the least over all sequences of topologies that the switches can have."""
    gpus, fibres, bands, outputs = kind
    every = sorted(settings_of(*kind))
    steps = ALGORITHMS[algorithm](gpus, size)
    times = [{topology: step_s(topology, *step, gpus) for topology in every} for step in steps]
    found = {}
    for delay, change_s in CHANGES_S.items():
        best = dict.fromkeys(every, 0.0)
        for index, of in enumerate(times):
            before = min(best.values()) + (change_s if index else 0.0)
            best = {topology: min(so_far, before) + of[topology] for topology, so_far in best.items()}
        optics = f"wss:{outputs}x{bands}"
        fabric = ll.Fabric(gpus=gpus, ports=fibres * bands, reconfiguration_delay=delay, optics=optics)
        plan = ll.plan("all-gather", size, fabric=fabric, algorithm=algorithm, planner="weave")
        found[delay] = plan.total_s, min(best.values())
    return found


def test_changed_light_is_found(cli: RunCli, in_tmp: Path) -> None:
    fabric = ll.Fabric(gpus=8, ports=4, reconfiguration_delay="10ns", optics="wss:4x2x8")
    plan = ll.plan("all-to-all", "64KiB", fabric=fabric)
    document = json.loads(ll.circuits(plan).to_json())
    plan.save(in_tmp / "routed.json")
    for value in (1, 4, 7):
        changed = json.loads(json.dumps(document))
        first = changed["configurations"][-1]["switches"][0]["wavelengths"]
        first[0] = value if first[0] != value else value - 4
        (in_tmp / "changed.json").write_text(json.dumps(changed))
        ran = cli("verify", "changed.json", "--plan", "routed.json")
        assert ran.status == 1
        assert "light from wavelength" in ran.out + ran.err


@pytest.mark.parametrize(
    ("optics", "said"),
    [
        ("wss:", "wss:K"),
        ("wss:1", "from 2 to"),
        ("wss:8x3x4", "a multiple of B"),
        ("wss:8x0", "wss:8x0"),
        ("wss:8x2x2x2", "wss:8x2x2x2"),
        ("wss:8x8192", "at most 4096"),
        ("wss:3", "gpus"),
        ("wss:8x3", "ports"),
    ],
)
def test_switches_that_cannot_be_are_refused(cli: RunCli, optics: str, said: str) -> None:
    ran = cli("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", 8, "--ports", 4, "--optics", optics)
    assert ran.status == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1

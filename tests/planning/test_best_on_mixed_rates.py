"""Plans on mixed rates against the best of others: of single topologies, and of fabrics with fewer links."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.draws import cases
from tests.names import names
from tests.reference import recomputed_plan
from tests.reference.plan_document import pairs_of

# Rounding of sums of the same terms.
ROUNDING = 1e-12
TOPOLOGIES = ["ring", "ring:one-way", "torus", "kautz", "hypercube", "rewired-de-bruijn"]


def drawn(number: int) -> tuple[str, int, dict[str, Any]]:
    """Collective, bytes and the settings of a fabric whose pairs of GPUs, or ports, have different rates."""
    rng = Random(f"best on mixed rates {number}")  # noqa: S311
    gpus, ports = rng.randint(3, 8), rng.choice((2, 3))
    if number % 4 == 3:
        mixed: dict[str, Any] = {"bandwidth": [float(f"{rng.uniform(1, 9):.3g}e11") for _ in range(ports)]}
    else:
        near = f"inside:{rng.randint(2, gpus)}:{rng.choice((400, 800, 3600))}Gbps:100ns"
        classes = [f"{rng.randint(100, 300)}Gbps:{rng.choice((250, 1000))}ns" for _ in range(2)]
        pairs = rng.sample(list(itertools.combinations(range(gpus), 2)), rng.randint(1, 4 if gpus > 3 else 3))
        named = ",".join(f"{one}:{other}:{rng.choice(classes)}" for one, other in pairs)
        mixed = {"bandwidth": "400Gbps", "pair_rates": (named, near, f"{near},{named}")[number % 4]}
    more = {"hop_delay": rng.choice(("500ns", "1us")), "reconfiguration_delay": rng.choice(("1us", "20us", "1s"))}
    size_bytes = gpus * rng.choice((100, 10_000, 1_000_000))
    return rng.choice(names("collectives")), size_bytes, {"gpus": gpus, "ports": ports, **mixed, **more}


def hold_to_each_topology(number: int) -> None:
    """The best of a list is the least of the plans on each, all of whose times are computed again from their files."""
    collective, size_bytes, told = drawn(number)
    fabric = ll.Fabric(**told)
    rng = Random(number)  # noqa: S311
    single = {}
    for name in rng.sample(TOPOLOGIES, rng.randint(2, 4)):
        try:
            single[name] = ll.plan(collective, size_bytes, fabric=fabric, planner="static", topology=name)
        except ll.InputError:
            continue
    assert all(recomputed_plan.faults(plan.to_json()) == [] for plan in single.values())
    if single:
        best = ll.plan(collective, size_bytes, fabric=fabric, planner="static", topology=list(single))
        assert recomputed_plan.faults(best.to_json()) == []
        assert best.total_s == pytest.approx(min(plan.total_s for plan in single.values()), rel=ROUNDING, abs=0)


@pytest.mark.large
@pytest.mark.parametrize("number", range(120))
def test_the_best_of_topologies_is_the_least_of_each(number: int) -> None:
    hold_to_each_topology(number)


@pytest.mark.long
@settings(max_examples=cases(60), deadline=None)
@given(st.integers(120, 10**9))
def test_the_best_of_other_topologies_is_the_least_of_each(number: int) -> None:
    hold_to_each_topology(number)


def test_a_ring_is_taken_whose_gpus_keep_off_slow_pairs() -> None:
    """Three slow pairs, which a ring need not have: it takes what it takes where no pair is slow."""
    fabric = ll.Fabric(gpus=6, ports=3, bandwidth="400Gbps", pair_rates="1:2:100Gbps,1:3:100Gbps,2:3:100Gbps")
    fast = ll.Fabric(gpus=6, ports=3, bandwidth="400Gbps")
    ring = ll.plan("all-to-all", "16MiB", fabric=fast, planner="static", topology="ring")
    best = ll.plan("all-to-all", "16MiB", fabric=fabric, planner="static")
    assert best.total_s <= ring.total_s * (1 + ROUNDING)


@pytest.mark.parametrize("number", range(0, 24, 2))
def test_a_topology_is_named_for_the_pairs_that_it_leaves_out(number: int) -> None:
    """Nothing is broken, so that nothing is mended: what is for fast pairs joins none of the slowest rate."""
    collective, size_bytes, told = drawn(number)
    for planner in ("auto", "static"):
        plan = ll.plan(collective, size_bytes, fabric=ll.Fabric(**told), planner=planner)
        document = json.loads(plan.to_json())
        rates = {pair: rate for pair, (rate, _) in pairs_of(document["fabric"], plan.gpus).items()}
        for topology in document["topologies"]:
            assert "mended" not in topology["name"]
            if topology["name"].endswith("on fast pairs"):
                assert min(rates.values()) not in {rates[src, dst] for src, dst, _ in topology["links"]}


@pytest.mark.parametrize("far", list(itertools.combinations(range(4), 2)))
def test_a_far_circuit_stays_dark_where_it_would_make_every_hop_long(far: tuple[int, int]) -> None:
    """A small buffer on a line of near circuits, by hand: three hops, and four blocks over its middle."""
    one, other = far
    told: dict[str, Any] = {"gpus": 4, "ports": 2, "bandwidth": "400Gbps", "startup": "500ns", "hop_delay": "100ns"}
    fabric = ll.Fabric(**told, pair_rates=f"{one}:{other}:400Gbps:10us")
    line_s = 5e-7 + 3 * 1e-7 + 400 * 8 / 4e11
    choices: tuple[dict[str, Any], ...] = ({"planner": "static", "topology": "ring"}, {})
    for asked in choices:
        plan = ll.plan("all-gather", 400, fabric=fabric, **asked)
        assert recomputed_plan.faults(plan.to_json()) == []
        assert plan.total_s <= line_s * (1 + ROUNDING)

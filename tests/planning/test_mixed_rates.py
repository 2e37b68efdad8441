"""Ports of different rates: plans and bounds against linear programs over all schedules, files, and refusals."""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import lightloom as ll
from lightloom.views.tables.plan import plan_table
from tests.bounds_from_starts.all_schedules import Step
from tests.bounds_from_starts.graphs import Graph
from tests.names import names
from tests.planning.unlike_rates import BITS, ROUNDING, hold_to_what_it_says, least_load

if TYPE_CHECKING:
    from collections.abc import Iterator

FABRIC: dict[str, Any] = {"gpus": 6, "ports": 2, "bandwidth": ["800Gbps", "300Gbps"]}
# One rate, in two ways.
RATES_ALIKE: tuple[str | list[str | float], ...] = ("400Gbps", ["400Gbps", 4e11])
STARTUP_S, HOP_S = 5e-7, 5e-7


@pytest.fixture(scope="module")
def plan() -> ll.Plan:
    return ll.plan("all-gather", "1MiB", fabric=ll.Fabric(**FABRIC))


def drawn(number: int) -> tuple[str, int, ll.Fabric]:
    """Collective, bytes and fabric of a random problem."""
    rng = Random(f"mixed rates {number}")  # noqa: S311
    ports = rng.choice((2, 2, 3, 4))
    rates = [float(f"{rng.uniform(1, 9):.3g}e11") for _ in range(rng.choice((2, min(ports, 3))))]
    by_port = [*rates, *(rng.choice(rates) for _ in range(ports - len(rates)))]
    rng.shuffle(by_port)
    fabric = ll.Fabric(
        gpus=rng.choice((2, 3, 4, 5, 6, 8, 9)),
        ports=ports,
        bandwidth=by_port,
        reconfiguration_delay=rng.choice(("1us", "20us", "1ms")),
        initial=rng.choice((None, None, "ring", "repeated")),
    )
    return rng.choice(names("collectives")), int(2 ** rng.uniform(8, 28)), fabric


@pytest.mark.large
@pytest.mark.parametrize("number", range(24))
def test_plans_are_what_they_say(number: int) -> None:
    assert all("port-rates" in names_of_checks for names_of_checks in hold_to_what_it_says(*drawn(number)))


@pytest.mark.parametrize("number", range(12))
def test_no_plan_is_slower_than_that_of_alike_ports_in_place_of_them(number: int) -> None:
    """The ports of each rate and above, all at that rate, are ports that the fabric has."""
    collective, size_bytes, fabric = drawn(number)
    rates = fabric.rates_bps

    def total_s(ports: int, rate_bps: float) -> float:
        alike = ll.Fabric(
            gpus=fabric.gpus, ports=ports, bandwidth=rate_bps, reconfiguration_delay=fabric.reconfiguration_delay
        )
        return ll.plan(collective, size_bytes, fabric=alike, planner="harvest").total_s

    free = ll.Fabric(
        gpus=fabric.gpus,
        ports=fabric.ports,
        bandwidth=list(rates),
        reconfiguration_delay=fabric.reconfiguration_delay,
    )
    plan = ll.plan(collective, size_bytes, fabric=free, planner="harvest")
    least = min(total_s(sum(rate >= each for rate in rates), each) for each in set(rates))
    assert plan.total_s <= least * (1 + 1e-9)
    assert plan.lower_bound_s <= plan.total_s


def matchings(gpus: int) -> list[dict[int, int]]:
    """The circuits of one port of every GPU, as many as there can be."""
    places = [(*range(gpus), None)] * gpus
    every = (
        {src: dst for src, dst in enumerate(place) if dst is not None}
        for place in itertools.product(*places)
        if all(src != dst for src, dst in enumerate(place))
        and len({dst for dst in place if dst is not None}) == sum(dst is not None for dst in place)
    )
    found = sorted(every, key=len, reverse=True)
    kept: list[dict[int, int]] = []
    for one in found:
        if not any(one.items() <= other.items() for other in kept):
            kept.append(one)
    return kept


def graphs(gpus: int, by_port: list[float]) -> Iterator[Any]:
    """Every topology: rates of links over the fastest, of which each port is a matching."""
    for ports in itertools.product(matchings(gpus), repeat=len(by_port)):
        # Parts of circuits, too.
        graph: Any = Graph()
        for rate, matching in zip(by_port, ports, strict=True):
            for link in matching.items():
                graph[link] += rate / max(by_port)
        yield graph


def least_s(collective: str, size_bytes: int, gpus: int, by_port: list[float]) -> float:
    """The least time of all schedules of up to two steps on one topology that stays."""
    byte_s = BITS / max(by_port)
    found: list[float] = []
    for graph in graphs(gpus, by_port):
        for count in (1, 2):
            for hops in itertools.product(range(1, gpus), repeat=count):
                load = least_load(collective, gpus, [Step(graph, limit) for limit in hops])
                if load is not None:
                    found.append(STARTUP_S * count + HOP_S * sum(hops) + byte_s * size_bytes * load)
    return min(found)


@pytest.mark.large
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "broadcast"])
@pytest.mark.parametrize(("rates", "size_bytes"), [([8e11, 4e11], 30_000), ([7.3e11, 2.1e11], 600_000)])
def test_no_schedule_of_three_gpus_takes_less(collective: str, rates: list[float], size_bytes: int) -> None:
    """No bound is above any schedule of two steps on a topology that stays, and no plan of so few steps is below all.

    Data are cut into any fractions; the topologies are all that the ports can make.
    """
    fabric = ll.Fabric(gpus=3, ports=2, bandwidth=rates, reconfiguration_delay="1s", startup=STARTUP_S, hop_delay=HOP_S)
    optimum_s = least_s(collective, size_bytes, 3, rates)
    plan = ll.plan(collective, size_bytes, fabric=fabric)
    assert ll.bound(collective, size_bytes, fabric=fabric).lower_bound_s <= optimum_s * (1 + ROUNDING)
    if len(plan.steps) <= 2:
        assert plan.total_s >= optimum_s * (1 - ROUNDING)
    assert plan.total_s <= 1.5 * optimum_s


def test_equal_rates_are_one_rate() -> None:
    """To the last bit, in the file too."""
    for collective in ("all-reduce", "all-to-all"):
        one, listed = (
            ll.plan(collective, "1MiB", fabric=ll.Fabric(gpus=6, ports=2, bandwidth=bandwidth)).to_json()
            for bandwidth in RATES_ALIKE
        )
        assert one == listed
        assert json.loads(one)["fabric"]["bandwidth_bps"] == 4e11


def test_a_plan_says_its_rates(plan: ll.Plan) -> None:
    assert plan.rates_bps == (8e11, 3e11)
    assert "2 ports of 800, 300 Gbit/s" in " ".join(plan_table(plan, []).split())
    document = json.loads(plan.to_json())
    assert document["fabric"]["bandwidth_bps"] == [8e11, 3e11]
    for topology in document["topologies"]:
        assert [sum(counts) for counts in topology["circuits_by_rate"]] == [count for *_, count in topology["links"]]


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("circuits_by_rate", None, "it is missing"),
        ("circuits_by_rate", [], "one list for each link"),
        ("circuits_by_rate", "more", "more circuits of a rate than ports"),
        ("circuits_by_rate", "fewer", "not as many as the link has"),
    ],
)
def test_files_with_other_circuits_are_refused(plan: ll.Plan, key: str, value: object, named: str) -> None:
    document = json.loads(plan.to_json())
    topology = document["topologies"][0]
    if value is None:
        del topology[key]
    elif value == "more":
        topology[key] = [[sum(counts), 0] for counts in topology[key]]
    elif value == "fewer":
        topology[key] = [[0, 0] for _ in topology[key]]
    else:
        topology[key] = value
    with pytest.raises(ll.InputError, match=named):
        ll.Plan.from_json(json.dumps(document))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"bandwidth": ["800Gbps", "400Gbps", "400Gbps"]}, "bandwidth"),
        ({"bandwidth": ["800Gbps", "none"]}, "bandwidth"),
        ({"bandwidth": []}, "bandwidth"),
        ({"electrical": "3:1Tbps"}, "electrical"),
        ({"reconfiguration_delay": "20ns/port"}, "reconfiguration_delay"),
        ({"reconfiguration_delay": ["10us", "1us"]}, "reconfiguration_delay"),
        ({"background_reconfiguration": True}, "reconfiguration_delay"),
        ({"optics": "islands:3x2"}, "optics"),
    ],
)
def test_what_does_not_go_with_different_rates_is_refused_in_a_line(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(ll.InputError, match=f"^{field}: ") as refused:
        ll.plan("all-gather", "1MiB", fabric=ll.Fabric(**{**FABRIC, **changed}))
    assert "\n" not in str(refused.value)

"""Ports of different rates: plans and bounds of random fabrics against linear programs over all schedules.

A program knows the topology of each step, in parts of the fastest port's rate, and how many hops paths may have. It
finds the least that any schedule on these takes, data being cut into any fractions. So it is below every plan whose
steps have these topologies and hops, and above every bound that holds for all plans.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.bounds_from_starts.all_schedules import Step
from tests.bounds_from_starts.graphs import Graph
from tests.draws import cases
from tests.planning import unlike_rates
from tests.planning.unlike_rates import BITS, ROUNDING


def drawn(number: int) -> tuple[str, int, ll.Fabric]:
    """Collective, bytes and fabric of a random problem of up to five GPUs; rates without a small common unit."""
    rng = Random(f"programs of mixed rates {number}")  # noqa: S311
    gpus, ports = rng.choice((3, 4, 4, 5)), rng.choice((2, 2, 3))
    rates = [round(rng.uniform(1, 9), 2) * 1e11 for _ in range(ports)]
    fabric = ll.Fabric(
        gpus=gpus,
        ports=ports,
        bandwidth=rates,
        reconfiguration_delay=rng.choice(("1us", "10us", "1s")),
        startup=rng.choice(("0s", "500ns", "5us")),
        hop_delay=rng.choice(("0s", "500ns")),
    )
    size_bytes = gpus * rng.choice((100, 10_000, 1_000_000))
    return rng.choice(sorted(unlike_rates.MOST_STEPS)), size_bytes, fabric


def least_load(collective: str, gpus: int, steps: list[Step]) -> float | None:
    """The least sum of loads of any schedule, where its program is soon solved."""
    is_large = gpus == 5 and collective == "all-reduce" and len(steps) > 1
    return None if is_large else unlike_rates.least_load(collective, gpus, steps)


def graphs_of(plan: ll.Plan, rates: tuple[float, ...]) -> list[Any]:
    """The topologies of a plan's file, links with their rates over the fastest."""
    by_rate = sorted(set(rates), reverse=True)
    found = []
    for topology in json.loads(plan.to_json())["topologies"]:
        # Rates are parts of circuits.
        graph: Any = Graph()
        counts_of_links = topology.get("circuits_by_rate") or [[count] for *_, count in topology["links"]]
        for (src, dst, _), counts in zip(topology["links"], counts_of_links, strict=True):
            graph[src, dst] += sum(count * rate for count, rate in zip(counts, by_rate, strict=False)) / by_rate[0]
        found.append(graph)
    return found


def random_graph(rng: Random, gpus: int, rates: tuple[float, ...]) -> Any:
    """A permutation for each port; GPUs that keep their place are dark."""
    graph: Any = Graph()
    for rate in rates:
        for src, dst in enumerate(rng.sample(range(gpus), gpus)):
            if src != dst:
                graph[src, dst] += rate / max(rates)
    return graph


@pytest.mark.large
@pytest.mark.parametrize("number", range(60))
def test_no_plan_is_below_and_no_bound_above_all_schedules(number: int) -> None:
    hold_against_programs(number)


@pytest.mark.large
@settings(max_examples=cases(24), deadline=None)
@given(st.integers(60, 10**9))
def test_no_plan_of_other_fabrics_is_below_and_no_bound_above_all_schedules(number: int) -> None:
    hold_against_programs(number)


def hold_against_programs(number: int) -> None:
    """The plan's steps and the bound of a random problem, against the programs of all schedules."""
    collective, size_bytes, fabric = drawn(number)
    gpus, rates = fabric.gpus or 0, fabric.rates_bps
    assert rates is not None
    plan = ll.plan(collective, size_bytes, fabric=fabric)
    bound_s = ll.bound(collective, size_bytes, fabric=fabric).lower_bound_s
    byte_s = BITS / max(rates)
    graphs = graphs_of(plan, rates)
    steps = [Step(graphs[step.topology_index], step.hops) for step in plan.steps]
    sent_s = sum(step.transmission_s for step in plan.steps)
    least = least_load(collective, gpus, steps)
    if least is not None:
        assert sent_s >= byte_s * size_bytes * least * (1 - ROUNDING)
    rng = Random(number)  # noqa: S311
    for _ in range(4):
        graph = random_graph(rng, gpus, rates)
        hops = [rng.randint(1, gpus - 1) for _ in range(rng.choice((1, 2)))]
        load = least_load(collective, gpus, [Step(graph, limit) for limit in hops])
        if load is not None:
            total_s = plan.startup_s * len(hops) + plan.hop_delay_s * sum(hops) + byte_s * size_bytes * load
            assert bound_s <= total_s * (1 + ROUNDING)


@pytest.mark.large
@pytest.mark.parametrize("number", range(30))
def test_bounds_of_rates_without_a_common_unit_count_nearly_all_of_a_gpu(number: int) -> None:
    """Each GPU takes in the parts of all others of an AllGather over all of its ports."""
    _, _, fabric = drawn(number)
    gpus, rates = fabric.gpus or 0, fabric.rates_bps
    assert rates is not None
    size_bytes = gpus << 30
    bytes_s = (gpus - 1) / gpus * size_bytes * BITS / sum(rates)
    found_s = ll.bound("all-gather", size_bytes, fabric=fabric).lower_bound_s
    assert bytes_s * 0.99 <= found_s

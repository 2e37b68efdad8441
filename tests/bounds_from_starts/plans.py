"""Plans from uneven starts: no plan is below its bound, and no planning ends in an error that asks to be reported."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np

import lightloom as ll
from tests.bounds_from_starts.graphs import Graph, drawn, kautz, topology, with_dead_ports

# A Broadcast takes five times as long to plan as the others.
COLLECTIVES = ("all-gather", "reduce-scatter", "all-reduce", "all-to-all") * 3 + ("broadcast",)
SIZES = (13, 4_000, 100_000, 3_000_000, 1 << 28)
DELAYS_S = (1e-8, 1e-6, 2e-5, 1e-3, 1.0)


class Planned(NamedTuple):
    """The outcome of a start: a plan's time over its bound, or why there is no plan."""

    described: str
    ratio: float | None
    fault: str | None


def plan_one(seed: int, number: int) -> Planned:
    """Plans one collective from one start; one in 25 is a Kautz graph of 12 GPUs with dead transmitters."""
    draw = random.Random(f"{seed}/plans/{number}")  # noqa: S311 (tests)
    if number % 25 == 0:
        ranks, ports = 12, draw.randint(2, 3)
        start = with_dead_ports(draw, kautz(ranks, ports), draw.randint(0, 2), draw.randint(0, 2))
    else:
        ranks, ports = draw.randint(3, 8), draw.randint(1, 4)
        start = drawn(draw, ranks, ports)
    collective, size = draw.choice(COLLECTIVES), draw.choice(SIZES)
    delay_s, latency_s = draw.choice(DELAYS_S), draw.choice([0.0, 5e-7, 1e-5])
    unequal = collective == "all-to-all" and draw.random() < 0.5
    described = f"number {number}: {collective} of {size} bytes, {ranks} ranks, {ports} ports, {delay_s} s, "
    described += str(sorted(start.items()))
    try:
        return Planned(
            described, _ratio(draw, start, ranks, ports, collective, size, delay_s, latency_s, unequal), None
        )
    except RuntimeError as error:
        return Planned(described, None, str(error))


def _ratio(
    draw: random.Random,
    start: Graph,
    ranks: int,
    ports: int,
    collective: str,
    size: int,
    delay_s: float,
    latency_s: float,
    unequal: bool,
) -> float:
    fabric = ll.Fabric(
        gpus=ranks,
        ports=ports,
        startup=latency_s,
        hop_delay=draw.choice([0.0, latency_s]),
        reconfiguration_delay=delay_s,
        initial=topology(start, ranks),
    )
    if unequal:
        matrix = np.array(
            [[draw.choice([0, 1, 3, 10]) * size for _ in range(ranks)] for _ in range(ranks)], dtype=float
        )
        matrix[0, 1] += size
        plan = ll.plan(fabric=fabric, matrix=matrix)
        return plan.total_s / ll.bound(fabric=fabric, matrix=matrix).lower_bound_s
    plan = ll.plan(collective, size, fabric=fabric)
    return plan.total_s / ll.bound(collective, size, fabric=fabric).lower_bound_s

"""Bounds against linear programs: no schedule takes less, and some take no more."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import lightloom as ll
from tests.bounds_from_starts.all_schedules import (
    Step,
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    reduce_scatter,
)
from tests.bounds_from_starts.graphs import Graph, drawn, even, topology
from tests.names import names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BIT_RATE = 8e11
# Rounding of linear programs, relative to a time.
ROUNDING = 1e-7
KINDS = (*names("collectives"), "unequal all-to-all")
# Startup, hop delay, reconfiguration delay, s; bytes of the buffer.
PRICES = (
    (5e-7, 5e-7, 1.0, 3 << 20),
    (5e-7, 5e-7, 1e-5, 3 << 20),
    (5e-7, 5e-7, 1e-6, 30_000),
    (1e-7, 2e-6, 1.0, 300_000),
    (3e-6, 1e-7, 5e-6, 300_000),
    (1e-9, 1e-9, 1.0, 1 << 30),
)


class Judged(NamedTuple):
    """A bound over the time of the best schedule that was looked at, by kind; the largest of all prices."""

    kind: str
    # By price: the bound, and the least time of a schedule.
    bounds_s: list[float]
    least_s: list[float]
    programs: int
    described: str

    @property
    def ratios(self) -> list[float]:
        return [bound / least for bound, least in zip(self.bounds_s, self.least_s, strict=True)]


def judge(seed: int, number: int) -> Judged:
    """One topology at the start and one collective, by schedules of up to three steps and two topologies."""
    draw = random.Random(f"{seed}/{number}")  # noqa: S311 (tests)
    kind = KINDS[number % len(KINDS)]
    ranks, ports = draw.choice([2, 3, 3, 3, 4, 4]), draw.randint(1, 4)
    start = drawn(draw, ranks, ports)
    shares = _shares(draw, ranks) if kind == "unequal all-to-all" else {}
    root = draw.randrange(ranks)
    least_s, programs = [np.inf] * len(PRICES), 0
    for changes, steps in _schedules(draw, start, ranks, ports):
        programs += 1
        if kind == "all-gather":
            load = all_gather(ranks, steps)
        elif kind == "reduce-scatter":
            load = reduce_scatter(ranks, steps)
        elif kind == "all-reduce":
            load = all_reduce(ranks, steps)
        elif kind == "broadcast":
            load = broadcast(ranks, steps, root)
        elif kind == "reduce":
            # Turned round in time, what is added up on its way to the root is what is copied on its way from there.
            turned = [
                Step(Graph({(dst, src): count for (src, dst), count in one.graph.items()}), one.hops) for one in steps
            ]
            load = broadcast(ranks, turned[::-1], root)
        elif kind in {"gather", "scatter"}:
            others = [rank for rank in range(ranks) if rank != root]
            ends = [(rank, root) if kind == "gather" else (root, rank) for rank in others]
            load = all_to_all(ranks, steps, dict.fromkeys(ends, 1.0 / ranks))
        elif kind not in {"all-to-all", "unequal all-to-all"}:
            raise AssertionError(f"no program for {kind}")
        else:
            equal = {(src, dst): 1.0 / ranks for src in range(ranks) for dst in range(ranks) if src != dst}
            load = all_to_all(ranks, steps, shares or equal)
        if load is not None:
            for index, (startup_s, hop_s, change_s, size_bytes) in enumerate(PRICES):
                hops = sum(step.hops for step in steps)
                takes_s = startup_s * len(steps) + hop_s * hops + 8 * size_bytes / BIT_RATE * load + change_s * changes
                least_s[index] = min(least_s[index], takes_s)
    bounds_s = [_bound_s(kind, start, ranks, ports, shares, price) for price in PRICES]
    described = (
        f"number {number}: {kind} of {ranks} ranks on {ports} ports, {sorted(start.items())}, root {root}, {shares}"
    )
    return Judged(kind, bounds_s, least_s, programs, described)


def _schedules(draw: random.Random, start: Graph, ranks: int, ports: int) -> Iterator[tuple[int, Sequence[Step]]]:
    """Changes of topology and steps: one step of any hops, and some of the sequences of two and three."""
    most = max(1, ranks - 1)
    for hops in range(1, most + 1):
        yield 0, [Step(start, hops)]
    for count in (2, 2, 3):
        yield 0, [Step(start, draw.randint(1, most)) for _ in range(count)]
    yield 0, [Step(start, 1) for _ in range(most)]
    for count in (1, 2, 3):
        other = even(draw, ranks, ports)
        kept = draw.randrange(count)
        yield 1, [Step(start if at < kept else other, draw.randint(1, most)) for at in range(count)]


def _shares(draw: random.Random, ranks: int) -> dict[tuple[int, int], float]:
    """Bytes of an unequal All-to-All in parts of the busiest rank's."""
    matrix = np.array([[draw.choice([0, 0, 1, 3, 10]) for _ in range(ranks)] for _ in range(ranks)], dtype=float)
    np.fill_diagonal(matrix, 0.0)
    if not matrix.any():
        matrix[0, 1] = 1.0
    matrix /= max(matrix.sum(axis=0).max(), matrix.sum(axis=1).max())
    return {(int(src), int(dst)): float(matrix[src, dst]) for src, dst in np.argwhere(matrix)}


def _bound_s(
    kind: str,
    start: Graph,
    ranks: int,
    ports: int,
    shares: dict[tuple[int, int], float],
    price: tuple[float, float, float, int],
) -> float:
    startup_s, hop_s, change_s, size_bytes = price
    fabric = ll.Fabric(
        gpus=ranks,
        ports=ports,
        bandwidth=BIT_RATE,
        startup=startup_s,
        hop_delay=hop_s,
        reconfiguration_delay=change_s,
        initial=topology(start, ranks),
    )
    if shares:
        matrix = np.zeros((ranks, ranks))
        for (src, dst), share in shares.items():
            matrix[src, dst] = share * size_bytes
        return ll.bound(fabric=fabric, matrix=matrix).lower_bound_s
    return ll.bound(kind, size_bytes, fabric=fabric).lower_bound_s

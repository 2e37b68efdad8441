"""AllGather over fabrics that stay, by `synthesize`, compared with the optimum of tree packings and with TACOS.

Ports of 800 Gbit/s; a step of one hop costs a microsecond. Three figures a fabric: the plan's time (by `verify`, as
every plan), the optimum of tree packings with no start-up at all (`packings.py`), and the best of what TACOS's greedy
matching takes over a few numbers of chunks and seeds (`greedy_matching.py`).

    python -m pytest benches/test_synthesis.py -s
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import TypeVar

import numpy as np
import pytest
from benches.greedy_matching import rounds_of_matching
from benches.packings import blocks_of_best_packing

import lightloom as ll

STEP_S = 1e-6
BYTE_S = 8 / 800e9


@dataclass(frozen=True)
class Case:
    """A fabric, a size, and which chunks and seeds the matching has time for."""

    topology: str
    dims: str
    ports: int
    size: str
    parts: tuple[int, ...]
    seeds: int

    @property
    def name(self) -> str:
        return f"{self.dims} {self.topology}, {self.size}"


CASES = (
    Case("torus", "8x8", 4, "1GiB", (1, 2, 4), 20),
    Case("grid", "8x8", 4, "1GiB", (1, 2, 4), 20),
    Case("torus", "8x8x4", 6, "1GiB", (1, 2, 4), 5),
    Case("torus", "4x4x4", 6, "1GiB", (1, 2, 4, 6), 20),
    Case("torus", "16x16", 4, "16MiB", (1, 2), 1),
    Case("torus", "32x32", 4, "16MiB", (1,), 1),
)


T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result and the seconds of processor time that it took."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def test_the_optimum_of_packings_is_that_of_all_sets() -> None:
    chance = np.random.default_rng(1)
    for _ in range(100):
        ranks = int(chance.integers(2, 7))
        links = {(rank, (rank + 1) % ranks): 1 for rank in range(ranks)}
        for src, dst in chance.integers(ranks, size=(int(chance.integers(10)), 2)).tolist():
            if src != dst:
                links[src, dst] = links.get((src, dst), 0) + 1
        flat = [(src, dst, count) for (src, dst), count in links.items()]
        sets = (set(some) for size in range(1, ranks) for some in combinations(range(ranks), size))
        leaving = ((some, sum(count for src, dst, count in flat if src in some and dst not in some)) for some in sets)
        assert blocks_of_best_packing(flat, ranks, list(range(ranks))) == max(
            Fraction(len(some), circuits) for some, circuits in leaving
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_gather_on_a_fabric_that_stays(case: Case) -> None:
    fabric = ll.Fabric(
        dims=case.dims,
        ports=case.ports,
        initial=case.topology,
        startup="500ns",
        hop_delay="500ns",
        reconfiguration_delay="1s",
    )
    plan, plan_s = timed(lambda: ll.plan("all-gather", size=case.size, fabric=fabric, planner="synthesize"))
    links = list(plan.topologies[0].links)
    ranks = plan.gpus
    block_s = plan.size_bytes * BYTE_S / ranks
    # Every rank of a torus is like every other.
    receivers = [0] if case.topology == "torus" else list(range(ranks))
    optimum, optimum_s = timed(lambda: float(blocks_of_best_packing(links, ranks, receivers)) * block_s)

    def matching() -> float:
        runs = product(case.parts, range(case.seeds))
        return min(rounds_of_matching(links, ranks, parts, seed) * (STEP_S + block_s / parts) for parts, seed in runs)

    tacos, tacos_s = timed(matching)
    print(
        f"\n{case.name:<20} plan {plan.total_s * 1e6:9.1f} µs ({plan_s:5.2f} s)"
        f"  packing {optimum * 1e6:9.1f} µs, ×{plan.total_s / optimum:.4f} ({optimum_s:5.2f} s)"
        f"  matching {tacos * 1e6:9.1f} µs, ×{tacos / plan.total_s:.4f} of the plan ({tacos_s:5.2f} s)"
    )
    assert optimum <= plan.total_s <= tacos * (1 + 1e-9)

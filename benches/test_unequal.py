"""Unequal All-to-All: `weave` against the best of the planners that are given an algorithm.

Both plan the same matrices in one run. The table has the ratio of their times, and the gap to the lower bound for any
algorithm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import lightloom as ll

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]

#: Mean bytes of a pair, and reconfiguration delays: either may be small compared with the other.
MEAN_BYTES = (256, 4096, 65536, 1 << 20)
DELAYS = ("1us", "10us", "100us", "1ms")


def _even(rng: np.random.Generator, gpus: int) -> Matrix:
    return rng.uniform(0.5, 1.5, (gpus, gpus))


def _exponential(rng: np.random.Generator, gpus: int) -> Matrix:
    return rng.exponential(1.0, (gpus, gpus))


def _heavy_tailed(rng: np.random.Generator, gpus: int) -> Matrix:
    return rng.pareto(1.2, (gpus, gpus))


def _sparse(rng: np.random.Generator, gpus: int) -> Matrix:
    return rng.exponential(1.0, (gpus, gpus)) * (rng.random((gpus, gpus)) < 0.15)


def _busy_rank(rng: np.random.Generator, gpus: int) -> Matrix:
    matrix = _even(rng, gpus)
    matrix[0] *= gpus
    return matrix


KINDS = {
    "even": _even,
    "exponential": _exponential,
    "heavy-tailed": _heavy_tailed,
    "sparse": _sparse,
    "one busy rank": _busy_rank,
}


def matrix(kind: str, gpus: int, mean_bytes: float) -> Matrix:
    """Whole bytes `[src][dst]` of that mean, nothing on the diagonal; the same for the same arguments."""
    drawn = KINDS[kind](np.random.default_rng(7), gpus)
    np.fill_diagonal(drawn, 0.0)
    scaled: Matrix = np.round(drawn * (mean_bytes * gpus * (gpus - 1) / drawn.sum()))
    return scaled


def _compared(kind: str, gpus: int, ports: int, start: str, mean_bytes: float, delay: str) -> tuple[float, float]:
    """Time of the other planners' best over ours, and our gap."""
    fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay=delay, initial=start)
    bytes_of_pairs = matrix(kind, gpus, mean_bytes)
    others = ll.plan(matrix=bytes_of_pairs, fabric=fabric, planner="auto-given")
    ours = ll.plan(matrix=bytes_of_pairs, fabric=fabric)
    assert ours.total_s <= others.total_s * (1 + 1e-9)
    return others.total_s / ours.total_s, ours.gap


def _show(label: str, results: list[tuple[float, float]]) -> None:
    gains, gaps = (np.array(column) for column in zip(*results, strict=True))
    mean = math.exp(float(np.log(gains).mean()))
    gap = math.exp(float(np.log(gaps).mean()))
    print(
        f"{label:42} faster {mean:6.2f}x (geometric), {gains.mean():6.2f}x (arithmetic), at most {gains.max():7.2f}x;"
        f" gap {gap:5.2f}, at most {gaps.max():5.2f}"
    )


@pytest.mark.parametrize("start", ["ring", "free"])
@pytest.mark.parametrize("ports", [1, 2, 4])
def test_twelve(ports: int, start: str) -> None:
    print()
    for kind in KINDS:
        points = [(size, delay) for size in MEAN_BYTES for delay in DELAYS]
        results = [_compared(kind, 12, ports, start, size, delay) for size, delay in points]
        _show(f"12 GPUs, {ports} ports, {start}, {kind}", results)


@pytest.mark.parametrize("start", ["ring", "free"])
@pytest.mark.parametrize(("gpus", "ports"), [(32, 1), (32, 2), (32, 4), (64, 1), (64, 2), (64, 4)])
def test_more(gpus: int, ports: int, start: str) -> None:
    print()
    for kind in ("exponential", "sparse"):
        points = [(4096, "10us"), (1 << 20, "100us")]
        results = [_compared(kind, gpus, ports, start, size, delay) for size, delay in points]
        _show(f"{gpus} GPUs, {ports} ports, {start}, {kind}", results)

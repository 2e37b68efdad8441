"""Completion times of a ReduceScatter by the paper's equations, and the plans that are compared with them."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import numpy as np

from lightloom import Fabric
from lightloom_papers.measure import Case

if TYPE_CHECKING:
    from lightloom_papers.figure import Setting

# 800 Gbit/s, bytes per second.
RATE = 1e11


def equation_3(gpus: int, size_bytes: float, hop_s: float) -> float:
    """Ring: n-1 steps of m/n over one hop; no startup."""
    return (gpus - 1) * (hop_s + size_bytes / gpus / RATE)


def equation_4(gpus: int, size_bytes: float, hop_s: float, delay_s: float, threshold: int) -> float:
    """Recursive doubling on the ring before step `threshold`, counted from 0, and on each step's own circuits after.

    Step i sends m/2^(i+1) over distance 2^i: 2^i hops and 2^i chunks on the busiest link of the ring.
    """
    total_s = 0.0
    for step in range(round(log2(gpus))):
        transmission_s = size_bytes / 2 ** (step + 1) / RATE
        if step < threshold:
            total_s += 2**step * (hop_s + transmission_s)
        else:
            total_s += delay_s + hop_s + transmission_s
    return total_s


def best_threshold(gpus: int, size_bytes: float, hop_s: float, delay_s: float) -> int:
    """The threshold of least time, from 1, since 0 only adds a change; the longest stay on the ring among equals."""
    steps = round(log2(gpus))
    times_s = {threshold: equation_4(gpus, size_bytes, hop_s, delay_s, threshold) for threshold in range(1, steps + 1)}
    least_s = min(times_s.values())
    return max(threshold for threshold, time_s in times_s.items() if time_s <= least_s * (1 + 1e-12))


def fabric(gpus: int, hop_s: float, delay_s: float) -> Fabric:
    """One port of 800 Gbit/s, no startup, the ring at first."""
    return Fabric(
        gpus=gpus, ports=1, startup=0.0, hop_delay=hop_s, reconfiguration_delay=delay_s, initial="ring:one-way"
    )


def short_circuit(gpus: int, size_bytes: int, hop_s: float, delay_s: float) -> Case:
    """The paper's strategy."""
    return Case.of("reduce-scatter", size_bytes, fabric(gpus, hop_s, delay_s), planner="short-circuit")


def on_ring(algorithm: str, gpus: int, size_bytes: int, hop_s: float) -> Case:
    """An algorithm on the static ring."""
    return Case.of(
        "reduce-scatter",
        size_bytes,
        fabric(gpus, hop_s, 0.0),
        algorithm=algorithm,
        planner="static",
        topology="ring:one-way",
        routing="single-path",
    )


def times_s(setting: Setting, cases: list[Case]) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Seconds of each."""
    return np.array([one.total_s for one in setting.measure(cases)])

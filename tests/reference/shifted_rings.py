"""Optimal schedules of one-port steps "u sends to u + distance" over all shifted rings, by the definition.

On the ring of offset g, u reaches u + distance in the least j ≥ 1 with j·g ≡ distance (mod n); every link then carries
j transfers, so hops = load = j. The optimum over sequences of rings is found step by step (HARVEST eq. 4, start free).
"""

from collections.abc import Sequence
from math import inf, log2


def hops_on_ring(gpus: int, offset: int, distance: int) -> float:
    """j, or infinity when the ring does not join the pair."""
    for hops in range(1, gpus):
        if hops * offset % gpus == distance % gpus:
            return hops
    return inf


def best_time(
    gpus: int,
    steps: Sequence[tuple[int, float]],
    *,
    startup_s: float,
    hop_delay_s: float,
    byte_s: float,
    reconfiguration_delay_s: float,
) -> float:
    """Least completion time of steps (distance, bytes)."""
    hops = [[hops_on_ring(gpus, offset, distance) for offset in range(1, gpus)] for distance, _ in steps]
    best = [0.0] * (gpus - 1)
    for index, (_, size) in enumerate(steps):
        change = min(best) + (reconfiguration_delay_s if index else 0.0)
        best = [
            min(stay, change) + startup_s + (hop_delay_s + byte_s * size) * count
            for stay, count in zip(best, hops[index], strict=True)
        ]
    return min(best)


def recursive_doubling(gpus: int, size: float) -> list[tuple[int, float]]:
    """AllReduce: distances 1, 2, ... with m/2, m/4, ..., then the same backwards (HARVEST §5.1)."""
    scatter = [(1 << step, size / (2 << step)) for step in range(int(log2(gpus)))]
    return scatter + scatter[::-1]


def direct_all_to_all(gpus: int, size: float) -> list[tuple[int, float]]:
    """Distances 1 to n - 1 with m/n each."""
    return [(distance, size / gpus) for distance in range(1, gpus)]

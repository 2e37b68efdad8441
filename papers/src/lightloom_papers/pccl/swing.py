"""Swing with one port, PCCL's baseline on rings, tori and grids.

Lightloom's `swing` uses every port of a torus at once; PCCL's has the congestion that Swing's authors report for one
port, so its steps are costed here: partners in one dimension after the other, by eq. 1 over one shortest path.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom import Fabric, profile
from lightloom_papers.pccl.schemes import BANDWIDTH_BPS, HOP_DELAY_S

if TYPE_CHECKING:
    from lightloom_papers.pccl.schemes import Start


class Step(NamedTuple):
    """Hops of its longest path, transfers over its busiest link, and the part of the buffer that each carries."""

    hops: int
    load: float
    share: float


def distance(step: int) -> int:
    """The distance of partners in the `step`-th step of a dimension: 1, -1, 3, -5, 11 (Swing §3)."""
    signed: int = (-2) ** (step + 1)
    return (1 - signed) // 3


@lru_cache(maxsize=64)
def steps(start: Start) -> tuple[Step, ...]:
    """The ReduceScatter's steps on a start topology, dimensions in turn while they last."""
    dims = start.dimensions
    fabric = Fabric(dims=start.dimensions, ports=start.ports)
    coordinates = np.stack(np.unravel_index(np.arange(np.prod(dims)), dims))
    left = [size.bit_length() - 1 for size in dims]
    done = [0] * len(dims)
    made: list[Step] = []
    for turn in count():
        if done == left:
            return tuple(made)
        dimension = turn % len(dims)
        if done[dimension] == left[dimension]:
            continue
        step = distance(done[dimension])
        partners = coordinates.copy()
        place = coordinates[dimension]
        partners[dimension] = (place + np.where(place % 2 == 0, step, -step)) % dims[dimension]
        ranks = np.ravel_multi_index(tuple(partners), dims)
        pairs = [(src, int(dst), 1.0) for src, dst in enumerate(ranks)]
        # The first point has the shortest paths.
        shortest = profile(start.topology, pairs, routing="single-path", fabric=fabric)[0]
        made.append(Step(shortest.hops, shortest.load, 0.5 ** (len(made) + 1)))
        done[dimension] += 1
    raise AssertionError


def parts_s(start: Start, size: float) -> tuple[float, float]:
    """Seconds for hops and for bytes, by eq. 1."""
    taken = steps(start)
    hops_s = HOP_DELAY_S * sum(one.hops for one in taken)
    return hops_s, size * 8 / BANDWIDTH_BPS * sum(one.share * one.load for one in taken)


def congestion(start: Start) -> float:
    """Transmission time over that without congestion."""
    taken = steps(start)
    return sum(one.share * one.load for one in taken) / sum(one.share for one in taken)

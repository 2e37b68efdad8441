"""Bounds on intervals of steps by the places near a rank (Moore), which need no program.

On one topology of d ports at most d ranks are one hop away, d² two hops, and so on. The longest path of a step is at
least the mean of its transfers' hops, and its busiest circuit carries at least the mean, so every pair of an interval
has a price per hop; the dearest pairs are the nearest at best. `crates/bounds/src/given_schedule/places.rs` is the same
in the core, where the intervals are not kept.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom.exact.demands import Demand
    from lightloom.exact.program import Scope


def nearest_first_s(demands: Iterable[Demand], scope: Scope) -> float:
    """Seconds that no topology beats for these demands together, without startup. O(pairs log pairs)."""
    sources = set(scope.group.representatives)
    price_s: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for demand in demands:
        kept = [arc for arc in demand.arcs if arc[0] in sources]
        for src, dst, weight in kept:
            mean_s = demand.hop_s / len(kept) + demand.load_s * weight / (len(sources) * scope.ports)
            price_s[src][dst] += mean_s
    hops = _hops_of_places(scope)
    return sum(
        float(np.sort(np.fromiter(of_rank.values(), float))[::-1] @ hops[: len(of_rank)])
        for of_rank in price_s.values()
    )


def _hops_of_places(scope: Scope) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The least hops of a rank's nearest other, of its second nearest, and so on."""
    hops: list[int] = []
    while len(hops) < scope.gpus - 1:
        hops += [hops[-1] + 1 if hops else 1] * min(scope.ports ** (hops[-1] + 1 if hops else 1), scope.gpus)
    return np.array(hops[: scope.gpus - 1], dtype=float)

"""Σ hops of strategies with one port, by counting: theorem 1, and shifts in a given order (§3.1, §4.3)."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def theorem_1(gpus: int) -> NDArray[np.int64]:
    """Least Σ hops with 1, 2, …, n-1 topologies: d'·q(q+1)/2 + u(q+1), q = ⌊(n-1)/d'⌋, u = (n-1) mod d'."""
    topologies = np.arange(1, gpus, dtype=np.int64)
    q, u = np.divmod(gpus - 1, topologies)
    least: NDArray[np.int64] = topologies * q * (q + 1) // 2 + u * (q + 1)
    return least


def hops_to_distances(gpus: int, shift: int) -> NDArray[np.int64]:
    """Hops to each distance 0, 1, …, n-1 on the n-cycle's `shift`-shift; n where it does not lead there."""
    cycle = gpus // gcd(shift, gpus)
    hops = np.full(gpus, gpus, dtype=np.int64)
    hops[np.arange(cycle) * shift % gpus] = np.arange(cycle)
    return hops


def hops_of_order(gpus: int, order: Sequence[int]) -> NDArray[np.int64]:
    """Σ hops with the first shift of the order, the first two, and so on; each distance goes where it is nearest.

    A round of h hops serves a whole distance and fills every circuit in every slot, so that the sum over distances of
    the least hops is the strategy's cost, and no schedule on these topologies costs less.
    """
    least = np.full(gpus, gpus, dtype=np.int64)
    sums = np.empty(len(order), dtype=np.int64)
    for place, shift in enumerate(order):
        np.minimum(least, hops_to_distances(gpus, shift), out=least)
        sums[place] = least.sum()
    return sums


def ascending(gpus: int) -> list[int]:
    """The base, the (n-1)-shift, and all others as they come: 1, n-1, 2, 3 and so on."""
    return [1, gpus - 1, *range(2, gpus - 1)] if gpus > 2 else [1]


def cycles_first(gpus: int) -> list[int]:
    """The base, the (n-1)-shift, then every shift that is an n-cycle before any that is not."""
    rest = ascending(gpus)[2:]
    return [*ascending(gpus)[:2], *sorted(rest, key=lambda shift: (gcd(shift, gpus) > 1, shift))]

"""Ways to choose a plan for each call next to the chooser's, from the times of all plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.online.adaptation import Way

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["known_plans", "others"]


def others(every_s: NDArray[np.float64], sizes: NDArray[np.int64], change_s: float) -> dict[str, Way]:
    """The ways of `lightloom.online.adaptation.WAYS` that measure nothing.

    every_s: seconds by call and plan; sizes: bytes by call; change_s: cost of a change of plan, which is between two
    calls of one size that follow each other.
    """
    chosen: dict[str, NDArray[np.int64]] = {}
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        for name, plans in _of_one_size(every_s[rows], change_s).items():
            chosen.setdefault(name, np.zeros(len(sizes), dtype=np.int64))[rows] = plans
    return {name: _way(every_s, sizes, plans, 0.0 if name == "each" else change_s) for name, plans in chosen.items()}


def _of_one_size(every_s: NDArray[np.float64], change_s: float) -> dict[str, NDArray[np.int64]]:
    """By way, the plan of each call of one size."""
    best, count = every_s.argmin(axis=1), len(every_s)
    return {
        "latest": np.concatenate([best[:1], best[:-1]]),
        "first": np.full(count, best[0]),
        "single": np.full(count, every_s.sum(axis=0).argmin()),
        "known": known_plans(every_s, change_s),
        "each": best,
    }


def _way(every_s: NDArray[np.float64], sizes: NDArray[np.int64], plans: NDArray[np.int64], change_s: float) -> Way:
    changed = np.zeros(len(plans), dtype=bool)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        changed[rows[1:]] = plans[rows[1:]] != plans[rows[:-1]]
    return Way(plans, every_s[np.arange(len(plans)), plans], change_s * changed, int(changed.sum()))


def known_plans(every_s: NDArray[np.float64], change_s: float) -> NDArray[np.int64]:
    """The plans for which calls and changes take least together: a shortest path over calls and plans.

    every_s: seconds by call and plan; change_s: cost of a change from one call to the next.
    """
    count = len(every_s)
    total_s = every_s[0].copy()
    best = np.zeros(count, dtype=np.int64)
    changes = np.zeros(every_s.shape, dtype=bool)
    for index in range(1, count):
        best[index] = total_s.argmin()
        by_change_s = total_s[best[index]] + change_s
        changes[index] = by_change_s < total_s
        total_s = np.minimum(total_s, by_change_s) + every_s[index]
    plans = np.zeros(count, dtype=np.int64)
    plans[-1] = total_s.argmin()
    for index in range(count - 1, 0, -1):
        plans[index - 1] = best[index] if changes[index, plans[index]] else plans[index]
    return plans

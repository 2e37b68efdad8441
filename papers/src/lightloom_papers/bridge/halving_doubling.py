"""R-HD: halving/doubling on the ring up to a threshold, then every step on its own circuits (§2).

Planner `short-circuit` takes the better of this and Ring; here it is only R-HD, put together from the steps of two
plans: the one that stays on the ring, and the one that reconfigures at every step.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lightloom import plan, simulate
from lightloom_papers.bridge.schemes import CYCLIC_DOUBLING, GPUS, HOP_DELAY_S, Times
from lightloom_papers.figure import PACKET

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from lightloom_papers.figure import Setting

GREEDY_DOUBLING = CYCLIC_DOUBLING._replace(name="greedy HD", planner="bvn", fixed=False)


@lru_cache(maxsize=512)
def step_times_s(engine: str, size: int, gpus: int, hop_delay_s: float) -> NDArray[np.float64]:
    """Seconds of each step without reconfigurations, `[on the ring, on its own circuits][step]`."""
    both = []
    for scheme in (CYCLIC_DOUBLING, GREEDY_DOUBLING):
        case = scheme.case(size, gpus, hop_delay_s, 0.0)
        made = plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
        if engine == PACKET:
            both.append([step.duration_s - step.reconfiguration_s for step in simulate(made).steps])
        else:
            both.append([step.total_s - step.reconfiguration_s for step in made.steps])
    return np.array(both)


def costs_s(engine: str, size: int, gpus: int, hop_delay_s: float, changes: int) -> NDArray[np.float64]:
    """Seconds of each step with `changes` reconfigurations, before the last this many steps; these left out."""
    ring, own = step_times_s(engine, size, gpus, hop_delay_s)
    stays = len(ring) - changes
    return np.concatenate([ring[:stays], own[stays:]])


def r_hd(
    setting: Setting,
    sizes: ArrayLike,
    delays_s: ArrayLike,
    *,
    gpus: ArrayLike = GPUS,
    hop_delays_s: ArrayLike = HOP_DELAY_S,
) -> Times:
    """The times at the best thresholds; arguments as for `schemes.times`."""
    grids = np.broadcast_arrays(*(np.asarray(grid, dtype=float) for grid in (sizes, gpus, hop_delays_s, delays_s)))
    best = np.empty((2, *grids[0].shape))
    for place in np.ndindex(grids[0].shape):
        size, ranks, hop_s, delay_s = (float(grid[place]) for grid in grids)
        # The first step is on the ring in any case: these are its circuits.
        by_changes = [
            costs_s(setting.engine, int(size), int(ranks), hop_s, changes).sum() + changes * delay_s
            for changes in range(int(ranks).bit_length() - 1)
        ]
        changes = int(np.argmin(by_changes))
        best[(slice(None), *place)] = by_changes[changes], changes
    return Times(best[0], best[1].astype(np.int64))

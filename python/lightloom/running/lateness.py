"""How busy the machines of a run are: how late sleeps end there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from lightloom.running.judged import Lateness

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["lateness_of", "probed"]

# Number and length of sleeps by which ranks measure how busy their machines are.
PROBES, PROBE_S = 100, 1e-3


def probed() -> list[float]:
    """How late some short sleeps of this process end, seconds."""
    late = []
    for _ in range(PROBES):
        begin = time.perf_counter()
        time.sleep(PROBE_S)
        late.append(time.perf_counter() - begin - PROBE_S)
    return late


def lateness_of(of_ranks: Sequence[Sequence[float]]) -> Lateness:
    """The lateness of the sleeps of all ranks or hosts."""
    late = np.concatenate([np.asarray(one, dtype=np.float64) for one in of_ranks])
    if len(late) == 0:
        return Lateness(0, 0.0, 0.0, 0.0)
    return Lateness(len(late), *np.quantile(late, (0.5, 0.99, 1.0)).tolist())

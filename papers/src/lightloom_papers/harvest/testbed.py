"""Measurements of HARVEST's authors on their 8-GPU testbed, as published (github.com/STyGIANet/Harvest)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lightloom_papers.harvest.speed_ups import SpeedUps

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "DELAYS_S",
    "FOLDER",
    "ONE_HOP",
    "STEPS_OF",
    "barrier_times",
    "measured_speed_ups",
    "ring_times",
    "step_times",
]

FOLDER = Path(__file__).parent / "measured"
# 47 sends over one hop, of 1 B to 1 GiB.
ONE_HOP = FOLDER / "one_hop.csv"
# Theirs: ten from 1 µs to 10 ms, equally far apart on a logarithmic axis.
DELAYS_S = np.logspace(-6, -2, 10)
# Steps (J, H) of each schedule: step J of recursive doubling, over H circuits one after the other.
STEPS_OF = {
    "static": ((1, 1), (2, 2), (3, 4)),
    "one change": ((1, 1), (2, 1), (3, 2)),
    "bvn": ((1, 1), (2, 1), (3, 1)),
}


def step_times() -> dict[str, NDArray[np.float64]]:
    """Seconds of every measured step by the name of its column, and `buffer_bytes`, of 16 KiB to 4 GiB."""
    rows = _rows("steps.csv")
    return {name: values / (1 if name == "buffer_bytes" else 1e3) for name, values in rows.items()}


def ring_times() -> NDArray[np.float64]:
    """Seconds of Ring on the static ring by size, as their script puts it together: seven sends of m/8 over one hop."""
    return 7 * step_times()["step_3_over_1"]


def barrier_times() -> dict[int, NDArray[np.float64]]:
    """Seconds of ten barriers by the number of GPUs."""
    rows = _rows("barrier.csv")
    return {int(ranks): rows["time_us"][rows["ranks"] == ranks] / 1e6 for ranks in np.unique(rows["ranks"])}


def measured_speed_ups() -> SpeedUps:
    """Schedules put together of measured steps, as their script does; HARVEST's is the best of the three."""
    steps = step_times()

    def of(schedule: str, changes: int) -> NDArray[np.float64]:
        each_s = [steps[f"step_{step}_over_{hops}"] for step, hops in STEPS_OF[schedule]]
        together_s: NDArray[np.float64] = np.sum(each_s, axis=0) + changes * DELAYS_S[:, None]
        return together_s

    each = np.stack([of("static", 0), of("one change", 1), of("bvn", 2)])
    best = each.argmin(axis=0)
    sizes = steps["buffer_bytes"].astype(np.int64)
    return SpeedUps(sizes, DELAYS_S, each.min(axis=0), each[0], each[2], best, np.full_like(best, 2))


def _rows(name: str) -> dict[str, NDArray[np.float64]]:
    lines = [line for line in (FOLDER / name).read_text().splitlines() if not line.startswith("#")]
    cells = np.array([line.split(",") for line in lines[1:]], dtype=np.float64)
    return dict(zip(lines[0].split(","), cells.T, strict=True))

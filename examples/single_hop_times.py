"""Write measured times as `lightloom calibrate` takes them, made up from the numbers that HARVEST reports.

HARVEST measured single-hop transfers between two GPUs and fitted a startup of 30.32 us and 85.11 Gbit/s (§6.2,
figure 7). These are the fitted times with 5 % of seeded noise, eight a size. The authors' measurements have other
numbers and two regimes: `papers/src/lightloom_papers/harvest/measured/one_hop.csv`.

    python examples/single_hop_times.py FILE
"""

import sys
from pathlib import Path

import numpy as np

STARTUP_S, BANDWIDTH_BPS, NOISE = 30.32e-6, 85.11e9, 0.05


def rows(seed: int = 1) -> list[tuple[int, float]]:
    """Sizes in bytes and times in seconds."""
    chance = np.random.default_rng(seed)
    sizes = np.repeat(1024 * 4 ** np.arange(11), 8)
    times_s = (STARTUP_S + 8 * sizes / BANDWIDTH_BPS) * np.exp(NOISE * chance.standard_normal(len(sizes)))
    return list(zip(sizes.tolist(), times_s.tolist(), strict=True))


def as_csv() -> str:
    """The file's content."""
    lines = ["# Made up: times of HARVEST's fit (30.32 us, 85.11 Gbit/s) with 5 % of noise; see single_hop_times.py."]
    return "\n".join([*lines, "size_bytes,time_us", *(f"{size},{1e6 * time_s:.3f}" for size, time_s in rows())]) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(as_csv())

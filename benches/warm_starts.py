"""Unequal All-to-Alls that begin with the circuits of a plan for a matrix like theirs, against full searches.

python benches/warm_starts.py [--gpus 64] [--ports 4]

Of each matrix of pairs drawn at random (Pareto, shape 3), a share is drawn anew. Seconds are of one core, without
reading the matrix.
"""

import argparse
import os
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("RAYON_NUM_THREADS", "1")

import lightloom as ll
from lightloom import _core
from lightloom.inputs.requests import build_request

DELAYS = ("1us", "10us", "100us")
DRAWN_ANEW = (0.0, 0.1, 0.3, 1.0)
MEAN_BYTES = 2**20


def drawn(seed: int, gpus: int) -> NDArray[np.float64]:
    """A matrix of bytes of this mean."""
    matrix = np.random.default_rng(seed).pareto(3, (gpus, gpus))
    np.fill_diagonal(matrix, 0)
    scaled: NDArray[np.float64] = matrix * (MEAN_BYTES * gpus * (gpus - 1) / matrix.sum())
    return scaled


def planned(
    matrix: NDArray[np.float64], fabric: ll.Fabric, start: _core.Plan | None, **options: Any
) -> tuple[_core.Plan, float]:
    """The plan, and the seconds of one core that it takes."""
    request = build_request("all-to-all", None, fabric, matrix=matrix, **options)
    began = time.process_time()
    plan = _core.plan(request, start)
    return plan, time.process_time() - began


def main() -> None:
    """Print a line for each delay and share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=64)
    parser.add_argument("--ports", type=int, default=4)
    given = parser.parse_args()
    one, other = (drawn(seed, given.gpus) for seed in (0, 1))
    print("| delay | drawn anew | warm, s | full, s | warm over full | warm with 1 s over full |")
    print("| --- | --- | --- | --- | --- | --- |")
    for delay in DELAYS:
        fabric = ll.Fabric(gpus=given.gpus, ports=given.ports, reconfiguration_delay=delay)
        known, _ = planned(one, fabric, None)
        for share in DRAWN_ANEW:
            matrix = (1 - share) * one + share * other
            (warm, warm_s), (full, full_s) = (planned(matrix, fabric, start) for start in (known, None))
            longer, _ = planned(matrix, fabric, known, planner="weave", budget="1s")
            ratios = " | ".join(f"{plan.total_s / full.total_s:.3f}" for plan in (warm, longer))
            print(f"| {delay} | {share:.0%} | {warm_s:.3f} | {full_s:.2f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()

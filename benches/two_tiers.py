"""Plans of two tiers next to circuits alone and to hierarchical rings and trees, with their gaps to the bound.

`python -m benches.two_tiers` prints a row for each collective, size and shape of the fabric, times in microseconds.
Electrical switches alone serve none of the cases: they join no two islands.
"""

from __future__ import annotations

import math
import sys
from statistics import mean
from typing import Any

import lightloom as ll

MIB = 1 << 20
SIZES = (MIB >> 4, MIB, 16 * MIB, 128 * MIB, 1024 * MIB)
# GPUs of an island, islands, and rate of a GPU inside, bit/s.
SHAPES = ((8, 8, 3.6e12), (72, 8, 7.2e12), (8, 72, 3.6e12))
STARTUP_S = HOP_S = INSIDE_S = 500e-9
CIRCUIT_BPS = 800e9
BITS = 8


def hierarchical_s(collective: str, size: int, shape: tuple[int, int, float]) -> dict[str, float]:
    """Times of NCCL-like hierarchies on one port and circuits that never wait for a change, s.

    Ring: rings inside islands, then among GPUs of equal place, then back. Tree: one step inside, a binomial tree of
    islands there and back, one step inside. All-to-All: one step inside, then a ring of islands.
    """
    gpus, islands, inside_bps = shape
    inside_s, circuit_s = size * BITS / inside_bps, size * BITS / CIRCUIT_BPS
    step_inside_s, step_s = STARTUP_S + INSIDE_S, STARTUP_S + HOP_S
    kept = (gpus - 1) / gpus
    if collective == "all-to-all":
        last_s = STARTUP_S + HOP_S * (islands - 1) + circuit_s * (islands - 1) / 2
        return {"ring": step_inside_s + inside_s * kept + last_s}
    rings_s = (gpus - 1) * step_inside_s + inside_s * kept
    rings_s += (islands - 1) * step_s + circuit_s / gpus * (islands - 1) / islands
    tree_s = step_inside_s + inside_s * kept + math.ceil(math.log2(islands)) * (step_s + circuit_s / gpus)
    return {"ring": 2 * rings_s, "tree": 2 * tree_s}


def main() -> int:
    """Print the table; 1 where a plan is slower than another way."""
    gaps, slower = [], 0
    for shape in SHAPES:
        gpus, islands, inside_bps = shape
        numbers: dict[str, Any] = {
            "gpus": gpus * islands,
            "startup": STARTUP_S,
            "hop_delay": HOP_S,
            "bandwidth": CIRCUIT_BPS,
        }
        alone = ll.Fabric(**numbers)
        both = ll.Fabric(**numbers, electrical=f"{gpus}:{inside_bps / 1e9:.0f}Gbps:500ns")
        for collective in ("all-reduce", "all-to-all"):
            for size in SIZES:
                plan = ll.plan(collective, size=size, fabric=both)
                others = hierarchical_s(collective, size, shape)
                others["circuits alone"] = ll.plan(collective, size=size, fabric=alone).total_s
                gaps.append(plan.total_s / plan.lower_bound_s)
                slower += plan.total_s > min(others.values()) * (1 + 1e-9)
                told = "  ".join(f"{name} {seconds / plan.total_s:.2f}x" for name, seconds in others.items())
                print(
                    f"{islands} x {gpus}  {collective:10}  {size / MIB:8g} MiB  {plan.total_s * 1e6:9.1f} us  "
                    f"gap {gaps[-1]:.2f}  {told}  {plan.algorithm}",
                    flush=True,
                )
    print(f"mean gap {mean(gaps):.3f}; slower than another way in {slower} of {len(gaps)}")
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Planner `exact` with two ports from 8 to 64 GPUs: its plan, its bound, and the plans of `weave` and `harvest`.

Times are in microseconds. `weave` may join steps, which is another schedule; its number of steps tells.

    python benches/exact_gaps.py [--budget 60s] [--gpus 8 16 32 64]
"""

from __future__ import annotations

import argparse
import time

import lightloom as ll

ALGORITHMS = (("all-reduce", "recursive-doubling"), ("all-to-all", "direct"))
SIZES = ("64KiB", "16MiB")


def main() -> None:
    """Print a row for each problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--gpus", type=int, nargs="+", default=[8, 16, 32, 64])
    arguments = parser.parse_args()
    print("| algorithm | GPUs | size | exact | bound | gap | seconds | weave | harvest |")
    print("|---|---|---|---|---|---|---|---|---|")
    for collective, algorithm in ALGORITHMS:
        for gpus in arguments.gpus:
            for size in SIZES:
                fabric = ll.Fabric(gpus=gpus, ports=2, reconfiguration_delay="10us")
                began = time.monotonic()
                plan = ll.exact_plan(collective, size, fabric=fabric, algorithm=algorithm, budget=arguments.budget)
                seconds = time.monotonic() - began
                others = [
                    ll.plan(collective, size, fabric=fabric, algorithm=algorithm, planner=planner)
                    for planner in ("weave", "harvest")
                ]
                shown = " | ".join(
                    f"{other.total_s * 1e6:.2f}"
                    + ("" if len(other.steps) == len(plan.steps) else f" ({len(other.steps)} steps)")
                    for other in others
                )
                gap = "proved" if "the optimum, proved" in plan.bound_class else f"{plan.gap - 1:.1%}"
                print(
                    f"| {algorithm} | {gpus} | {size} | {plan.total_s * 1e6:.2f} | {plan.lower_bound_s * 1e6:.2f} | "
                    f"{gap} | {seconds:.0f} | {shown} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()

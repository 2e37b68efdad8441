"""Timelines of switches on clocks of their own next to plans with barriers, and to what papers on overlap do.

`python -m benches.clocks` prints a row for each problem, times in microseconds:
weave, the plan with barriers; overlap, the best plan of an algorithm that is kept, whose idle ports are set up during
the step before (what SWOT, arXiv:2510.19322, does with its steps); lists, matchings listed switch by switch, over which
bytes go straight and are split (what Spectra, arXiv:2603.07373, does with a matrix); asynchronous; and its lower bound.
The last two restatements are from what the papers' titles and summaries say: their own settings are not rebuilt.
"""

from __future__ import annotations

import sys
import time
from statistics import geometric_mean
from typing import Any

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.clocks.bound import pairs_of
from lightloom.clocks.lists import best_lists
from lightloom.clocks.rates import Rates

# Algorithms that keep their steps, by collective.
KEPT = {"all-reduce": ("halving-doubling", "recursive-doubling", "ring"), "all-to-all": ("direct", "bruck")}
MATRICES = ("zipf:0.4", "zipf:0.8", "hot-experts", "uniform")
DELAYS = ("1us", "10us", "100us")
SHAPES = ((8, 2), (16, 2), (16, 4))
LARGE = ((32, 4),)


def overlap_s(collective: str, size: str, fabric: dict[str, Any], matrix: str | None) -> float | None:
    """The time of the best kept algorithm with ports that are set up while others carry; None for matrices."""
    if matrix not in {None, "uniform"}:
        return None
    times = []
    for algorithm in KEPT[collective]:
        try:
            on = ll.Fabric(**fabric, background_reconfiguration=True)
            times.append(ll.plan(collective, size, fabric=on, algorithm=algorithm, planner="harvest").total_s)
        except InputError:
            continue
    return min(times, default=None)


def lists_s(found: ll.Timeline, delay_s: float) -> float | None:
    """The time of the best lists of matchings; None where there are no pairs."""
    plan = found.plan
    sent = pairs_of(plan)
    rates = Rates(plan.startup_s, plan.hop_delay_s, 8 / plan.bandwidth_bps, delay_s, starts_dark=False)
    lists = None if sent is None else best_lists(sent, plan.ports, rates, None)
    return None if lists is None else lists[1].total_s


def main() -> int:
    """Print the table; 1 where a timeline is slower than another way."""
    gains: dict[str, list[float]] = {}
    slower = 0
    shapes = SHAPES + (LARGE if "--large" in sys.argv else ())
    problems = [("all-to-all", "1MiB/pair", matrix) for matrix in MATRICES] + [("all-reduce", "16MiB", None)]
    for (gpus, ports), delay, (collective, size, matrix) in (
        (shape, delay, problem) for shape in shapes for delay in DELAYS for problem in problems
    ):
        fabric: dict[str, Any] = {"gpus": gpus, "ports": ports, "reconfiguration_delay": delay}
        began_s = time.monotonic()
        found = ll.timeline(collective, size, fabric=ll.Fabric(**fabric), matrix=matrix)
        took_s = time.monotonic() - began_s
        others = {
            "weave": found.plan.total_s,
            "overlap": overlap_s(collective, size, fabric, matrix),
            "lists": lists_s(found, ll.Fabric(**fabric).reconfiguration.scalar_s or 0.0),
        }
        told = []
        for name, seconds in others.items():
            told.append(f"{name} {'-' if seconds is None else f'{seconds * 1e6:.1f}'}")
            if seconds is not None:
                gains.setdefault(name, []).append(seconds / found.total_s)
                slower += seconds < found.total_s * (1 - 1e-9)
        print(
            f"{gpus} GPUs {ports} switches {delay:>5} {matrix or collective:12} {'  '.join(told)}  "
            f"asynchronous {found.total_s * 1e6:.1f} ({found.planner}, {took_s:.1f} s)  "
            f"bound {found.lower_bound_s * 1e6:.1f}",
            flush=True,
        )
    for name, ratios in gains.items():
        print(f"{name}: {geometric_mean(ratios):.3f} of asynchronous in the geometric mean, {max(ratios):.3f} at most")
    print(f"slower than another way: {slower}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

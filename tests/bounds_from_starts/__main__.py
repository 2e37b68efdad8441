"""Judges lower bounds from uneven starts, by linear programs over all schedules and by plans.

python -m tests.bounds_from_starts [--programs 3000] [--plans 20000] [--first 0] [--seed 1] [--workers 2]
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tests.bounds_from_starts.linear import ROUNDING, Judged, judge
from tests.bounds_from_starts.plans import Planned, plan_one

if TYPE_CHECKING:
    from collections.abc import Iterable


def main() -> int:
    """Exit status 0 where no schedule and no plan is below a bound, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.bounds_from_starts", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=3000, metavar="N", help="starts of at most 4 ranks")
    parser.add_argument("--plans", type=int, default=20_000, metavar="N", help="starts of 3 to 12 GPUs")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first start")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    told = parser.parse_args()
    # Spawned, since the core's threads do not survive a fork.
    with multiprocessing.get_context("spawn").Pool(told.workers) as pool:
        numbers = range(told.first, told.first + told.programs)
        above = _say_programs(pool.imap_unordered(partial(judge, told.seed), numbers, chunksize=8))
        numbers = range(told.first, told.first + told.plans)
        below = _say_plans(pool.imap_unordered(partial(plan_one, told.seed), numbers, chunksize=32))
    return 1 if above or below else 0


def _say_programs(judged: Iterable[Judged]) -> int:
    by_kind, programs, faults = defaultdict(list), 0, 0
    for one in judged:
        programs += one.programs
        by_kind[one.kind].append(one.ratios)
        if max(one.ratios) > 1 + ROUNDING:
            faults += 1
            sys.stdout.write(f"above the best schedule: {one.described}: {max(one.ratios)}\n")
    for kind, ratios in sorted(by_kind.items()):
        found = np.array(ratios)
        sys.stdout.write(
            f"{kind}: {len(found)} starts, {found.size} bounds, the largest {found.max():.6f} of the best schedule, "
            f"the mean {found.mean():.3f}, attained {np.mean(found > 1 - 1e-6):.0%}\n"
        )
    sys.stdout.write(f"{programs} linear programs; {faults} starts with a bound above a schedule\n")
    return faults


def _say_plans(planned: Iterable[Planned]) -> int:
    ratios, faults = [], 0
    for one in planned:
        if one.fault is not None or (one.ratio is not None and one.ratio < 1 - ROUNDING):
            faults += 1
            sys.stdout.write(f"below its bound: {one.described}: {one.fault or one.ratio}\n")
        elif one.ratio is not None:
            ratios.append(one.ratio)
    if ratios:
        sys.stdout.write(f"{len(ratios)} plans, on average {np.mean(ratios):.3f} of their bounds; {faults} below\n")
    return faults


if __name__ == "__main__":
    sys.exit(main())

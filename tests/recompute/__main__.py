"""Recomputes the plans of many random problems, reports their outcomes, and writes the table of docs/robustness.md.

python -m tests.recompute --problems 5000 --seed 1 [--workers 2] [--write]
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from functools import partial

from tests.recompute.counts import Counts, update_page
from tests.recompute.evaluate import recompute


def main() -> int:
    """Exit status 0 where every plan is what its JSON says, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.recompute", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=5000, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first problem")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--write", action="store_true", help="also write the table of docs/robustness.md")
    told = parser.parse_args()
    counts, began_s = Counts(), time.monotonic()
    indices = range(told.first, told.first + told.problems)
    # Spawned, since the core's threads do not survive a fork.
    with multiprocessing.get_context("spawn").Pool(told.workers) as pool:
        for done, one in enumerate(pool.imap_unordered(partial(recompute, told.seed), indices, chunksize=4), 1):
            counts.add(one)
            if one.faults or done % 200 == 0:
                rate = done / (time.monotonic() - began_s)
                progress = f"{done} of {told.problems}, {rate:.0f} a second"
                sys.stderr.write("\n".join([progress, *one.faults, ""]))
    for reason, count in counts.reasons.most_common(25):
        sys.stdout.write(f"{count} refused: {reason[:160]}\n")
    section = counts.section(f"python -m tests.recompute --problems {told.problems} --seed {told.seed}")
    sys.stdout.write(section)
    if told.write:
        update_page(section)
    return 1 if counts.of("faulty") else 0


if __name__ == "__main__":
    sys.exit(main())

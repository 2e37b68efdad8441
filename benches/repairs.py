"""Plans repaired after every single fault: their times over plans made anew, their circuits, and how long it takes.

`python -m benches.repairs [--gpus 16] [--size 4MiB] [--every 1]` prints a row for each collective and number of ports.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import permutations
from statistics import mean, median

import lightloom as ll
from lightloom import _core
from lightloom.faults.kinds import KINDS, Wanted

PORTS = (1, 2, 3, 4)


def main() -> int:
    """Print the table; 1 where repairs take more than 1.2 of the time of plans made anew in the mean."""
    asked = argparse.ArgumentParser(description="Repairs after every single fault.")
    asked.add_argument("--gpus", type=int, default=16)
    asked.add_argument("--size", default="4MiB")
    asked.add_argument("--every", type=int, default=1, help="take each N-th fault")
    options = asked.parse_args()
    ratios: list[float] = []
    seconds: list[float] = []
    for ports in PORTS:
        faults = Wanted.of(list(KINDS)).faults(options.gpus, ports)
        faults += [f"link:{first}>{second}" for first, second in permutations(range(options.gpus), 2)]
        for collective in (entry["name"] for entry in _core.registry()["collectives"]):
            before = ll.plan(collective, options.size, fabric=ll.Fabric(gpus=options.gpus, ports=ports))
            rows = [row for row in (repaired(before, fault) for fault in faults[:: options.every]) if row is not None]
            if not rows:
                continue
            over, took_s, kept = zip(*rows, strict=True)
            ratios += over
            seconds += took_s
            print(
                f"{ports} ports  {collective:14}  {len(rows):4} of {len(faults[:: options.every])} faults  over anew "
                f"{mean(over):.3f}, at worst {max(over):.2f}  circuits kept {mean(kept):.1%}  "
                f"{1e3 * median(took_s):.1f} ms, at worst {1e3 * max(took_s):.1f}",
                flush=True,
            )
    print(f"mean over anew {mean(ratios):.3f}; {1e3 * median(seconds):.1f} ms, at worst {1e3 * max(seconds):.1f}")
    return int(mean(ratios) > 1.2)


def repaired(before: ll.Plan, fault: str) -> tuple[float, float, float] | None:
    """Time over that of a plan made anew, seconds of the repair, share of circuits kept; None where there is none."""
    began_s = time.perf_counter()
    try:
        ll.repair(before, fault, compare_anew=False)
    except ll.InputError:
        return None
    took_s = time.perf_counter() - began_s
    found = ll.repair(before, fault)
    assert found.over_anew is not None
    return found.over_anew, took_s, found.circuits_kept / (found.circuits_kept + found.circuits_new)


if __name__ == "__main__":
    sys.exit(main())

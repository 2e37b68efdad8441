"""Proved optima over all topologies, compared with known ones: 8 GPUs of two ports, one topology for all steps.

What is compared is the sum over the steps of share · load, that is the transmission time over β·m. The known ones
were found by SCIP on the cone program of HARVEST's appendix A.

    python benches/exact_optima.py [--budget 300s]
"""

from __future__ import annotations

import argparse
import time

import lightloom as ll

KNOWN = (
    ("recursive-doubling", "reduce-scatter", 0.75),
    ("swing", "reduce-scatter", 0.775),
    ("halving-doubling", "reduce-scatter", 0.8125),
    ("bruck", "all-to-all", 1.4167),
)
# Nothing but transmission counts, and no reconfiguration pays.
FABRIC = ll.Fabric(gpus=8, ports=2, startup="0s", hop_delay="0s", reconfiguration_delay="1s")
SIZE_BYTES = 1 << 20


def main() -> None:
    """Prove the optima one by one and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="300s")
    budget = parser.parse_args().budget
    full_s = SIZE_BYTES * 8 / 800e9
    print(f"{'algorithm':<20} {'found':>8} {'proved':>8} {'known':>8} {'seconds':>8}")
    for algorithm, collective, known in KNOWN:
        began = time.monotonic()
        plan = ll.exact_plan(collective, SIZE_BYTES, fabric=FABRIC, algorithm=algorithm, budget=budget)
        found, proved = plan.total_s / full_s, plan.lower_bound_s / full_s
        print(f"{algorithm:<20} {found:8.4f} {proved:8.4f} {known:8.4f} {time.monotonic() - began:8.1f}", flush=True)


if __name__ == "__main__":
    main()

"""Figures 11 and 12 of the all-to-all paper in the cost model: the best strategy beside the best baseline.

As in the paper (§5.2), every bar is at the reconfiguration delay of a sweep at which the strategy gains most over the
best baseline. Takes some minutes.

    python benches/all_to_all_evaluation.py [--figure 11|12] [--delays N]
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

import lightloom as ll

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = "reconfigure-all-to-all"
BASELINES = ("fast", "direct-connect-kautz", "direct-connect-circulant", "topo-opt", "mixnet")
FORWARDING = (OURS, "topo-opt", "mixnet")
WORKLOADS = ("uniform", "random", "zipf:0.4")


def settings(figure: int) -> Iterator[tuple[int, int, str, str]]:
    """GPUs, ports, workload and mean size of a pair: the bars of the figure."""
    if figure == 11:
        for gpus in (8, 16, 32, 64):
            for ports in (1, 2):
                for workload in WORKLOADS:
                    yield gpus, ports, workload, "32MB/pair"
    else:
        for ports in (1, 2):
            for workload in WORKLOADS:
                for size in ("8MB/pair", "16MB/pair", "32MB/pair", "64MB/pair"):
                    yield 16, ports, workload, size


def planned(planner: str, gpus: int, ports: int, workload: str, size: str, delay_s: float) -> tuple[float, int]:
    """Time and reconfigurations of a plan, blocks forwarded in chunks of 4 MB, all topologies charged but the first."""
    fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay=f"{delay_s:.17g}s")
    chunk_size = "4MB" if planner in FORWARDING else None
    plan = ll.plan("all-to-all", size, fabric=fabric, planner=planner, matrix=workload, chunk_size=chunk_size)
    return plan.total_s, plan.reconfigurations


def main() -> None:
    """Print one line for every bar and the average."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=int, choices=(11, 12), default=11)
    parser.add_argument("--delays", type=int, default=25, help="delays of the sweep, from 1 us to 1 s")
    arguments = parser.parse_args()
    delays = np.geomspace(1e-6, 1.0, arguments.delays)
    gains = []
    print("gpus ports workload   size        delay      ours       best baseline           lower by")
    for gpus, ports, workload, size in settings(arguments.figure):
        # A baseline's topologies do not depend on the delay, so its time is a line.
        names = [name for name in BASELINES if not (name == "mixnet" and workload == "uniform")]
        lines = {name: planned(name, gpus, ports, workload, size, 0.0) for name in names}
        bars = []
        for delay_s in delays:
            ours_s, _ = planned(OURS, gpus, ports, workload, size, delay_s)
            times = {name: time_s + changes * delay_s for name, (time_s, changes) in lines.items()}
            best = min(times, key=lambda name: times[name])
            bars.append((1 - ours_s / times[best], delay_s, ours_s, times[best], best))
        gain, delay_s, ours_s, best_s, best = max(bars)
        gains.append(gain)
        print(
            f"{gpus:4} {ports:5} {workload:10} {size:10} {delay_s * 1e3:7.3f} ms {ours_s * 1e3:7.2f} ms "
            f"{best_s * 1e3:7.2f} ms {best:25} {gain:6.1%}",
            flush=True,
        )
    print(f"\nfigure {arguments.figure}: {np.mean(gains):.2%} lower on average over {len(gains)} settings")


if __name__ == "__main__":
    main()

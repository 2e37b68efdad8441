"""Prints what iterations at many delays take where they share what they find, over the same each by itself.

    RAYON_NUM_THREADS=1 python benches/advice.py [MODEL RANKS PORTS]

The delays are those of the switches of the catalogue. Both are processor time of one run.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import lightloom as ll
from lightloom.inputs.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable


def measured(train: Callable[[float], ll.Training], delays_s: list[float]) -> tuple[list[str], float]:
    """The iterations at all delays, as JSON, and the processor time that they took, s."""
    began_s = time.process_time()
    found = [train(delay_s) for delay_s in delays_s]
    spent_s = time.process_time() - began_s
    return [training.to_json() for training in found], spent_s


def main() -> None:
    """Measure, compare and print."""
    model, ranks, ports = sys.argv[1:] or ("fsdp-7b", "64", "1")
    workload = ll.Workload.read(model, ranks=int(ranks))
    fabric = ll.Fabric(ports=int(ports))
    delays_s = sorted({one.reconfiguration_delay_s or 0.0 for one in catalogue()})

    def alone(delay_s: float) -> ll.Training:
        return ll.train(workload, fabric=ll.Fabric(ports=int(ports), reconfiguration_delay=delay_s))

    def sharing(delay_s: float) -> ll.Training:
        return ll.train(workload, fabric=fabric.varied(reconfiguration_delay=delay_s))

    found_alone, alone_s = measured(alone, delays_s)
    found_shared, shared_s = measured(sharing, delays_s)
    if found_alone != found_shared:
        raise SystemExit("iterations that share what they find differ from those by themselves")
    told = f"{model}, {ranks} ranks, {ports} ports, {len(delays_s)} delays"
    print(f"{told}: {alone_s:.2f} s alone, {shared_s:.2f} s sharing, {alone_s / shared_s:.2f} times as fast")


if __name__ == "__main__":
    main()

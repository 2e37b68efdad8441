"""FAST on servers of 8 GPUs: its time against the bound, its stages, and how long the schedule takes to find.

`python -m benches.fast_on_servers` prints a row for each number of GPUs, workload and reconfiguration delay.
"""

from __future__ import annotations

import time

from lightloom import Fabric
from lightloom.inputs.matrix import generated_matrix
from lightloom.planning.two_level import fast_on_servers

ELECTRICAL = "8:3600Gbps:100ns"


def main() -> None:
    """Print the table."""
    print("gpus  workload  delay  stages  time, ms  bound, ms  ratio  found in, ms")
    for gpus in (16, 64, 256, 512):
        for workload in ("uniform", "random", "zipf:0.4"):
            matrix = generated_matrix(workload, gpus, "32MB")
            for delay in ("1us", "100us", "10ms"):
                start = time.perf_counter()
                found = fast_on_servers(matrix, ELECTRICAL, fabric=Fabric(reconfiguration_delay=delay))
                took_s = time.perf_counter() - start
                print(
                    f"{gpus:4}  {workload:8}  {delay:5}  {len(found.stages):6}  {found.total_s * 1e3:8.3f}  "
                    f"{found.bound_s * 1e3:9.3f}  {found.total_s / found.bound_s:5.2f}  {took_s * 1e3:12.1f}"
                )


if __name__ == "__main__":
    main()

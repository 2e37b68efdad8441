"""AllReduces of PyTorch by the backend `lightloom`, without delays, against Gloo on the same machine.

    python -m benches.torch_backend      # where PyTorch is installed: .venv-torch/bin/python after make test-torch

Prints a table: the median of nine rounds, the slowest rank's time, for 2, 4 and 8 ranks from 1 MiB on.
"""

from __future__ import annotations

import json

from tests.torch.launch import check_all_well, ranks_of

SIZES = [1 << power for power in (20, 22, 24, 26)]
RANKS = (2, 4, 8)


def main() -> None:
    print("ranks      bytes   Gloo, ms   lightloom, ms   ratio")
    for ranks in RANKS:
        times = {}
        for backend in ("gloo", "lightloom"):
            ended = ranks_of("speed", backend, *map(str, SIZES), ranks=ranks)
            check_all_well(ended)
            times[backend] = {int(size): 1e3 * took for size, took in json.loads(ended[0].said).items()}
        for size in SIZES:
            gloo, ours = times["gloo"][size], times["lightloom"][size]
            print(f"{ranks:5} {size:10} {gloo:10.2f} {ours:15.2f} {ours / gloo:7.2f}")


if __name__ == "__main__":
    main()

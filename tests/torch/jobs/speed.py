"""A job that measures AllReduces by a backend, for benches/torch_backend.py: prints seconds by bytes as JSON."""

from __future__ import annotations

import json
import sys
import time

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401

ROUNDS, WARM_UPS = 9, 3


def main(backend: str, sizes: list[int]) -> None:
    dist.init_process_group(backend)
    found = {}
    for size in sizes:
        data = torch.ones(size // 4)
        times = []
        for place in range(WARM_UPS + ROUNDS):
            dist.barrier()
            begin = time.perf_counter()
            dist.all_reduce(data)
            took = torch.tensor([time.perf_counter() - begin], dtype=torch.float64)
            dist.all_reduce(took, dist.ReduceOp.MAX)
            data.fill_(1.0)
            if place >= WARM_UPS:
                times.append(took.item())
        found[size] = sorted(times)[ROUNDS // 2]
    if dist.get_rank() == 0:
        print(json.dumps(found))  # noqa: T201
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], [int(one) for one in sys.argv[2:]])

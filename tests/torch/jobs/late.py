"""A job of which one rank comes too late to a collective."""

from __future__ import annotations

import time
from datetime import timedelta

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401


def main() -> None:
    dist.init_process_group("lightloom", timeout=timedelta(seconds=2))
    dist.all_reduce(torch.ones(10))
    dist.barrier()
    if dist.get_rank() != 2:
        dist.all_reduce(torch.ones(10))
        return
    time.sleep(4)
    try:
        dist.all_reduce(torch.ones(10))
    except dist.DistBackendError as error:
        print("rank 2 hears:", str(error).partition(": ")[2].partition(", its")[0])  # noqa: T201


if __name__ == "__main__":
    main()

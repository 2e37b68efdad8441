"""A job that makes its group again while some ranks are still in the one before, with one store, a file, throughout."""

from __future__ import annotations

import os
import sys
import time

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401

if __name__ == "__main__":
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    # The store of init_process_group's default ends with rank 0, whoever else still reads it.
    store = dist.FileStore(sys.argv[1], ranks)
    for _ in range(3):
        dist.init_process_group("lightloom", store=store, rank=rank, world_size=ranks)
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        if tensor.tolist() != [dist.get_world_size()] * 3:
            raise AssertionError(tensor)
        if dist.get_rank() == 0:
            time.sleep(0.5)
        dist.destroy_process_group()

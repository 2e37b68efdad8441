"""A job that makes its group again while some ranks are still in the one before."""

from __future__ import annotations

import time

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401

if __name__ == "__main__":
    for _ in range(3):
        dist.init_process_group("lightloom")
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        if tensor.tolist() != [dist.get_world_size()] * 3:
            raise AssertionError(tensor)
        if dist.get_rank() == 0:
            time.sleep(0.5)
        dist.destroy_process_group()

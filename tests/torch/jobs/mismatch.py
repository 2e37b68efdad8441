"""A job whose ranks call collectives that do not fit together."""

from __future__ import annotations

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401

if __name__ == "__main__":
    dist.init_process_group("lightloom")
    dist.all_reduce(torch.ones(20))
    dist.all_reduce(torch.ones(10 + dist.get_rank()))

"""A job whose ranks call collectives that do not fit together: those of CASES that the first argument names."""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401


def sizes(rank: int) -> None:
    dist.all_reduce(torch.ones(20))
    dist.all_reduce(torch.ones(10 + rank))


def kinds(rank: int) -> None:
    if rank == 0:
        dist.broadcast(torch.ones(3), 0)
    else:
        dist.all_reduce(torch.ones(3))


def classes(rank: int) -> None:
    count = 5000 if rank == 0 else 3
    dist.all_gather_into_tensor(torch.empty(dist.get_world_size() * count), torch.ones(count))


def splits(rank: int) -> None:
    sent = [1, 2, 3] if rank == 0 else [2, 2, 2]
    got = [1, 2, 2] if rank == 0 else [2, 2, 2]
    dist.all_to_all_single(torch.empty(sum(got)), torch.ones(6), got, sent)


CASES = {act.__name__: act for act in (sizes, kinds, classes, splits)}

if __name__ == "__main__":
    dist.init_process_group("lightloom")
    CASES[sys.argv[1]](dist.get_rank())

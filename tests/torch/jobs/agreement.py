"""A job whose ranks compare their results bit by bit: of AllReduces of floats, and of every collective of a scalar."""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401

SIZES = (1, 2, 3, 7, 35, 255, 1000, 1023, 2049, 5000)


def main(seed: int) -> None:
    dist.init_process_group("lightloom")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for dtype in (torch.float32, torch.bfloat16):
        for size in SIZES:
            generator = torch.Generator().manual_seed(seed * ranks + rank)
            tensor = torch.randn(size, generator=generator).to(dtype)
            dist.all_reduce(tensor)
            results = [torch.empty_like(tensor) for _ in range(ranks)]
            dist.all_gather(results, tensor)
            bits = [one.view(torch.uint8) for one in results]
            if not all(torch.equal(one, bits[0]) for one in bits):
                raise AssertionError(f"{size} {dtype}: ranks differ")
    scalars(rank, ranks)
    print(f"rank {rank} done")  # noqa: T201
    dist.destroy_process_group()


def scalars(rank: int, ranks: int) -> None:
    total = ranks * (ranks - 1) / 2

    def fresh() -> torch.Tensor:
        return torch.tensor(float(rank))

    found = [fresh() for _ in range(5)]
    dist.broadcast(found[0], 1)
    dist.all_reduce(found[1])
    dist.reduce(found[2], 1)
    dist.scatter(found[3], [torch.tensor(float(one)) for one in range(ranks)] if rank == 1 else None, 1)
    dist.reduce_scatter_tensor(found[4], torch.arange(float(ranks)))
    wanted = [1.0, total, total if rank == 1 else float(rank), float(rank), float(rank * ranks)]
    every = [fresh() for _ in range(ranks)]
    dist.all_gather(every, fresh())
    at_root = [fresh() for _ in range(ranks)] if rank == 1 else None
    dist.gather(fresh(), at_root, 1)
    for many in (every, at_root or every):
        found += many
        wanted += map(float, range(ranks))
    if [one.item() for one in found] != wanted:
        raise AssertionError(f"rank {rank}: {found} where {wanted} are right")


if __name__ == "__main__":
    main(int(sys.argv[1]))

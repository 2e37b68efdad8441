"""A job that holds every collective of the backend to Gloo's: run by each rank of tests/torch/test_collectives.py."""

from __future__ import annotations

import random
import sys
from itertools import product
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

import lightloom.torch  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Callable

WHOLE = (torch.uint8, torch.int8, torch.int32, torch.int64)
FLOATING = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
OPERATIONS = (dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX)
BITS = (dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR)


def drawn(draw: random.Random, rank: int, count: int, dtype: Any) -> Any:
    """Whole numbers so small that sums and products of eight ranks are exact in every type."""
    generator = torch.Generator().manual_seed(draw.randrange(1 << 30) + rank)
    return torch.randint(1, 3, (count,), generator=generator).to(dtype)


def both(name: str, gloo: Any, act: Callable[[Any], list[Any]]) -> None:
    """The results of the backend are Gloo's, to the bit."""
    ours, theirs = act(None), act(gloo)
    for one, other in zip(ours, theirs, strict=True):
        if one.dtype != other.dtype or not torch.equal(one, other):
            raise AssertionError(f"{name}: {one} where Gloo has {other}")


def main(seed: int) -> None:
    dist.init_process_group("lightloom")
    gloo = dist.new_group(backend="gloo")
    rank = dist.get_rank()
    draw = random.Random(seed)  # noqa: S311 - the same at all ranks
    for dtype, operation in (*product(FLOATING + WHOLE, OPERATIONS), *product(WHOLE, BITS)):
        reductions(draw, gloo, dtype, operation)
    for dtype in (*FLOATING, *WHOLE, torch.bool):
        moves(draw, gloo, dtype)
    dist.monitored_barrier()
    print(f"rank {rank} done")  # noqa: T201
    dist.destroy_process_group()


def reductions(draw: random.Random, gloo: Any, dtype: Any, operation: Any) -> None:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    count, root = draw.choice((1, 2, 5, 64, 1000, 4099)), draw.randrange(ranks)
    given = drawn(draw, rank, count, dtype)
    shares = drawn(draw, rank, count * ranks, dtype)

    def reduced(group: Any) -> list[Any]:
        result = given.clone()
        dist.all_reduce(result, operation, group=group)
        return [result]

    def at_root(group: Any) -> list[Any]:
        result = given.clone()
        dist.reduce(result, root, operation, group=group)
        return [result] if rank == root else [given]

    def scattered(group: Any) -> list[Any]:
        result = torch.empty(count, dtype=dtype)
        dist.reduce_scatter(result, list(shares.clone().chunk(ranks)), operation, group=group)
        return [result]

    both(f"all_reduce {dtype} {operation}", gloo, reduced)
    both(f"reduce {dtype} {operation}", gloo, at_root)
    both(f"reduce_scatter {dtype} {operation}", gloo, scattered)


def moves(draw: random.Random, gloo: Any, dtype: Any) -> None:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    count, root = draw.choice((1, 3, 100, 5000)), draw.randrange(ranks)
    given, whole = drawn(draw, rank, count, dtype), drawn(draw, rank, count * ranks, dtype)
    splits = [[draw.randrange(4) * count for _ in range(ranks)] for _ in range(ranks)]

    def broadcast(group: Any) -> list[Any]:
        result = given.clone()
        dist.broadcast(result, root, group=group)
        return [result]

    def gathered(group: Any) -> list[Any]:
        results = [torch.empty_like(given) for _ in range(ranks)]
        dist.all_gather(results, given, group=group)
        return results

    def several(group: Any) -> list[Any]:
        results = [[torch.empty_like(given), torch.empty_like(whole)] for _ in range(ranks)]
        dist.all_gather_coalesced(results, [given, whole], group=group)
        return [one for row in results for one in row]

    def at_root(group: Any) -> list[Any]:
        results = [torch.empty_like(given) for _ in range(ranks)] if rank == root else None
        dist.gather(given, results, root, group=group)
        return results or []

    def scattered(group: Any) -> list[Any]:
        result = torch.empty_like(given)
        dist.scatter(result, list(whole.chunk(ranks)) if rank == root else None, root, group=group)
        return [result]

    def exchanged(group: Any) -> list[Any]:
        sent, got = splits[rank], [row[rank] for row in splits]
        mine = torch.arange(sum(sent)).to(dtype)
        equal = torch.empty_like(whole)
        dist.all_to_all_single(equal, whole, group=group)
        result = torch.empty(sum(got), dtype=dtype)
        dist.all_to_all_single(result, mine, got, sent, group=group)
        return [equal, result]

    for act in (broadcast, gathered, several, at_root, scattered, exchanged):
        both(f"{act.__name__} {dtype}", gloo, act)
    flat = torch.empty_like(whole)
    dist.all_gather_into_tensor(flat, given)
    if not torch.equal(flat, torch.cat(gathered(gloo))):
        raise AssertionError("all_gather_into_tensor differs from Gloo's all_gather")


if __name__ == "__main__":
    main(int(sys.argv[1]))

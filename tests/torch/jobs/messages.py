"""A job that sends messages, makes groups and gathers objects, with expected results by arithmetic."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

import lightloom.torch  # noqa: F401


def main() -> None:
    dist.init_process_group("lightloom")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        # The second message comes first to whoever asks for its tag.
        first = dist.isend(torch.full((3,), 1.0), 1, tag=1)
        dist.isend(torch.full((3,), 2.0), 1, tag=2).wait()
        first.wait()
        large = torch.zeros(1_000_000)
        check(dist.recv(large, None) == 1 and bool((large == 7).all()), "a message from any rank")
    elif rank == 1:
        one, other = torch.zeros(3), torch.zeros(3)
        call = dist.irecv(one, 0, tag=2)
        dist.recv(other, 0, tag=1)
        call.wait()
        check(one.tolist() == [2.0] * 3 and other.tolist() == [1.0] * 3, "messages by tag")
        dist.send(torch.full((1_000_000,), 7.0), 0)
    dist.barrier()
    came = torch.zeros(300_000)
    calls = [
        dist.P2POp(dist.isend, torch.full((300_000,), float(rank)), (rank + 1) % ranks),
        dist.P2POp(dist.irecv, came, (rank - 1) % ranks),
    ]
    for call in dist.batch_isend_irecv(calls):
        call.wait()
    check(bool((came == (rank - 1) % ranks).all()), "messages around a ring")
    mesh = init_device_mesh("cpu", (2, ranks // 2), mesh_dim_names=("rows", "columns"))
    value = torch.full((100,), float(rank))
    dist.all_reduce(value, group=mesh.get_group("rows"))
    check(value[0].item() == 2 * (rank % (ranks // 2)) + ranks // 2, "a sum of a part of the ranks")
    objects: list[object] = [None] * ranks
    dist.all_gather_object(objects, {"rank": rank})
    check(objects == [{"rank": one} for one in range(ranks)], "objects")
    mean = torch.full((3, 2), complex(rank, 1))
    dist.all_reduce(mean, dist.ReduceOp.AVG)
    check(mean[2, 1].item() == complex((ranks - 1) / 2, 1), "a mean of complex numbers")
    call = dist.all_reduce(torch.ones(5), async_op=True)
    (done,) = call.get_future().wait()
    check(done.tolist() == [float(ranks)] * 5 and call.is_completed(), "a future")
    spread = torch.arange(12.0).view(3, 4).t()
    dist.broadcast(spread, 0)
    check(spread.tolist() == torch.arange(12.0).view(3, 4).t().tolist(), "a tensor that is not in a row")
    dist.destroy_process_group()


def check(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"{what}, at rank {dist.get_rank()}")


if __name__ == "__main__":
    main()

"""A small transformer trained by DistributedDataParallel or FSDP2: prints its losses. Run by each rank."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import lightloom.torch  # noqa: F401

STEPS, WORDS, WIDTH, LENGTH = 20, 64, 32, 16


class Model(nn.Module):  # type: ignore[misc]
    """Two layers of a transformer over words."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        layers = [nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True) for _ in range(2)]
        self.layers = nn.ModuleList(layers)
        self.out = nn.Linear(width, WORDS)

    def forward(self, words: Any) -> Any:
        held = self.words(words)
        for layer in self.layers:
            held = layer(held)
        return self.out(held)


def main(backend: str, way: str, killed_step: int | None) -> None:
    dist.init_process_group(backend)
    rank = dist.get_rank()
    torch.manual_seed(1)
    model: Any = Model()
    if way == "ddp":
        model = DistributedDataParallel(model)
    else:
        for layer in model.layers:
            fully_shard(layer)
        fully_shard(model)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(100 + rank)
    losses = []
    for step in range(STEPS):
        if step == killed_step and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        words = torch.randint(0, WORDS, (4, LENGTH + 1), generator=generator)
        loss = nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        whole = loss.detach().clone()
        dist.all_reduce(whole)
        losses.append(whole.item() / dist.get_world_size())
    if rank == 0:
        print("losses", json.dumps(losses), flush=True)  # noqa: T201
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)

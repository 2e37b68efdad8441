"""A job that says to its trace where iterations end: a model of MODELS, trained by DistributedDataParallel."""

from __future__ import annotations

import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import lightloom.torch
from tests.torch.jobs.losses import LENGTH, WORDS, Model

WIDTH, SAMPLES, CLASSES, PIXELS, BUCKET_MB = 128, 4, 10, 16, 0.5


def transformer() -> tuple[nn.Module, Any, Any]:
    """Two layers of a transformer, with words and those that follow them."""
    words = torch.randint(0, WORDS, (SAMPLES, LENGTH + 1))
    return Model(WIDTH), words[:, :-1], words[:, 1:].flatten()


def convolutional() -> tuple[nn.Module, Any, Any]:
    """Three convolutions and a linear layer, with images and their classes."""
    layers: list[nn.Module] = []
    for source, destination in ((3, 32), (32, 96), (96, 192)):
        layers += [nn.Conv2d(source, destination, 3, stride=2, padding=1), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(192 * (PIXELS // 8) ** 2, CLASSES))
    return model, torch.randn(SAMPLES, 3, PIXELS, PIXELS), torch.randint(0, CLASSES, (SAMPLES,))


MODELS = {made.__name__: made for made in (transformer, convolutional)}


def main(name: str, iterations: int) -> None:
    torch.manual_seed(1)
    model, given, wanted = MODELS[name]()
    dist.init_process_group("lightloom")
    parallel = DistributedDataParallel(model, bucket_cap_mb=BUCKET_MB)
    optimiser = torch.optim.SGD(parallel.parameters(), lr=0.01)
    for _ in range(iterations + 1):
        optimiser.zero_grad()
        nn.functional.cross_entropy(parallel(given).flatten(0, -2), wanted).backward()
        optimiser.step()
        lightloom.torch.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

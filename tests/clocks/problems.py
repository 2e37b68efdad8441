"""Timelines of random problems."""

from __future__ import annotations

import random

import lightloom as ll
from lightloom import _core
from lightloom.clocks.timeline import Timeline

COLLECTIVES = [entry["name"] for entry in _core.registry()["collectives"]]


def drawn(seed: int) -> Timeline:
    """The timeline of a random problem: any collective, size, delays and start; half of them are matrices."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    gpus, ports = rng.randint(2, 8), rng.randint(1, 3)
    fabric = ll.Fabric(
        gpus=gpus,
        ports=ports,
        startup=rng.choice(["0s", "500ns", "5us"]),
        hop_delay=rng.choice(["0s", "500ns"]),
        reconfiguration_delay=rng.choice(["0s", "100ns", "1us", "10us", "100us"]),
        initial=rng.choice(["free", "free", "ring", "dark"]),
    )
    size = rng.choice(["1KiB", "64KiB", "1MiB", "16MiB"])
    if rng.random() < 0.5:
        matrix = [
            [0 if u == v or rng.random() < 0.3 else rng.randint(1, 1 << 22) for v in range(gpus)] for u in range(gpus)
        ]
        matrix[0][1] = 1 << 20
        return ll.timeline(fabric=fabric, matrix=matrix)
    return ll.timeline(rng.choice(COLLECTIVES), size, fabric=fabric)

"""Timelines of random problems."""

from __future__ import annotations

import random

import lightloom as ll
from lightloom import _core
from lightloom.clocks.timeline import Timeline

COLLECTIVES = [entry["name"] for entry in _core.registry()["collectives"]]


SIZES = {"1KiB": 1 << 10, "64KiB": 1 << 16, "1MiB": 1 << 20, "16MiB": 1 << 24}


def drawn(seed: int, most_bytes: int = 1 << 24) -> Timeline:
    """The timeline of a random problem: any collective, size, delays and start; half of them are matrices.

    most_bytes: of a buffer; four times those of a pair.
    """
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
    size = rng.choice([name for name, size_bytes in SIZES.items() if size_bytes <= most_bytes])
    if rng.random() < 0.5:
        matrix = [
            [0 if u == v or rng.random() < 0.3 else rng.randint(1, most_bytes // 4) for v in range(gpus)]
            for u in range(gpus)
        ]
        matrix[0][1] = most_bytes // 16
        return ll.timeline(fabric=fabric, matrix=matrix)
    return ll.timeline(rng.choice(COLLECTIVES), size, fabric=fabric)

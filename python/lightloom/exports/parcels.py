"""What goes along one path in one step, in whole bytes: what formats of messages are written from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from lightloom.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom.plans import Plan
    from lightloom.transfers import Path, Transfer

__all__ = ["MAX_HOPS", "Arc", "Parcel", "arcs_of"]

# Hops of all parcels of a plan. A trace of Chakra has a send and a receive for each, and reads back within its bounds.
MAX_HOPS = 1 << 18


class Parcel(NamedTuple):
    """Bytes of an arc that go along one path.

    gpus: those on the path, source first, destination last. first_byte: where its bytes begin in the arc's.
    """

    gpus: tuple[int, ...]
    first_byte: int
    size_bytes: int


class Arc(NamedTuple):
    """All that one GPU sends to another in a step.

    copied, reduced: chunks that the destination keeps, and those that it adds to what it has; together, in this order,
    they are the arc's `size_bytes` bytes. parcels: the paths that these take.
    """

    source: int
    destination: int
    copied: tuple[int, ...]
    reduced: tuple[int, ...]
    size_bytes: int
    parcels: tuple[Parcel, ...]


def arcs_of(plan: Plan) -> list[list[Arc]]:
    """For every step, its arcs by source and destination; a part of a byte counts as a whole one.

    Raises `InputError` that names `plan` where paths have more hops than are written out.
    """
    hops, steps = 0, []
    for index in range(len(plan.steps)):
        by_pair: dict[tuple[int, int], list[Transfer]] = {}
        for transfer in plan.transfers(index):
            by_pair.setdefault((transfer.source, transfer.destination), []).append(transfer)
        paths: dict[tuple[int, int], list[Path]] = {}
        for path in plan.routes(index):
            paths.setdefault((path.source, path.destination), []).append(path)
        arcs = [_arc(pair, transfers, paths[pair]) for pair, transfers in sorted(by_pair.items())]
        hops += sum(len(parcel.gpus) - 1 for arc in arcs for parcel in arc.parcels)
        if hops > MAX_HOPS:
            raise refuse("plan", f"its paths have more than {MAX_HOPS} hops by step {index}; fewer are written out")
        steps.append(arcs)
    return steps


def _arc(pair: tuple[int, int], transfers: list[Transfer], paths: list[Path]) -> Arc:
    size_bytes = whole_bytes(transfer.size_bytes for transfer in transfers)
    chunks: dict[str, list[int]] = {"copy": [], "reduce": []}
    for transfer in transfers:
        chunks[transfer.operation] += transfer.chunks.tolist()
    parcels, share, begin = [], 0.0, 0
    for path in paths:
        share += path.share
        end = size_bytes if path is paths[-1] else min(size_bytes, round(share * size_bytes))
        if end > begin:
            parcels.append(Parcel(tuple(path.gpus.tolist()), begin, end - begin))
        begin = max(begin, end)
    return Arc(*pair, tuple(sorted(chunks["copy"])), tuple(sorted(chunks["reduce"])), size_bytes, tuple(parcels))


def whole_bytes(sizes_bytes: Iterable[float]) -> int:
    """The sum rounded up, but for what rounding of the sum may have added; at least 1."""
    total = math.fsum(sizes_bytes)
    return max(1, math.ceil(total * (1 - 1e-12)))

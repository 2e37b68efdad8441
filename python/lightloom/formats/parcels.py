"""Parcels: the data along one path in one step, in whole bytes, from which formats of messages are written."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom.plans import Plan
    from lightloom.plans.transfers import Path, Transfer

__all__ = ["MAX_HOPS", "Arc", "Parcel", "arcs_of", "in_pieces"]

# Hops of all parcels of a plan. A trace of Chakra has a send and a receive for each, and reads back within its bounds.
MAX_HOPS = 1 << 18
# Where messages are forwarded whole, parcels of several hops are cut, so that a hop waits for at most this part
# of the step's time; while all pieces have no more hops than this, since each is two nodes of a trace.
MOST_WAITING, MOST_HOPS_OF_PIECES = 0.02, 1 << 15


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
            raise refuse(
                "plan", f"its paths have more than {MAX_HOPS} hops up to step {index}, the most that can be written"
            )
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


def in_pieces(plan: Plan, steps: list[list[Arc]], link_bps: float) -> list[list[Arc]]:
    """The arcs of all steps for links of this rate that forward a message when all of it has arrived.

    A piece goes on while the next one arrives: over h hops, n pieces take (n + h - 1) / n of the time of one hop.
    """
    byte_s = 8 / link_bps
    wanted: list[list[list[float]]] = []
    for step, arcs in zip(plan.steps, steps, strict=True):
        waiting_s = MOST_WAITING * (step.propagation_s + step.transmission_s)
        hop_s = [[(len(one.gpus) - 2) * one.size_bytes * byte_s for one in arc.parcels] for arc in arcs]
        wanted.append([[max(1.0, seconds / waiting_s) for seconds in of_arc] for of_arc in hop_s])
    hops = sum(
        len(one.gpus) * number
        for arcs, numbers in zip(steps, wanted, strict=True)
        for arc, of_arc in zip(arcs, numbers, strict=True)
        for one, number in zip(arc.parcels, of_arc, strict=True)
    )
    scale = min(1.0, MOST_HOPS_OF_PIECES / hops)
    return [
        [
            arc._replace(
                parcels=tuple(
                    piece
                    for one, number in zip(arc.parcels, of_arc, strict=True)
                    for piece in _pieces(one, max(1, math.ceil(number * scale) if number > 1 else 1))
                )
            )
            for arc, of_arc in zip(arcs, numbers, strict=True)
        ]
        for arcs, numbers in zip(steps, wanted, strict=True)
    ]


def _pieces(parcel: Parcel, number: int) -> list[Parcel]:
    """The parcel in this many pieces, or one piece for each byte where it has fewer."""
    number = min(number, parcel.size_bytes)
    ends = [parcel.size_bytes * part // number for part in range(number + 1)]
    return [Parcel(parcel.gpus, parcel.first_byte + first, last - first) for first, last in pairwise(ends)]

"""AllReduces whose result is the same at every rank, to the bit.

Sums of floats depend on the order of their additions. Where ranks add the same data in different orders, results
differ in the last bits, and the replicas of a training job drift apart. A plan is followed chunk by chunk, with a hash
of the additions by which each rank's value came about: a + b and b + a are the same bits, (a + b) + c and a + (b + c)
are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse
from lightloom.planning import plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lightloom.inputs.fabric import Fabric
    from lightloom.plans import Plan

__all__ = ["agrees", "plan_that_agrees"]


def plan_that_agrees(size_bytes: int, fabric: Fabric) -> Plan:
    """The fastest plan of an AllReduce whose result is the same at every rank, to the bit.

    It is the fastest of all, or else the fastest of those of the algorithms that have a name. Raises `InputError`.
    """
    fastest = plan("all-reduce", size_bytes, fabric=fabric)
    if fastest.uses_electrical or agrees(fastest):
        return fastest
    named = sorted(_named(size_bytes, fabric, fastest.members), key=lambda made: made.total_s)
    found = next((made for made in named if agrees(made)), None)
    if found is None:
        raise refuse("plan", "no algorithm of AllReduce for this fabric has the same result at every rank")
    return found


def agrees(made: Plan) -> bool:
    """Whether all ranks end an AllReduce with the same bits, whatever the data.

    Data that a rank adds to the same chunk in one step, from several others, are added in an order that no other rank
    need have: such a value counts as unlike every other, so that it must reach all ranks as it is.
    """
    ranks, chunks = made.members, len(made.chunks())
    held = _mixed(np.arange(1, ranks * chunks + 1, dtype=np.uint64))
    unlike = ranks * chunks
    for step in range(len(made.steps)):
        moved = made.transfers(step)
        offsets = moved.chunk_offsets.astype(np.int64)
        each = offsets[1:] - offsets[:-1]
        chunk = moved.chunks.astype(np.int64)
        came = held[np.repeat(moved.source.astype(np.int64), each) * chunks + chunk]
        place = np.repeat(moved.destination.astype(np.int64), each) * chunks + chunk
        value = np.where(np.repeat(moved.is_reduction, each), _mixed(held[place] + came), came)
        places, first, times = np.unique(place, return_index=True, return_counts=True)
        several = times > 1
        held[places] = value[first]
        count = int(several.sum())
        held[places[several]] = _mixed(np.arange(unlike + 1, unlike + count + 1, dtype=np.uint64))
        unlike += count
    by_rank = held.reshape(ranks, chunks)
    return bool((by_rank == by_rank[0]).all())


def _named(size_bytes: int, fabric: Fabric, gpus: int) -> Iterator[Plan]:
    sized = fabric.sized()
    for row in _core.algorithm_table("all-reduce", gpus, sized.dimensions, sized.ports, None):
        if row["accepted"]:
            try:
                made = plan("all-reduce", size_bytes, fabric=fabric, algorithm=str(row["algorithm"]))
            except InputError:
                continue
            if not made.uses_electrical:
                yield made


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every word as another one that looks random (SplitMix64: Steele, Lea & Flood, OOPSLA 2014)."""
    with np.errstate(over="ignore"):
        words = words + np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return words ^ (words >> np.uint64(31))

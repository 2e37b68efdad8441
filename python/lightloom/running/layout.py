"""Where data lies: the arrays that users give and get, and the slots of chunks in the workspaces of ranks.

A buffer of E elements in C equal chunks is cut at whole elements: chunk c holds elements ⌊c·E/C⌋ to ⌊(c+1)·E/C⌋. Where
chunks have sizes of their own, a part of an element in the data from one rank to another counts as a whole one.

AllReduce, ReduceScatter, AllGather and Broadcast run in place: a rank's workspace is the whole buffer. All-to-All has
n² blocks, of which a rank holds few: its workspace has its input, by destination; behind it the data that it receives
for itself, by source; and then a slot for every chunk that it only passes on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom._core import counted
from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.plans import Plan
    from lightloom.plans.transfers import Chunks

    Integers = NDArray[np.int64]

__all__ = ["Copies", "Layout", "layout_of"]


class Copies(NamedTuple):
    """Copies inside ranks, an entry each: the rank, where from, where to, how much, at least one element."""

    rank: Integers
    source_offset: Integers
    destination_offset: Integers
    size: Integers


class Slots(NamedTuple):
    """Where ranks have chunks: `first[c]` at rank `source[c]`, else `last[c]`, or the slot where it is passed on.

    passed_keys: rank·C + c of every chunk c that a rank passes on, ascending; passed: its slot there.
    """

    source: Integers
    destination: Integers
    first: Integers
    last: Integers
    passed_keys: Integers
    passed: Integers

    def offsets(self, ranks: Integers, chunks: Integers) -> Integers:
        """Where each rank has its chunk, which it holds at some time."""
        found = np.where(ranks == self.source[chunks], self.first[chunks], self.last[chunks])
        if len(self.passed_keys):
            passes = (ranks != self.source[chunks]) & (ranks != self.destination[chunks])
            keys = ranks[passes] * len(self.first) + chunks[passes]
            found[passes] = self.passed[np.searchsorted(self.passed_keys, keys)]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where everything is; sizes and offsets in elements.

    blocks: of All-to-All, the data from rank s to rank d at `blocks[s, d]`: the input of s has these by d, one after
    the other, and the output of d has those for it by s. None for other collectives. inputs, outputs, workspaces: their
    sizes by rank. loads: from inputs to workspaces before the first step; stores: from workspaces to outputs after the
    last one. chunks: the sizes of chunks.
    """

    blocks: Integers | None
    inputs: Integers
    outputs: Integers
    workspaces: Integers
    loads: Copies
    stores: Copies
    chunks: Integers
    slots: Slots


def layout_of(plan: Plan, arriving_at: Integers, arriving: Integers, element_bytes: int) -> Layout:
    """The layout of a plan's data; arriving: every chunk that arrives at a rank, `arriving_at`, in any step.

    Raises `InputError` that names `plan` where a buffer holds no element.
    """
    held = plan.chunks()
    if plan.collective == "all-to-all":
        return _pairwise(plan, held, arriving_at, arriving, element_bytes)
    return _in_place(plan, held, element_bytes)


def _in_place(plan: Plan, held: Chunks, element_bytes: int) -> Layout:
    ranks, count, elements = plan.gpus, len(held), _buffer(plan, element_bytes)
    begins = np.arange(count + 1) * elements // count
    everything, shares = np.full(ranks, elements), np.arange(ranks + 1) * elements // ranks
    nothing, whole = np.zeros(ranks, dtype=np.int64), (np.zeros(ranks, dtype=np.int64), everything)
    owned = shares[:-1], np.diff(shares)
    at_root = nothing, np.where(np.arange(ranks) == plan.root, elements, 0)
    # Where in the workspace a rank's input and its output are.
    given, got = {
        "all-reduce": (whole, whole),
        "reduce-scatter": (whole, owned),
        "all-gather": (owned, whole),
        "broadcast": (at_root, whole),
    }[plan.collective]
    every = np.arange(ranks)
    return Layout(
        blocks=None,
        inputs=given[1],
        outputs=got[1],
        workspaces=everything,
        loads=_copies(every, nothing, given[0], given[1]),
        stores=_copies(every, got[0], nothing, got[1]),
        chunks=np.diff(begins),
        slots=Slots(held.source, held.destination, begins[:-1], begins[:-1], nothing[:0], nothing[:0]),
    )


def _pairwise(plan: Plan, held: Chunks, arriving_at: Integers, arriving: Integers, element_bytes: int) -> Layout:
    ranks, count = plan.gpus, len(held)
    source, destination = held.source, held.destination
    if held.per_buffer is None:
        chunks = _whole_elements(held, element_bytes)
    else:
        elements, parts = _buffer(plan, element_bytes), held.per_buffer
        chunks = np.tile(np.diff(np.arange(parts + 1) * elements // parts), ranks)
    blocks = np.zeros((ranks, ranks), dtype=np.int64)
    np.add.at(blocks, (source, destination), chunks)
    inputs, outputs = blocks.sum(axis=1), blocks.sum(axis=0)
    every, own = np.arange(ranks), blocks.diagonal()
    first = _in_rows(source, destination, chunks, ranks)
    # A rank's data for itself stays in its input.
    received = np.where(source == destination, 0, chunks)
    last = inputs[destination] + _in_rows(destination, source, received, ranks)
    passes = (arriving_at != source[arriving]) & (arriving_at != destination[arriving])
    keys = np.unique(arriving_at[passes] * count + arriving[passes])
    at, sizes = keys // count, chunks[keys % count]
    kept = inputs + outputs - own
    passed = kept[at] + _in_rows(at, keys, sizes, ranks)
    before, own_begins = np.tril(blocks.T, -1).sum(axis=1), np.tril(blocks, -1).sum(axis=1)
    zero = np.zeros_like(every)
    return Layout(
        blocks=blocks,
        inputs=inputs,
        outputs=outputs,
        workspaces=kept + np.bincount(at, weights=sizes, minlength=ranks).astype(np.int64),
        loads=_copies(every, zero, zero, inputs),
        stores=_copies(
            np.concatenate((every, every, every)),
            np.concatenate((inputs, own_begins, inputs + before)),
            np.concatenate((zero, before, before + own)),
            np.concatenate((before, own, outputs - before - own)),
        ),
        chunks=chunks,
        slots=Slots(source, destination, first, np.where(source == destination, first, last), keys, passed),
    )


def _buffer(plan: Plan, element_bytes: int) -> int:
    elements = plan.size_bytes // element_bytes
    if elements == 0:
        held = counted(plan.size_bytes, "byte")
        raise refuse("plan", f"its buffer of {held} holds no element of {counted(element_bytes, 'byte')}")
    return elements


def _whole_elements(held: Chunks, element_bytes: int) -> Integers:
    """Elements of chunks that have sizes of their own; rounding of the sums of a pair counts for nothing."""
    bytes_so_far: defaultdict[tuple[int, int], float] = defaultdict(float)
    elements_so_far: defaultdict[tuple[int, int], int] = defaultdict(int)
    found = []
    for source, destination, size in zip(
        held.source.tolist(), held.destination.tolist(), held.size_bytes.tolist(), strict=True
    ):
        pair = source, destination
        bytes_so_far[pair] += size
        end = max(1, math.ceil(bytes_so_far[pair] * (1 - 1e-12) / element_bytes))
        found.append(end - elements_so_far[pair])
        elements_so_far[pair] = end
    return np.array(found, dtype=np.int64)


def _in_rows(row: Integers, place: Integers, sizes: Integers, rows: int) -> Integers:
    """Where each item begins if those of a row lie one after the other by their place, and by index where that ties."""
    order = np.lexsort((place, row))
    ends = np.cumsum(sizes[order])
    row_sizes = np.bincount(row, weights=sizes, minlength=rows).astype(np.int64)
    begins = np.empty_like(sizes)
    begins[order] = ends - sizes[order] - (np.cumsum(row_sizes) - row_sizes)[row[order]]
    return begins


def _copies(rank: Integers, source_offset: Integers, destination_offset: Integers, size: Integers) -> Copies:
    some = size > 0
    return Copies(rank[some], source_offset[some], destination_offset[some], size[some])

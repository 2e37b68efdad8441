"""The bytes that pairs of an All-to-All send from GPU to GPU, where they may wait: who carries which of them."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.base.errors import refuse
from lightloom.running.program import Copies

if TYPE_CHECKING:
    from lightloom.clocks.parts import Parts
    from lightloom.plans import Plan
    from lightloom.running.program import Program

    # Offsets in the workspaces of source and destination, a size, all in bytes, and whether it is reduced.
    Piece = tuple[int, int, int, bool]

__all__ = ["pieces_of_pairs"]

# Largest difference of bytes and times that counts as rounding, over all of them.
ROUNDING = 1e-9
# Regions of a workspace begin at multiples of this many bytes.
ALIGNED = 8


def pieces_of_pairs(
    parts: Parts, plan: Plan, program: Program
) -> tuple[Program, list[list[Piece]], tuple[tuple[int, ...], ...]]:
    """The program with workspaces of its own, the pieces of every transmission, and their order in time.

    A workspace has the rank's input, its output, and a place for data that wait there for others. Bytes that came to a
    GPU on their way first leave it first. Sizes are rounded to whole elements, so that the amount that has left a GPU
    is never off by more than one. Raises `InputError` that names `plan` where rounding loses bytes.
    """
    places = _Places(program)
    sent = parts.transmissions
    leaving: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for index in sorted(range(len(sent)), key=lambda index: sent[index].start_s):
        if sent[index].size_bytes > ROUNDING * _size(program, sent[index].source, sent[index].destination):
            leaving[sent[index].source, sent[index].destination, sent[index].path[0][1]].append(index)
    shares = _shares(parts, program, leaving)
    slack_s = ROUNDING * parts.total_s
    moments = []
    for indices in leaving.values():
        for index in indices:
            one = sent[index]
            moments.append((one.start_s - plan.startup_s, 1, index))
            moments.append((one.start_s + one.duration_s + len(one.path) * plan.hop_delay_s - slack_s, 0, index))
    pieces: list[list[Piece]] = [[] for _ in sent]
    order = []
    for _, leaves, index in sorted(moments):
        one = sent[index]
        if not leaves:
            places.arrive(index, (one.source, one.destination), one.path[-1][2])
            continue
        order.append((index,))
        is_last = leaving[one.source, one.destination, one.path[0][1]][-1] == index
        wanted = None if is_last else shares[index]
        pieces[index] = places.leave(index, (one.source, one.destination), one.path[0][1], one.path[-1][2], wanted)
    places.check()
    carried = {index for (index,) in order}
    order += [(index,) for index in range(len(sent)) if index not in carried]
    return places.laid_out(), pieces, tuple(order)


def _size(program: Program, source: int, destination: int) -> float:
    assert program.blocks is not None  # noqa: S101 (of an All-to-All)
    return float(program.blocks[source, destination]) * program.element_bytes


def _shares(parts: Parts, program: Program, leaving: dict[tuple[int, int, int], list[int]]) -> dict[int, int]:
    """By transmission, the elements that it carries: those that have left a GPU so far, rounded, less those before."""
    wanted: dict[int, int] = {}
    of_pairs: defaultdict[tuple[int, int], float] = defaultdict(float)
    for (source, destination, gpu), indices in leaving.items():
        if gpu == source:
            of_pairs[source, destination] = sum(parts.transmissions[index].size_bytes for index in indices)
    for (source, destination, _), indices in leaving.items():
        so_far = np.cumsum([parts.transmissions[index].size_bytes for index in indices])
        elements = _size(program, source, destination) / program.element_bytes
        ends = np.rint(so_far / of_pairs[source, destination] * elements).astype(np.int64)
        wanted.update(zip(indices, np.diff(ends, prepend=0).tolist(), strict=True))
    return wanted


class _Held(NamedTuple):
    """Bytes of a pair at a GPU: where they begin among the pair's bytes, and in the GPU's workspace."""

    low: int
    offset: int
    size: int


class _Places:
    """Places of the bytes of every pair: at each GPU, the bytes that came first in front."""

    def __init__(self, program: Program) -> None:
        assert program.blocks is not None  # noqa: S101 (of an All-to-All)
        self.program, self.blocks = program, program.blocks * program.element_bytes
        self.outputs = -(-program.input_bytes // ALIGNED) * ALIGNED
        self.used = self.outputs + -(-program.output_bytes // ALIGNED) * ALIGNED
        self.inputs_at = np.cumsum(self.blocks, axis=1) - self.blocks
        self.outputs_at = np.cumsum(self.blocks, axis=0) - self.blocks + self.outputs[None, :]
        self.delivered = np.zeros_like(self.blocks)
        self.there: defaultdict[tuple[int, int, int], deque[_Held]] = defaultdict(deque)
        self.under_way: dict[int, list[_Held]] = {}
        for source, destination in np.argwhere(self.blocks).tolist():
            all_of_it = _Held(0, int(self.inputs_at[source, destination]), int(self.blocks[source, destination]))
            if source != destination:
                self.there[source, destination, source].append(all_of_it)

    def leave(self, index: int, pair: tuple[int, int], gpu: int, to: int, elements: int | None) -> list[Piece]:
        """The pieces that a transmission takes along to another GPU: so many elements, or None for all."""
        held, taken = self.there[*pair, gpu], self.under_way.setdefault(index, [])
        left = sum(one.size for one in held)
        if elements is not None:
            left = min(left, elements * self.program.element_bytes)
        pieces: list[Piece] = []
        while left:
            low, offset, size = held.popleft()
            if size > left:
                held.appendleft(_Held(low + left, offset + left, size - left))
                size = left
            at = self._room(pair, to, low, size)
            taken.append(_Held(low, at, size))
            pieces.append((offset, at, size, False))
            left -= size
        return pieces

    def arrive(self, index: int, pair: tuple[int, int], gpu: int) -> None:
        """Note that the bytes of a transmission have come to a GPU."""
        self.there[*pair, gpu] += self.under_way.pop(index, [])

    def _room(self, pair: tuple[int, int], gpu: int, low: int, size: int) -> int:
        """Offset of free room: in the output at the pair's end, else behind all that the GPU holds."""
        if gpu == pair[1]:
            self.delivered[pair] += size
            return int(self.outputs_at[pair]) + low
        at = int(self.used[gpu])
        self.used[gpu] += -(-size // ALIGNED) * ALIGNED
        return at

    def check(self) -> None:
        """Raise `InputError` where bytes of a pair do not come to their end."""
        for source, destination in np.argwhere(self.delivered != self.blocks).tolist():
            if source != destination:
                reason = f"rounded to whole elements, the bytes from {source} to {destination} do not all arrive"
                raise refuse("plan", reason)

    def laid_out(self) -> Program:
        """The program with these workspaces; a rank's block for itself is put into its output at once."""
        ranks = np.arange(self.program.ranks)
        own, zero = np.diagonal(self.blocks), np.zeros(self.program.ranks, dtype=np.int64)
        of_inputs = (ranks, zero, zero, self.program.input_bytes)
        of_own = (ranks, np.diagonal(self.inputs_at), np.diagonal(self.outputs_at), own)
        loads = [np.concatenate(both) for both in zip(of_inputs, of_own, strict=True)]
        stores = (ranks, self.outputs, zero, self.program.output_bytes)
        return replace(
            self.program,
            workspace_bytes=self.used,
            loads=Copies(*(column[loads[3] > 0] for column in loads)),
            stores=Copies(*(column[stores[3] > 0] for column in stores)),
        )

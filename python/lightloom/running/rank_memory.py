"""The memory of one rank of a program, where every rank has its own: what it begins with, sends and keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.running.data import reduced
from lightloom.running.part import part_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.part import Segment, Send, StepPart
    from lightloom.running.program import Copies, Integers, Program

    Array = NDArray[Any]

__all__ = ["RankMemory"]


class RankMemory:
    """A rank's workspace, and a buffer for what it packs and takes in during a step; held between runs.

    parts: what the rank does, by step.
    """

    def __init__(self, program: Program, kind: DataType, rank: int) -> None:
        self.parts = part_of(program, rank)
        self._program, self._kind, self._rank = program, kind, rank
        self._workspace = kind.unwritten(self._elements(program.workspace_bytes))
        self.buffer = np.empty(max((part.buffered for part in self.parts), default=0), dtype=kind.storage)

    def load(self, given: Array) -> None:
        """Put the rank's input into the workspace, which holds nothing else then."""
        self._workspace[:] = 0
        self._copy(self._program.loads, given, self._workspace)

    def packed(self, send: Send, free: Array) -> tuple[Array, Array]:
        """A message, in a row, and what of the free part of the buffer is left."""
        if len(send.segments) == 1:
            return self._at(send.segments[0]), free
        np.concatenate([self._at(segment) for segment in send.segments], out=free[: send.size])
        return free[: send.size], free[send.size :]

    def keep(self, part: StepPart, arrived: Sequence[Array], reduction: str) -> None:
        """Copy or reduce what has arrived for the rank, in the order of `part.receives`.

        A step sends data as they were when it began: this comes when all of them have left.
        """
        for receive, values in zip(part.receives, arrived, strict=False):
            taken = 0
            for segment in receive.segments:
                place, piece = self._at(segment), values[taken : taken + segment.size]
                place[:] = reduced(self._kind, reduction, place, piece) if segment.is_reduction else piece
                taken += segment.size

    def output(self) -> Array:
        """What the rank ends with."""
        output = np.zeros(self._elements(self._program.output_bytes), dtype=self._kind.storage)
        self._copy(self._program.stores, self._workspace, output)
        return output

    def _copy(self, copies: Copies, source: Array, destination: Array) -> None:
        own = copies.rank == self._rank
        rows = zip(*((column[own] // self._program.element_bytes).tolist() for column in copies[1:]), strict=True)
        for begin, at, length in rows:
            destination[at : at + length] = source[begin : begin + length]

    def _at(self, segment: Segment) -> Array:
        return self._workspace[segment.offset : segment.offset + segment.size]

    def _elements(self, size_bytes: Integers) -> int:
        return int(size_bytes[self._rank]) // self._program.element_bytes

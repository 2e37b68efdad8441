"""The places of chunks in the buffers of GPUs, for programs that move data by buffer and offset.

AllReduce, ReduceScatter, AllGather and Broadcast run in place: one memory holds the input and the output of a GPU, and
chunk c of a buffer lies at offset c of it. All-to-All runs out of place, from buffer `i` to buffer `o`: block d of GPU
s begins in its input at offset d·parts and ends at offset s·parts of GPU d's output. Chunks that a GPU only passes on
lie in scratch, buffer `s`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.plans import Plan

__all__ = ["INPUT", "OUTPUT", "SCRATCH", "Buffers", "Slot", "runs"]

INPUT, OUTPUT, SCRATCH = "i", "o", "s"
# Most chunks that all steps of a plan move together, as in MSCCL's reader.
MOST_MOVED = 1 << 22
# Collectives that the runtimes of these programs call by a program.
KNOWN = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast")


class Slot(NamedTuple):
    """A place for one chunk in a GPU's memory."""

    buffer: str
    offset: int


class Buffers:
    """The places of a plan's chunks, while a program is made of it step by step."""

    def __init__(self, plan: Plan) -> None:
        held = plan.chunks()
        if held.per_buffer is None:
            raise refuse("plan", "its chunks are of unequal sizes; this format divides buffers into equal chunks")
        self.collective = plan.collective
        if self.collective not in KNOWN:
            raise refuse("plan", f"this format has no {self.collective}; its collectives are {', '.join(KNOWN)}")
        self.gpus = plan.gpus
        self.chunks = len(held)
        self.per_buffer = held.per_buffer
        # Broadcast: the rank that it starts from.
        self.root = plan.root or 0
        self.is_in_place = self.collective != "all-to-all"
        self.main = OUTPUT if self.collective == "all-gather" else INPUT
        self._share = self.per_buffer // self.gpus
        self._scratch = [0] * self.gpus
        self._passed: dict[tuple[int, int], Slot] = {}
        moved = 0
        for step in range(len(plan.steps)):
            moved += len(plan.transfers(step).chunks)
            if moved > MOST_MOVED:
                raise refuse("plan", f"its steps move more than {MOST_MOVED} chunks, the most of an exported program")

    def sizes(self, gpu: int) -> tuple[int, int, int]:
        """Chunks of a GPU's input, output and scratch."""
        whole, share = self.per_buffer, self._share
        inputs = share if self.collective == "all-gather" else whole
        outputs = share if self.collective == "reduce-scatter" else whole
        return inputs, outputs, self._scratch[gpu]

    def own_blocks(self) -> list[tuple[Slot, Slot, int]]:
        """By GPU, what it keeps of an All-to-All: from input, to output, chunks; nothing where both are one memory."""
        if self.is_in_place:
            return []
        parts = self._share
        return [(Slot(INPUT, gpu * parts), Slot(OUTPUT, gpu * parts), parts) for gpu in range(self.gpus)]

    def held(self, gpu: int, chunk: int) -> Slot:
        """The place where a GPU has a chunk that it sends."""
        if self.is_in_place:
            return Slot(self.main, chunk)
        source, destination, part = self._block(chunk)
        if source == gpu:
            return Slot(INPUT, destination * self._share + part)
        if destination == gpu:
            return Slot(OUTPUT, source * self._share + part)
        return self._passed[gpu, chunk]

    def wanted(self, gpu: int, chunk: int) -> Slot | None:
        """The place where a GPU keeps a chunk that it receives; None where it only passes it on."""
        if self.is_in_place:
            return Slot(self.main, chunk)
        source, destination, part = self._block(chunk)
        return Slot(OUTPUT, source * self._share + part) if destination == gpu else None

    def scratch(self, gpu: int, count: int) -> Slot:
        """Slots of a GPU's scratch in a row, this many, which nothing else uses."""
        first = self._scratch[gpu]
        self._scratch[gpu] += count
        return Slot(SCRATCH, first)

    def passes(self, gpu: int, chunk: int, slot: Slot) -> None:
        """The GPU has the chunk there, to pass it on."""
        self._passed[gpu, chunk] = slot

    def _block(self, chunk: int) -> tuple[int, int, int]:
        pair, part = divmod(chunk, self._share)
        return *divmod(pair, self.gpus), part


def runs(*places: Sequence[Slot]) -> list[tuple[int, int]]:
    """Runs of slots that follow each other in all of the places at once: (first index, count) of each."""
    found: list[tuple[int, int]] = []
    for index in range(len(places[0])):
        follows = index > 0 and all(
            (slots[index].buffer, slots[index].offset) == (slots[index - 1].buffer, slots[index - 1].offset + 1)
            for slots in places
        )
        if follows:
            first, count = found[-1]
            found[-1] = (first, count + 1)
        else:
            found.append((index, 1))
    return found

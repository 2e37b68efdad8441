"""All transfers of a plan's step and their paths, as arrays, with symmetry expanded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Chunks", "Path", "Routes", "Transfer", "Transfers"]


class Transfer(NamedTuple):
    """Chunks that go from one GPU to another in one step.

    operation: `"copy"` where the receiver keeps the data, `"reduce"` where it adds them to its own. chunks:
    ascending. size_bytes: of all of them.
    """

    source: int
    destination: int
    operation: str
    chunks: NDArray[np.uint32]
    size_bytes: float


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """Every transfer of a step, by source and destination; iterating gives a `Transfer` each.

    source, destination, is_reduction, size_bytes: an entry a transfer. The chunks of transfer i, ascending, are
    `chunks[chunk_offsets[i]:chunk_offsets[i + 1]]`.
    """

    source: NDArray[np.uint32]
    destination: NDArray[np.uint32]
    is_reduction: NDArray[np.bool_]
    size_bytes: NDArray[np.float64]
    chunk_offsets: NDArray[np.uint64]
    chunks: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[Transfer]:
        parts = _parts(self.chunk_offsets, self.chunks)
        columns = (self.source.tolist(), self.destination.tolist(), self.is_reduction.tolist())
        for source, destination, reduces, part, size in zip(*columns, parts, self.size_bytes.tolist(), strict=True):
            yield Transfer(source, destination, "reduce" if reduces else "copy", part, size)


class Path(NamedTuple):
    """One of the paths from one GPU to another.

    gpus: those on it, source first, destination last. share: of the data from source to destination; size_bytes: bytes
    along it.
    """

    source: int
    destination: int
    gpus: NDArray[np.uint32]
    share: float
    size_bytes: float


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Every path of a step, by source and destination; iterating gives a `Path` each.

    source, destination, share, size_bytes: an entry a path; the shares of a pair add up to 1. The GPUs of path i are
    `gpus[gpu_offsets[i]:gpu_offsets[i + 1]]`.
    """

    source: NDArray[np.uint32]
    destination: NDArray[np.uint32]
    share: NDArray[np.float64]
    size_bytes: NDArray[np.float64]
    gpu_offsets: NDArray[np.uint64]
    gpus: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[Path]:
        parts = _parts(self.gpu_offsets, self.gpus)
        columns = (self.source.tolist(), self.destination.tolist(), self.share.tolist(), self.size_bytes.tolist())
        for source, destination, share, size, part in zip(*columns, parts, strict=True):
            yield Path(source, destination, part, share, size)


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """The smallest units of a plan's data; arrays of one entry a chunk.

    source: the GPU that holds the chunk before the first step, -1 where every GPU has a contribution to it (AllReduce,
    ReduceScatter). destination: the GPU that must hold it after the last step, -1 for every GPU. per_buffer: equal
    chunks of one rank's whole buffer m, which chunk c of them is the c-th of (All-to-All: block `s·n + d` of n², parts
    of a block one after the other); None where chunks have sizes of their own.
    """

    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    size_bytes: NDArray[np.float64]
    per_buffer: int | None

    def __len__(self) -> int:
        return len(self.source)


def _parts(offsets: NDArray[np.uint64], joined: NDArray[np.uint32]) -> Iterator[NDArray[np.uint32]]:
    for begin, end in pairwise(offsets.tolist()):
        yield joined[begin:end]

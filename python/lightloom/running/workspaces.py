"""The memory that ranks work in, shared with their processes; it has no name, and is gone with the last of them."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom._core import free_memory
from lightloom.base.files import MIB
from lightloom.running.controller import RunFailedError
from lightloom.running.data import UNWRITTEN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from lightloom.running.data import DataType
    from lightloom.running.program import Copies, Program

    Array = NDArray[Any]

__all__ = ["Workspaces"]

# Copies of every workspace: itself, the rank's first data, its input, its output, the expected output.
COPIES = 5


class Workspaces:
    """The workspaces of ranks, one after the other, each from a page on; used as a context.

    workspace_bytes: of each rank. copies: how many times their memory is needed in all. Raises `RunFailedError` where
    the system does not give so much memory.
    """

    def __init__(self, workspace_bytes: NDArray[np.int64], kind: DataType, copies: int = COPIES) -> None:
        self._kind = kind
        sizes = -(-workspace_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
        self.offsets = np.cumsum(sizes) - sizes
        size = max(int(sizes.sum()), 1)
        free = free_memory()
        if free is not None and copies * size > free:
            raise RunFailedError(
                f"memory: the run needs {copies * size / MIB:,.1f} MiB for workspaces and what ranks begin and end "
                f"with, and {free / MIB:,.1f} MiB are free"
            )
        self.descriptor = os.memfd_create("lightloom-workspaces")
        try:
            os.posix_fallocate(self.descriptor, 0, size)
            self._memory = mmap.mmap(self.descriptor, size)
        except OSError as error:
            os.close(self.descriptor)
            raise RunFailedError(
                f"memory: {size / MIB:,.1f} MiB for workspaces were refused: {error.strerror}"
            ) from error

    def clear(self) -> None:
        """Make all of them as if nothing was put there."""
        np.frombuffer(self._memory, np.uint8)[:] = UNWRITTEN

    def load(self, program: Program, inputs: Sequence[Array], places: Sequence[tuple[int, int]] | None = None) -> None:
        """Put what the ranks of a program begin with into their workspaces.

        places: by rank of the program, whose workspace it is in and from which byte on; its own from the first one if
        left out.
        """
        _copy(program.loads, inputs, self._arrays(program, places), program.element_bytes)

    def store(self, program: Program, places: Sequence[tuple[int, int]] | None = None) -> list[Array]:
        """The output of every rank of a program."""
        outputs = [
            np.zeros(count, dtype=self._kind.storage)
            for count in (program.output_bytes // program.element_bytes).tolist()
        ]
        _copy(program.stores, self._arrays(program, places), outputs, program.element_bytes)
        return outputs

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.descriptor)
        self._memory.close()

    def _arrays(self, program: Program, places: Sequence[tuple[int, int]] | None) -> list[Array]:
        found = places or [(rank, 0) for rank in range(program.ranks)]
        counts = (program.workspace_bytes // program.element_bytes).tolist()
        return [
            np.frombuffer(self._memory, self._kind.storage, count, int(self.offsets[rank]) + offset)
            for count, (rank, offset) in zip(counts, found, strict=True)
        ]


def _copy(copies: Copies, sources: Sequence[Array], destinations: Sequence[Array], size: int) -> None:
    rows = zip(copies.rank.tolist(), *((column // size).tolist() for column in copies[1:]), strict=True)
    for rank, source, destination, length in rows:
        destinations[rank][destination : destination + length] = sources[rank][source : source + length]

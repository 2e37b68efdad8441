"""The GPUs that a job gets: any that are free, or a block of a torus that was wired once."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["AnyGpus", "Blocks", "Places", "wired_dims"]


class Places(Protocol):
    """GPUs that jobs take and give back."""

    @property
    def free(self) -> int:
        """The number of free GPUs."""

    def take(self, ranks: int) -> tuple[int, ...] | None:
        """GPUs for this many ranks, now taken; None where there are none."""

    def give_back(self, gpus: Iterable[int]) -> None:
        """Make GPUs free that a job had."""


class AnyGpus:
    """Any free GPUs, the lowest numbers first: circuits join any ports."""

    def __init__(self, gpus: int) -> None:
        self._free = set(range(gpus))

    @property
    def free(self) -> int:
        """The number of free GPUs."""
        return len(self._free)

    def take(self, ranks: int) -> tuple[int, ...] | None:
        """The free GPUs of the lowest numbers."""
        if ranks > len(self._free):
            return None
        taken = tuple(sorted(self._free)[:ranks])
        self._free.difference_update(taken)
        return taken

    def give_back(self, gpus: Iterable[int]) -> None:
        """Make them free."""
        self._free.update(gpus)


class Blocks:
    """Blocks of a torus: the first that is free, the least elongated shape first.

    A job of a number of ranks that no block has gets the smallest block with more GPUs, some of which stay idle.
    """

    def __init__(self, dims: Sequence[int]) -> None:
        """dims: sizes of the torus, the last dimension the fastest."""
        self._dims = tuple(dims)
        self._taken = 0
        self._blocks: dict[int, list[int]] = {}

    @property
    def free(self) -> int:
        """The number of free GPUs."""
        return math.prod(self._dims) - self._taken.bit_count()

    def take(self, ranks: int) -> tuple[int, ...] | None:
        """The first free block of the smallest size for this many ranks."""
        if ranks not in self._blocks:
            self._blocks[ranks] = list(self._of_size(ranks))
        for block in self._blocks[ranks]:
            if not block & self._taken:
                self._taken |= block
                return tuple(gpu for gpu in range(block.bit_length()) if block >> gpu & 1)
        return None

    def give_back(self, gpus: Iterable[int]) -> None:
        """Make them free."""
        for gpu in gpus:
            self._taken &= ~(1 << gpu)

    def _of_size(self, ranks: int) -> Iterator[int]:
        """All blocks of the smallest size with at least this many GPUs, each once: the bits of their GPUs."""
        shapes = list(itertools.product(*(range(1, size + 1) for size in self._dims)))
        least = min(count for shape in shapes if (count := math.prod(shape)) >= ranks)
        for shape in sorted((one for one in shapes if math.prod(one) == least), key=lambda one: (sum(one), one)):
            # A block as long as the torus is the same wherever it begins.
            starts = (range(size if length < size else 1) for length, size in zip(shape, self._dims, strict=True))
            for corner in itertools.product(*starts):
                yield _block(corner, shape, self._dims)


def _block(corner: Sequence[int], shape: Sequence[int], dims: Sequence[int]) -> int:
    """The bits of the GPUs of a block, which may go on at the start of a dimension that it leaves at the end."""
    (first, *corners), (length, *lengths), (size, *sizes) = corner, shape, dims
    if not sizes:
        bits = ((1 << length) - 1) << first
        return (bits | bits >> size) & ((1 << size) - 1)
    inner, stride = _block(corners, lengths, sizes), math.prod(sizes)
    return sum(inner << (first + step) % size * stride for step in range(length))


def wired_dims(gpus: int, ports: int) -> tuple[int, ...]:
    """The sizes of the torus of this many GPUs whose sizes are the most equal, with a dimension for every two ports.

    A ring where there are fewer than four ports, or where the number of GPUs is prime.
    """
    dims: list[int] = []
    left = gpus
    for remaining in range(max(1, ports // 2), 1, -1):
        root = round(left ** (1 / remaining))
        size = max((one for one in range(2, root + 1) if left % one == 0), default=1)
        if size > 1:
            dims.append(size)
            left //= size
    return (*dims, left) if left > 1 or not dims else tuple(dims)

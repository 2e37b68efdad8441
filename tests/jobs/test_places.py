"""Blocks of a torus against all sets of GPUs that are one, and the torus of a fabric."""

from __future__ import annotations

import itertools
import math

import pytest

from lightloom.jobs.places import AnyGpus, Blocks, wired_dims


@pytest.mark.parametrize(
    ("gpus", "ports", "dims"),
    [
        (64, 1, (64,)),
        (64, 3, (64,)),
        (64, 4, (8, 8)),
        (64, 6, (4, 4, 4)),
        (48, 4, (6, 8)),
        (16, 4, (4, 4)),
        (13, 4, (13,)),
        (2, 8, (2,)),
        (12, 6, (2, 2, 3)),
    ],
)
def test_the_torus_of_a_fabric(gpus: int, ports: int, dims: tuple[int, ...]) -> None:
    assert wired_dims(gpus, ports) == dims
    assert math.prod(wired_dims(gpus, ports)) == gpus


def blocks_of(dims: tuple[int, ...], count: int) -> set[frozenset[int]]:
    """All blocks of this many GPUs, by their coordinates."""
    numbers = {place: index for index, place in enumerate(itertools.product(*map(range, dims)))}
    found = set()
    for shape in itertools.product(*(range(1, size + 1) for size in dims)):
        if math.prod(shape) == count:
            for corner in itertools.product(*map(range, dims)):
                along = [
                    [(first + step) % size for step in range(length)]
                    for first, length, size in zip(corner, shape, dims, strict=True)
                ]
                found.add(frozenset(numbers[place] for place in itertools.product(*along)))
    return found


@pytest.mark.parametrize("dims", [(8,), (4, 4), (3, 5), (2, 3, 4), (2, 2, 2)])
def test_a_block_is_found_where_there_is_one(dims: tuple[int, ...]) -> None:
    gpus = math.prod(dims)
    for ranks in range(2, gpus + 1):
        size = next(count for count in range(ranks, gpus + 1) if blocks_of(dims, count))
        places, taken = Blocks(dims), set[int]()
        while (block := places.take(ranks)) is not None:
            assert frozenset(block) in blocks_of(dims, size)
            assert not taken & set(block)
            taken |= set(block)
            assert places.free == gpus - len(taken)
        assert all(taken & block for block in blocks_of(dims, size))
        places.give_back(taken)
        assert places.free == gpus


def test_blocks_are_as_little_elongated_as_can_be() -> None:
    assert Blocks((4, 4)).take(4) == (0, 1, 4, 5)
    assert Blocks((4, 4)).take(7) == (0, 1, 2, 3, 4, 5, 6, 7)


def test_any_gpus_are_the_lowest_that_are_free() -> None:
    places = AnyGpus(6)
    assert places.take(2) == (0, 1)
    assert places.take(2) == (2, 3)
    places.give_back((0, 1))
    assert places.take(3) == (0, 1, 4)
    assert places.take(2) is None
    assert places.free == 1

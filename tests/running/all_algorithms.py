"""Runs of all algorithms on all numbers of ranks that they take: `python -m tests.running.all_algorithms`.

Inputs and expected outputs of ranks are made here from the collectives' definitions, by no code that a run uses.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from functools import cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import lightloom as ll
from tests.recompute.problems import ALGORITHMS, ANY, GRIDS, POWERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Elements = NDArray[np.int32]

PLANNERS = ("bvn", "static", "harvest", "pccl")
RANKS = range(2, 17)
PORTS = (1, 2)
# Not a multiple of most numbers of ranks, so that shares differ.
ELEMENTS = 1009


class Case(NamedTuple):
    """A collective's algorithm, and for how many ranks and ports; dims: their grid, where it is one."""

    collective: str
    algorithm: str
    ranks: int
    dims: tuple[int, ...] | None
    ports: int


def cases() -> Iterator[Case]:
    """All that algorithms take; Swing and bucket on every grid of the ranks, too."""
    for collective, algorithms in ALGORITHMS.items():
        for algorithm, takes in algorithms.items():
            for ranks, ports in product(RANKS, PORTS):
                if takes == GRIDS or (algorithm == "swing" and ranks.bit_count() == 1):
                    for dims in _grids(ranks):
                        yield Case(collective, algorithm, ranks, dims, ports)
                if takes == ANY or (takes == POWERS and ranks.bit_count() == 1):
                    yield Case(collective, algorithm, ranks, None, ports)


def inputs(case: Case, seed: int) -> list[Elements]:
    """Numbers that tell ranks and places apart, and whose sums are of the type."""
    draw = np.random.default_rng(seed)
    sizes = [ELEMENTS] * case.ranks
    if case.collective in {"all-gather", "gather"}:
        sizes = [len(range(ELEMENTS)[_share(rank, case.ranks)]) for rank in range(case.ranks)]
    elif case.collective in {"broadcast", "scatter"}:
        sizes = [ELEMENTS] + [0] * (case.ranks - 1)
    return [draw.integers(-(1 << 26), 1 << 26, size).astype(np.int32) for size in sizes]


def outputs(case: Case, given: Sequence[Elements], reduction: str) -> list[Elements]:
    """The expected outputs of ranks, by the definition of the collective."""
    ranks = range(case.ranks)
    shares = [_share(rank, case.ranks) for rank in ranks]
    nothing = [given[0][:0]] * (case.ranks - 1)
    whole = np.stack(given) if len({len(array) for array in given}) == 1 else np.zeros((1, 0), np.int32)
    reduced = whole.sum(axis=0, dtype=np.int32) if reduction == "sum" else whole.max(axis=0)
    found = {
        "broadcast": lambda: [given[0] for _ in ranks],
        "scatter": lambda: [given[0][share] for share in shares],
        "all-gather": lambda: [np.concatenate(given) for _ in ranks],
        "gather": lambda: [np.concatenate(given), *nothing],
        "all-to-all": lambda: [np.concatenate([array[share] for array in given]) for share in shares],
        "reduce": lambda: [reduced, *nothing],
        "all-reduce": lambda: [reduced for _ in ranks],
        "reduce-scatter": lambda: [reduced[share] for share in shares],
    }
    return found[case.collective]()


def wrong_of(executor: ll.Executor, case: Case, planner: str, reduction: str, seed: int) -> int:
    """Elements that a run leaves wrong, which it must count as we do."""
    given = inputs(case, seed)
    measurement = executor.run(_plan(case, planner), given)
    found, wanted = measurement.arrays, outputs(case, given, reduction)
    assert [array.shape for array in found] == [array.shape for array in wanted], case
    count = sum(int(np.count_nonzero(one != other)) for one, other in zip(found, wanted, strict=True))
    assert measurement.wrong == count, f"{case}: {count} elements are wrong, and {measurement.wrong} are said to be"
    return count


def executors() -> dict[str, ll.Executor]:
    """By reduction; as fast as it goes, for times are no matter."""
    return {
        name: ll.Executor(dtype="int32", reduction=name, runs=1, warm_ups=0, dilation=1.0, real_time=False)
        for name in ("sum", "max")
    }


def _share(rank: int, ranks: int) -> slice:
    return slice(rank * ELEMENTS // ranks, (rank + 1) * ELEMENTS // ranks)


def _grids(ranks: int) -> list[tuple[int, ...]]:
    shapes = [shape for length in (2, 3) for shape in product(range(2, 9), repeat=length)]
    return [shape for shape in shapes if prod(shape) == ranks]


@cache
def _plan(case: Case, planner: str) -> ll.Plan:
    fabric = ll.Fabric(gpus=case.ranks, dims=case.dims, ports=case.ports, reconfiguration_delay="1us")
    return ll.plan(case.collective, 4 * ELEMENTS, fabric=fabric, algorithm=case.algorithm, planner=planner)


def main() -> int:
    """Every case by every planner, and how many runs were right; exit status 1 where anything is wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth run")
    options.add_argument("--first", type=int, default=0, metavar="N", help="the first of them")
    asked = options.parse_args()
    by_reduction, became = executors(), Counter(right=0, wrong=0)
    every_run = list(product(cases(), PLANNERS, by_reduction))
    for seed, (case, planner, reduction) in list(enumerate(every_run))[asked.first :: asked.every]:
        wrong = wrong_of(by_reduction[reduction], case, planner, reduction, seed)
        became["wrong" if wrong else "right"] += 1
        if wrong:
            print(f"{wrong} elements are wrong: {case}, {planner}, {reduction}")  # noqa: T201
    for executor in by_reduction.values():
        executor.close()
    print(f"{became['right']} runs are right, {became['wrong']} wrong")  # noqa: T201
    return 1 if became["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())

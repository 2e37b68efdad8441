"""Journeys of a pair's bytes through the steps of a plan: which paths they take, and where they wait in between."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lightloom.robustness.fixed_circuits import FixedPlan

__all__ = ["Journey", "cheapest_journeys", "own_journeys"]

# By step in which the bytes move, the ranks of the path.
Journey: TypeAlias = tuple[tuple[int, tuple[int, ...]], ...]
# Journeys that are made of the paths of one piece.
MOST_OF_PIECE = 16


def own_journeys(plan: FixedPlan) -> Iterator[tuple[int, Journey]]:
    """The journeys that a plan has, by ordered pair: source times ranks plus destination."""
    moves: list[list[list[tuple[int, tuple[int, ...]]]]] = [[] for _ in plan.pieces]
    for index, step in enumerate(plan.steps):
        for piece, paths in step.sendings:
            moves[piece].append([(index, path) for _, path in paths])
    for (source, destination, _), of_piece in zip(plan.pieces, moves, strict=True):
        for number, journey in enumerate(product(*of_piece)):
            if number < MOST_OF_PIECE and journey:
                yield source * plan.gpus + destination, journey


def cheapest_journeys(
    plan: FixedPlan, pairs: Sequence[int], prices: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], list[Journey]]:
    """The least price of a journey for each pair, and a journey of that price; infinite and empty where there is none.

    pairs: source times ranks plus destination; prices: by step an array (links, pairs), at least 0, of what it costs a
    pair to use a link. A path of a step has at most as many hops as the plan's longest one there. O(pairs · links ·
    hops), by the recurrence of Bellman and Ford over the hops of all steps.
    """
    count = len(pairs)
    ends = [divmod(pair, plan.gpus) for pair in pairs]
    least = np.full((plan.gpus, count), np.inf)
    least[[source for source, _ in ends], range(count)] = 0.0
    # By step: how many hops led to the best of each (rank, pair), and over which rank each hop came.
    taken, before = [], []
    for step, hops, price in zip(plan.steps, plan.hops, prices, strict=True):
        links = step.topology.links[:, :2].tolist()
        best, best_hops, came = least.copy(), np.zeros(least.shape, dtype=np.int32), []
        reached = least
        for hop in range(1, hops + 1):
            further = np.full(least.shape, np.inf)
            over = np.full(least.shape, -1, dtype=np.int32)
            for index, (source, destination) in enumerate(links):
                there = reached[source] + price[index]
                is_less = there < further[destination]
                further[destination][is_less] = there[is_less]
                over[destination][is_less] = source
            is_less = further < best
            best[is_less] = further[is_less]
            best_hops[is_less] = hop
            came.append(over)
            reached = further
        taken.append(best_hops)
        before.append(came)
        least = best
    found = [least[destination, index] for index, (_, destination) in enumerate(ends)]
    journeys = [
        _followed(destination, index, taken, before) if np.isfinite(found[index]) else ()
        for index, (_, destination) in enumerate(ends)
    ]
    return np.array(found), journeys


def _followed(
    destination: int, index: int, taken: list[NDArray[np.int32]], before: list[list[NDArray[np.int32]]]
) -> Journey:
    """The journey of a pair from its end back to its beginning."""
    moves: list[tuple[int, tuple[int, ...]]] = []
    rank = destination
    for step in reversed(range(len(taken))):
        path = [rank]
        for hop in range(int(taken[step][rank, index]), 0, -1):
            rank = int(before[step][hop - 1][rank, index])
            path.append(rank)
        if len(path) > 1:
            moves.append((step, tuple(reversed(path))))
    return tuple(reversed(moves))

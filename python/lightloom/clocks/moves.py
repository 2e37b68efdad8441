"""Local moves on lists of matchings: one is taken off, and another put in its place, while the time falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.clocks.lengths import best_lengths
from lightloom.clocks.lists import QUANTILES, listed
from lightloom.clocks.matchings import heaviest_matching

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.clocks.lengths import Lengths
    from lightloom.clocks.rates import Holding, Rates

__all__ = ["improved_lists"]

# Moves that are tried, chances that the new matching is left out or goes to another switch, and how much chance there
# is in its weights.
MOVES, LEFT_OUT, ELSEWHERE, NOISE = 500, 0.25, 0.3, (0.0, 0.1, 0.5)
# Weight of a pair that no other matching serves, next to prices of at most 1.
NEEDED = 10.0


def improved_lists(
    sent: NDArray[np.float64], switches: int, rates: Rates, before: Holding | None
) -> tuple[Holding, Lengths] | None:
    """The best lists of matchings that are found, and their lengths; None where nothing is sent.

    sent: bytes `[src][dst]`. before: the matching that each switch holds first, if that is given. The best of the rules
    of list scheduling is improved by moves that chance proposes, with a seed, and the linear programme judges.
    """
    if not sent.any():
        return None
    made = [listed(sent, switches, rates, before, quantiles) for quantiles in QUANTILES]
    solved = [(held, lengths) for held in made if (lengths := best_lengths(held, sent, rates)) is not None]
    if not solved:
        return None
    held, lengths = min(solved, key=lambda one: one[1].total_s)
    rng = np.random.default_rng(0)
    for _ in range(MOVES):
        moved = _moved(held, lengths, sent * rates.byte_s, rng, kept=0 if before is None else 1)
        if moved is None:
            break
        tried = best_lengths(moved, sent, rates)
        if tried is not None and tried.total_s <= lengths.total_s:
            held, lengths = moved, tried
    return held, lengths


def _moved(
    held: Holding, lengths: Lengths, seconds: NDArray[np.float64], rng: np.random.Generator, *, kept: int
) -> Holding | None:
    """The lists with one matching exchanged, short ones rather than long ones; None where there is none to exchange.

    kept: matchings at the beginning of each list that stay.
    """
    places = [(k, j) for k, matchings in enumerate(held) for j in range(kept, len(matchings))]
    if not places:
        return None
    times = np.array([lengths.held_s[k][j] for k, j in places])
    chances = np.exp(-times / (times.mean() or 1.0))
    off = places[int(rng.choice(len(places), p=chances / chances.sum()))]
    served = np.zeros_like(seconds)
    lists: list[list[tuple[int, ...]]] = [[] for _ in held]
    for k, matchings in enumerate(held):
        for j, matching in enumerate(matchings):
            if (k, j) != off:
                lists[k].append(matching)
                for u, v in enumerate(matching):
                    if v >= 0:
                        served[u, v] += lengths.held_s[k][j]
    needed = seconds > served * (1.0 + 1e-9) + 1e-9 * seconds.max()
    if needed.any() or rng.random() >= LEFT_OUT:
        chance = rng.choice(NOISE) * rng.random(seconds.shape)
        weights = lengths.prices / (lengths.prices.max() or 1.0) + np.where(needed, NEEDED, 0.0)
        weights += np.where(seconds > 0.0, chance, 0.0)
        to = int(rng.integers(len(held))) if rng.random() < ELSEWHERE else off[0]
        lists[to].append(heaviest_matching(weights))
    return tuple(tuple(matchings) for matchings in lists)

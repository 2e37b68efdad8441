"""List scheduling of matchings: the switch that is free next takes the one that moves the most in its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.clocks.lengths import best_lengths
from lightloom.clocks.matchings import heaviest_matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.clocks.lengths import Lengths
    from lightloom.clocks.rates import Holding, Rates

__all__ = ["QUANTILES", "best_lists", "listed"]

# GPUs up to which all rules are tried; among more the first alone, since a matching of 64 GPUs takes 0.1 s.
MOST_GPUS = 32
# By rule, the lengths of a matching that are tried, as quantiles of what its pairs have left. A pair is split where its
# matching ends before it; the first rule splits none.
QUANTILES = ((1.0,), (1.0, 0.9), (1.0, 0.9, 0.75, 0.5))


def best_lists(
    sent: NDArray[np.float64], switches: int, rates: Rates, before: Holding | None
) -> tuple[Holding, Lengths] | None:
    """The lists of the best rule, with the best lengths; None where nothing is sent. Arguments as for `listed`."""
    if not sent.any():
        return None
    rules = QUANTILES if len(sent) <= MOST_GPUS else QUANTILES[:1]
    made = [listed(sent, switches, rates, before, quantiles) for quantiles in rules]
    solved = [(held, lengths) for held in made if (lengths := best_lengths(held, sent, rates)) is not None]
    return min(solved, key=lambda one: one[1].total_s, default=None)


def listed(
    sent: NDArray[np.float64], switches: int, rates: Rates, before: Holding | None, quantiles: Sequence[float]
) -> Holding:
    """Matchings by switch that carry all bytes straight.

    sent: bytes `[src][dst]`. before: matchings that switches hold first, if they are given. A matching's length is the
    one of those tried at which it moves the most bytes for each second of its turn, startup and transmission. The
    first rule's matchings join as many of the GPUs with most pairs left as can be, so that there are few of them.
    """
    left = sent * rates.byte_s
    held = [list(matchings) for matchings in before] if before else [[] for _ in range(switches)]
    free_s = np.array([rates.overhead_s(len(matchings)) for matchings in held])
    enough = 1e-9 * float(left.max() or 1.0)
    while left.max() > enough:
        k = int(free_s.argmin())
        setup_s = rates.overhead_s(len(held[k]) + 1) - rates.overhead_s(len(held[k]))
        matching = heaviest_matching(_weights(left, enough, few=quantiles == QUANTILES[0]))
        pairs = [(u, v) for u, v in enumerate(matching) if v >= 0]
        remaining = np.array([left[pair] for pair in pairs])
        lengths = [float(np.quantile(remaining, q)) for q in quantiles]
        length = max(lengths, key=lambda length: np.minimum(remaining, length).sum() / (setup_s + length))
        for pair in pairs:
            left[pair] = max(0.0, left[pair] - length)
        held[k].append(matching)
        free_s[k] += setup_s + length
    return tuple(tuple(matchings) for matchings in held)


def _weights(left: NDArray[np.float64], enough: float, *, few: bool) -> NDArray[np.float64]:
    """What a matching gains by each pair: its bytes; above all, if `few`, that GPUs with most pairs left are joined."""
    is_open = left > enough
    weights = np.where(is_open, left, 0.0)
    if few:
        out_of, into = is_open.sum(axis=1), is_open.sum(axis=0)
        most = max(out_of.max(), into.max())
        urgent = (out_of == most)[:, None].astype(float) + (into == most)[None, :]
        weights += np.where(is_open, urgent * (1.0 + len(left)) * float(weights.max()), 0.0)
    return weights

"""How long each switch holds its matchings where every pair's bytes go straight: a linear programme."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.exact.solver import LinearProgram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.clocks.rates import Holding, Rates

__all__ = ["Lengths", "best_lengths"]

# Wall-clock limit of one programme, s.
SECONDS = 60.0
NEEDED_BY = "planning of switches on clocks of their own"


class Lengths(NamedTuple):
    """The optimum for given matchings.

    total_s: the time. held_s: by switch and matching, how long bytes leave. prices: `[src][dst]`, what a second's bytes
    more of a pair cost, in seconds.
    """

    total_s: float
    held_s: tuple[tuple[float, ...], ...]
    prices: NDArray[np.float64]


def best_lengths(held: Holding, sent: NDArray[np.float64], rates: Rates) -> Lengths | None:
    """The least time in which switches that hold these matchings carry all bytes straight; None where they cannot.

    sent: bytes `[src][dst]`. With T the time and d the seconds in which a matching carries bytes: minimise T, where for
    each switch of J matchings Σ d + overhead(J) ≤ T, and for each pair Σ d over the matchings that join it ≥ the
    seconds of its bytes. The order of a switch's matchings does not matter to it.
    """
    seconds = sent * rates.byte_s
    scale = float(seconds.max()) or 1.0
    program = LinearProgram()
    total = program.variable(0.0, math.inf, cost=1.0)
    columns = [[program.variable(0.0, math.inf) for _ in matchings] for matchings in held]
    terms: dict[tuple[int, int], dict[int, float]] = {}
    for matchings, of_switch in zip(held, columns, strict=True):
        for matching, column in zip(matchings, of_switch, strict=True):
            for pair in enumerate(matching):
                terms.setdefault(pair, {})[column] = 1.0
        if matchings:
            overhead = rates.overhead_s(len(matchings)) / scale
            program.row({total: 1.0, **dict.fromkeys(of_switch, -1.0)}, lower=overhead)
    pairs = [(int(u), int(v)) for u, v in np.argwhere(seconds > 0.0)]
    if any(pair not in terms for pair in pairs):
        return None
    for pair in pairs:
        program.row(terms[pair], lower=float(seconds[pair]) / scale)
    _, values = program.solve(SECONDS, NEEDED_BY, "overlap")
    if values is None or program.duals is None:
        return None
    prices = np.zeros(seconds.shape)
    for pair, price in zip(reversed(pairs), program.duals[::-1], strict=False):
        prices[pair] = max(0.0, price)
    held_s = tuple(tuple(float(values[column]) * scale for column in of_switch) for of_switch in columns)
    return Lengths(float(values[total]) * scale, held_s, prices)

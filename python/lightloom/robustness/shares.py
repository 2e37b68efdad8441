"""The best shares of all pairs on given circuits, for all iterations together: a linear programme."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lightloom.exact.solver import LinearProgram
from lightloom.robustness.fixed_circuits import FixedPlan, Sending
from lightloom.robustness.journeys import cheapest_journeys, own_journeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.robustness.journeys import Journey

__all__ = ["MOST_TERMS", "with_best_shares"]

# Iterations, times links of all steps, times pairs: about a minute of work.
MOST_TERMS = 8_000_000
# Rounds in which journeys are added, and wall-clock limit of one programme.
MOST_ROUNDS, SECONDS = 40, 60.0
# A journey is added if it is cheaper by at least this part of the pair's price, and kept if it has at least this share.
GAIN, LEAST_SHARE = 1e-6, 1e-7
# Weight of the mean next to the slowest iteration, so that the other iterations are no slower than they must be.
OF_MEAN = 1e-4


def with_best_shares(plan: FixedPlan, matrices: NDArray[np.float64], *, worst: bool) -> FixedPlan | None:
    """The plan on the same circuits, each pair's bytes divided over journeys as is best for all matrices.

    Minimises the mean of the iterations' times, or the time of the slowest if `worst`, over everything that has as many
    hops in each step as the plan has. matrices: bytes, `[iteration][src][dst]`. None where the programme is too large,
    or a pair with bytes has no journey.

    Of iteration t and step s, L is the time of the busiest circuit. The programme minimises the mean over t of Σ L, or
    the largest Σ L, where the shares of a pair add up to 1, and for each circuit L ≥ Σ bytes · share over the journeys
    that use it. Journeys are added while one is cheaper than its pair's at the duals of these constraints, so that the
    optimum is over all of them. Raises `InputError` where HiGHS is not installed.
    """
    sent = matrices.reshape(len(matrices), -1)
    pairs = np.flatnonzero(sent.any(axis=0) & ~np.eye(plan.gpus, dtype=bool).ravel())
    if len(matrices) * len(pairs) * sum(len(step.topology.links) for step in plan.steps) > MOST_TERMS:
        return None
    # Bytes in units of what a rank sends, so that numbers are near 1.
    sizes = sent[:, pairs] * (plan.gpus / float(sent.sum(axis=1).max()))
    free = [np.full((len(step.topology.links), len(pairs)), 1.0) for step in plan.steps]
    _, first = cheapest_journeys(plan, pairs.tolist(), free)
    if not all(first):
        return None
    place = {pair: index for index, pair in enumerate(pairs.tolist())}
    own = ((place[pair], journey) for pair, journey in own_journeys(plan) if pair in place)
    known = dict.fromkeys([*own, *enumerate(first)])
    shares: NDArray[np.float64] | None = None
    for _ in range(MOST_ROUNDS):
        found = _solved(plan, sizes, list(known), worst=worst)
        if found is None:
            break
        shares, prices, most = found
        least, journeys = cheapest_journeys(plan, pairs.tolist(), prices)
        cheaper = np.flatnonzero(least < most - GAIN * np.maximum(np.abs(most), 1.0 / len(pairs))).tolist()
        new = [(index, journeys[index]) for index in cheaper if (index, journeys[index]) not in known]
        if not new:
            break
        known |= dict.fromkeys(new)
    if shares is None:
        return None
    solved = [(int(pairs[index]), journey) for index, journey in list(known)[: len(shares)]]
    return _plan_of(plan, solved, shares)


def _solved(
    plan: FixedPlan, sizes: NDArray[np.float64], known: Sequence[tuple[int, Journey]], *, worst: bool
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]], NDArray[np.float64]] | None:
    """The best shares of the journeys; by step the price of each (link, pair); and of each pair the price that it pays.

    sizes: (iterations, pairs). None where no shares were found within the time.
    """
    iterations, pairs = sizes.shape
    program = LinearProgram()
    for _ in known:
        program.variable(0.0, math.inf)
    of_pair: list[dict[int, float]] = [{} for _ in range(pairs)]
    for column, (index, _) in enumerate(known):
        of_pair[index][column] = 1.0
    for terms in of_pair:
        program.row(terms, lower=1.0, upper=1.0)
    slowest = program.variable(0.0, math.inf, cost=1.0) if worst else -1
    on_links = _on_links(plan, known)
    rows: list[tuple[int, int, int, int]] = []
    number = pairs
    for iteration, of_iteration in enumerate(sizes.tolist()):
        cost = (OF_MEAN if worst else 1.0) / iterations
        busiest = [program.variable(0.0, math.inf, cost=cost) for _ in plan.steps]
        for (step, link), terms in on_links.items():
            row = {column: -part * size for column, part in terms.items() if (size := of_iteration[known[column][0]])}
            if row:
                program.row({**row, busiest[step]: 1.0}, lower=0.0)
                rows.append((number, iteration, step, link))
                number += 1
        if worst:
            program.row({slowest: 1.0, **dict.fromkeys(busiest, -1.0)}, lower=0.0)
            number += 1
    _, values = program.solve(SECONDS, "a plan that is made once", "matrices")
    if values is None or program.duals is None:
        return None
    duals = [np.zeros((len(step.topology.links), iterations)) for step in plan.steps]
    for at, iteration, step, link in rows:
        duals[step][link, iteration] = max(0.0, program.duals[at])
    counts = [step.topology.links[:, 2] for step in plan.steps]
    prices = [(dual / count[:, None]) @ sizes for dual, count in zip(duals, counts, strict=True)]
    return values[: len(known)], prices, program.duals[:pairs]


def _on_links(plan: FixedPlan, known: Sequence[tuple[int, Journey]]) -> dict[tuple[int, int], dict[int, float]]:
    """By step and link the journeys that use it, each with what a circuit of the link has of its bytes."""
    circuits = [
        {(src, dst): (index, 1.0 / count) for index, (src, dst, count) in enumerate(step.topology.links.tolist())}
        for step in plan.steps
    ]
    made: defaultdict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    for column, (_, journey) in enumerate(known):
        for step, path in journey:
            for link in pairwise(path):
                index, part = circuits[step][link]
                made[step, index][column] = made[step, index].get(column, 0.0) + part
    return dict(made)


def _plan_of(plan: FixedPlan, known: Sequence[tuple[int, Journey]], shares: NDArray[np.float64]) -> FixedPlan:
    """The plan with these shares: a piece for each journey that carries some of its pair's bytes."""
    kept = sorted(
        (pair, journey, share)
        for (pair, journey), share in zip(known, shares.tolist(), strict=True)
        if share >= LEAST_SHARE
    )
    totals: defaultdict[int, float] = defaultdict(float)
    for pair, _, share in kept:
        totals[pair] += share
    pieces: list[tuple[int, int, float]] = []
    sendings: list[list[Sending]] = [[] for _ in plan.steps]
    for pair, journey, share in kept:
        for step, path in journey:
            sendings[step].append(Sending(len(pieces), ((1.0, path),)))
        pieces.append((*divmod(pair, plan.gpus), share / totals[pair]))
    steps = [(one.topology, sent, one.change_s) for one, sent in zip(plan.steps, sendings, strict=True)]
    return FixedPlan.of(plan.gpus, plan.rates, pieces, steps)

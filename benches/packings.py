"""The throughput optimum of an AllGather on a topology that stays, by cuts.

The blocks of a set of ranks must reach the others over the circuits that leave the set. The largest ratio of the two
over all sets is the least time of an AllGather, in blocks on one circuit, and packings of spanning trees reach it
(Zhao et al., ForestColl, 2024).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, maximum_flow


def blocks_of_best_packing(links: list[tuple[int, int, int]], ranks: int, receivers: list[int]) -> Fraction:
    """Find the largest ratio of a set's ranks to the circuits that leave it, over all sets without one of `receivers`.

    `links` are source, destination and circuits. Starts from one receiver's own circuits and goes on to a set that a
    maximum flow shows to be worse, until there is no worse set (Dinkelbach's method, exact).
    """
    into = [sum(count for _, dst, count in links if dst == receiver) for receiver in receivers]
    worst = Fraction(ranks - 1, min(into))
    for receiver in receivers:
        while (found := _worse_set(links, ranks, receiver, worst)) is not None:
            worst = found
    return worst


def _worse_set(links: list[tuple[int, int, int]], ranks: int, receiver: int, ratio: Fraction) -> Fraction | None:
    """A set whose ratio is above `ratio`, by a flow of one block from every rank, circuits scaled to whole numbers."""
    blocks, circuits = ratio.denominator, ratio.numerator
    rows = [src for src, _, _ in links] + [ranks] * ranks
    columns = [dst for _, dst, _ in links] + list(range(ranks))
    capacities = [count * circuits for _, _, count in links] + [blocks] * ranks
    graph = csr_matrix((np.array(capacities, dtype=np.int32), (rows, columns)), shape=(ranks + 1, ranks + 1))
    flow = maximum_flow(graph, ranks, receiver)
    if flow.flow_value == ranks * blocks:
        return None
    left = graph - flow.flow
    left.eliminate_zeros()
    reached = set(breadth_first_order(left, ranks, return_predecessors=False).tolist()) - {ranks}
    leaving = sum(count for src, dst, count in links if src in reached and dst not in reached)
    return Fraction(len(reached), leaving)

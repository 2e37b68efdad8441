"""Matchings of GPUs by weight: which circuits a switch should hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["heaviest_matching"]


def heaviest_matching(weights: NDArray[np.float64]) -> tuple[int, ...]:
    """The receiver of each GPU in a matching of the largest sum of weights; -1 where it sends to nobody.

    weights: `[src][dst]`, at least 0; pairs of weight 0 are left out. O(n³), by shortest augmenting paths (Kuhn 1955;
    Jonker and Volgenant 1987).
    """
    count = len(weights)
    cost = weights.max() - weights
    of_row, of_column = np.zeros(count + 1), np.zeros(count + 1)
    # By column the row that has it, from 1; column 0 holds the row that is being placed.
    row_of = np.zeros(count + 1, dtype=np.int64)
    for row in range(1, count + 1):
        row_of[0] = row
        column = 0
        least = np.full(count + 1, np.inf)
        came = np.zeros(count + 1, dtype=np.int64)
        reached = np.zeros(count + 1, dtype=bool)
        while row_of[column] != 0:
            reached[column] = True
            at = row_of[column]
            slack = cost[at - 1] - of_row[at] - of_column[1:]
            is_less = ~reached[1:] & (slack < least[1:])
            least[1:][is_less] = slack[is_less]
            came[1:][is_less] = column
            open_columns = np.where(reached, np.inf, least)
            column = int(open_columns.argmin())
            step = open_columns[column]
            of_row[row_of[reached]] += step
            of_column[reached] -= step
            least[~reached] -= step
        while column != 0:
            row_of[column] = row_of[came[column]]
            column = int(came[column])
    found = [-1] * count
    for column in range(1, count + 1):
        source = int(row_of[column]) - 1
        if weights[source, column - 1] > 0.0:
            found[source] = column - 1
    return tuple(found)

"""The least time of a plan that is made once, by trying all circuits of one port and solving for all flows.

Shares no code with the planner: flows are variables of the arcs of a layered network, not paths that are added.
"""

from __future__ import annotations

from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Links = tuple[tuple[int, int], ...]


class Costs(NamedTuple):
    """Seconds of a step, a hop, a byte, and of a change of circuits between steps; the first topology is free."""

    startup_s: float
    hop_s: float
    byte_s: float
    change_s: float


def all_circuits(ranks: int) -> list[Links]:
    """Every set of circuits with one port in use by each rank that is not part of a larger one."""
    found = [frozenset((src, dst) for src, dst in enumerate(one) if src != dst) for one in permutations(range(ranks))]
    # A rank that sends to itself sends nothing.
    return [tuple(sorted(one)) for one in found if not any(one < other for other in found)]


def best_s(matrices: NDArray[np.float64], costs: Costs, most_steps: int, *, worst: bool = False) -> float:
    """The least mean time, or time of the slowest iteration, of any plan of at most this many steps.

    matrices: bytes `[iteration][src][dst]`, above 0 for every pair of ranks, so that every path counts its hops in
    every iteration.
    """
    ranks = matrices.shape[1]
    circuits = all_circuits(ranks)
    found = np.inf
    # With one port, what a rank sends or receives passes a circuit of its own.
    busiest = np.maximum(matrices.sum(axis=1).max(axis=1), matrices.sum(axis=2).max(axis=1))
    least_s = costs.byte_s * float(busiest.max() if worst else busiest.mean())
    for steps in range(1, most_steps + 1):
        for sequence in product(circuits, repeat=steps):
            changes = sum(a != b for a, b in pairwise(sequence))
            # More hops add ways and take none: no other numbers of hops have fewer bytes on these circuits.
            fewest: float | None = None
            for hops in sorted(product(range(1, ranks), repeat=steps), key=sum):
                fixed_s = steps * costs.startup_s + sum(hops) * costs.hop_s + changes * costs.change_s
                if fixed_s + least_s >= found:
                    break
                if fewest is None:
                    fewest = least_bytes(matrices, sequence, [ranks - 1] * steps, worst=worst)
                if fixed_s + costs.byte_s * fewest < found:
                    found = min(found, fixed_s + costs.byte_s * least_bytes(matrices, sequence, hops, worst=worst))
    return float(found)


def least_bytes(matrices: NDArray[np.float64], sequence: Sequence[Links], hops: Sequence[int], *, worst: bool) -> float:
    """The least mean (or largest) sum over the steps of the bytes on the busiest circuit; infinite without a way.

    Every pair's bytes are a flow of 1 through the nodes (step, hops made in it, rank). From each node a circuit leads
    to the next layer, and the end of the step to the same rank in the next step.
    """
    iterations, ranks = matrices.shape[0], matrices.shape[1]
    pairs = [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]
    nodes = {
        node: place
        for place, node in enumerate(
            (step, made, rank)
            for step in range(len(sequence))
            for made in range(hops[step] + 1)
            for rank in range(ranks)
        )
    }
    end = len(nodes)
    arcs: list[tuple[int, int, tuple[int, tuple[int, int]] | None]] = []
    for (step, made, rank), place in nodes.items():
        arcs += [
            (place, nodes[step, made + 1, dst], (step, (src, dst)))
            for src, dst in sequence[step]
            if src == rank and made < hops[step]
        ]
        arcs.append((place, nodes.get((step + 1, 0, rank), end + rank), None))
    count = len(arcs) * len(pairs)
    loads = {
        (iteration, step): count + iteration * len(sequence) + step
        for iteration in range(iterations)
        for step in range(len(sequence))
    }
    slowest = count + len(loads)
    equal: list[tuple[int, int, float]] = []
    wanted = np.zeros((end + ranks) * len(pairs))
    for number, (src, dst) in enumerate(pairs):
        base = number * (end + ranks)
        for place, (tail, head, _) in enumerate(arcs):
            equal += [(base + tail, number * len(arcs) + place, 1.0), (base + head, number * len(arcs) + place, -1.0)]
        wanted[base + nodes[0, 0, src]] += 1.0
        wanted[base + end + dst] -= 1.0
    below: list[tuple[int, int, float]] = []
    row = 0
    for iteration, matrix in enumerate(matrices):
        for step, links in enumerate(sequence):
            for link in links:
                for number, (src, dst) in enumerate(pairs):
                    below += [
                        (row, number * len(arcs) + place, float(matrix[src, dst]))
                        for place, (_, _, on) in enumerate(arcs)
                        if on == (step, link)
                    ]
                below.append((row, loads[iteration, step], -1.0))
                row += 1
        below += [(row, loads[iteration, step], 1.0) for step in range(len(sequence))]
        below.append((row, slowest, -1.0))
        row += 1
    cost = np.zeros(slowest + 1)
    if worst:
        cost[slowest] = 1.0
    else:
        cost[count:slowest] = 1.0 / iterations
    solved = linprog(
        cost,
        A_ub=_sparse(below, row, slowest + 1),
        b_ub=np.zeros(row),
        A_eq=_sparse(equal, len(wanted), slowest + 1),
        b_eq=wanted,
        bounds=(0, None),
    )
    return float(solved.fun) if solved.status == 0 else np.inf


def _sparse(entries: list[tuple[int, int, float]], rows: int, columns: int) -> coo_matrix:
    row, column, value = zip(*entries, strict=True)
    return coo_matrix((value, (row, column)), shape=(rows, columns))

"""Algorithm 4 of PCCL as it is written, an integer program, in HiGHS: the least that the busiest edge can carry.

Circuits of one source are one flow: a whole number of circuits leaves it, and as many end at each server as circuits
do. Whole flows come apart into paths, so that nothing is lost, and there are as many times fewer variables as a source
has circuits.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.extras import missing
from lightloom.exact.solver import LinearProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

Edge = tuple[int, int]
# Largest distance of a bound of HiGHS below the whole number that it proves.
TOLERANCE = 1e-6


class Proved(NamedTuple):
    """lower_bound: no paths load the busiest edge less; reason: its proof; paths: better ones, if any were found."""

    lower_bound: int
    reason: str
    paths: list[list[int]] | None


def least_fibres(
    grid: tuple[int, int],
    both_ways: bool,
    existing: Sequence[tuple[int, int, int]],
    circuits: NDArray[np.int64],
    known: tuple[int, int],
    deadline: float,
) -> Proved:
    """Raise the bound or find better paths until the deadline, by `time.monotonic`.

    known: a bound, and the busiest edge of paths that are known. First with fractions of circuits, which is a bound,
    and then with whole ones. (rows · columns)² · 4 variables at most.
    """
    if find_spec("highspy") is None:
        raise missing("budget", "the integer program", "highspy")
    bound, best = known
    lower, _ = _solve(grid, both_ways, existing, circuits, known, deadline, whole=False)
    if lower >= best:
        return Proved(best, "the integer program with fractions of circuits, in HiGHS", None)
    lower, paths = _solve(grid, both_ways, existing, circuits, (max(bound, lower), best - 1), deadline, whole=True)
    return Proved(min(lower, best), "the integer program, in HiGHS", paths)


def _solve(
    grid: tuple[int, int],
    both_ways: bool,
    existing: Sequence[tuple[int, int, int]],
    circuits: NDArray[np.int64],
    known: tuple[int, int],
    deadline: float,
    *,
    whole: bool,
) -> tuple[int, list[list[int]] | None]:
    """Least load of the busiest edge in `known[0]` to `known[1]`, with paths; one more if no paths attain these."""
    rows, columns = grid
    places = [(row, column) for row in range(rows) for column in range(columns)]
    edges: list[Edge] = [
        (row * columns + column, (row + down) * columns + column + right)
        for row, column in places
        for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1))
        if 0 <= row + down < rows and 0 <= column + right < columns
    ]
    program = LinearProgram()
    busiest = program.variable(*known, cost=1.0, integer=True)
    used: dict[Edge, dict[int, float]] = {}
    there: Counter[Edge] = Counter()
    for source, destination, count in existing:
        there[_key((source, destination), both_ways)] += count
    flows: dict[int, dict[Edge, int]] = {}
    for source in sorted(set(circuits[:, 0].tolist())):
        wanted = Counter(circuits[circuits[:, 0] == source, 1].tolist())
        # No edge into the source carries flow.
        flow = {edge: program.variable(0, wanted.total(), integer=whole) for edge in edges if edge[1] != source}
        for server in range(rows * columns):
            if server != source:
                row = {flow[edge]: 1.0 if edge[1] == server else -1.0 for edge in flow if server in edge}
                program.row(row, lower=wanted[server], upper=wanted[server])
        for edge, variable in flow.items():
            used.setdefault(_key(edge, both_ways), {busiest: -1.0})[variable] = 1.0
        flows[source] = flow
    for edge, row in used.items():
        program.row(row, upper=-there[edge])
    bound, values = program.solve(deadline - time.monotonic())
    lower = known[1] + 1 if math.isinf(bound) and bound > 0 else max(known[0], math.ceil(bound - TOLERANCE))
    if values is None or not whole:
        return lower, None
    paths: dict[Edge, list[list[int]]] = {}
    for source, flow in flows.items():
        left = {edge: int(count) for edge, variable in flow.items() if (count := round(values[variable])) > 0}
        for destination in circuits[circuits[:, 0] == source, 1].tolist():
            paths.setdefault((source, destination), []).append(_taken(left, source, destination))
    return lower, [paths[source, destination].pop() for source, destination in circuits.tolist()]


def _taken(left: dict[Edge, int], source: int, destination: int) -> list[int]:
    """A shortest path of the rest of a flow, taken out of it."""
    before = {source: source}
    reached = [source]
    for server in reached:
        for edge, count in left.items():
            if edge[0] == server and count > 0 and edge[1] not in before:
                before[edge[1]] = server
                reached.append(edge[1])
    path = [destination]
    while path[-1] != source:
        path.append(before[path[-1]])
    path.reverse()
    for edge in pairwise(path):
        left[edge] -= 1
    return path


def _key(edge: Edge, both_ways: bool) -> Edge:
    return (min(edge), max(edge)) if both_ways else edge

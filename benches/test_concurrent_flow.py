"""Concurrent flow of an unequal All-to-All against one linear program in HiGHS.

Both find the least load of the busiest circuit of a generalised Kautz graph in one run, ours with the plan around it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import highspy
import numpy as np
import pytest
from scipy.sparse import coo_matrix

import lightloom as ll

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _by_highs(links: list[tuple[int, int, int]], matrix: NDArray[np.float64]) -> float:
    """Bytes on the busiest circuit at least: a flow from every source over every link, whose sums the load is above."""
    ranks, count = len(matrix), len(links)
    load = ranks * count
    entries: list[tuple[int, int, float]] = []
    for source in range(ranks):
        for link, (src, dst, _) in enumerate(links):
            column = source * count + link
            entries += [(source * ranks + dst, column, 1.0), (source * ranks + src, column, -1.0)]
            entries.append((ranks * ranks + link, column, 1.0))
    entries += [(ranks * ranks + link, load, -float(circuits)) for link, (_, _, circuits) in enumerate(links)]
    rows, columns, values = zip(*entries, strict=True)
    arrives = matrix.copy()
    np.fill_diagonal(arrives, -matrix.sum(axis=1))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = load + 1, ranks * ranks + count
    program.col_cost_ = np.append(np.zeros(load), 1.0)
    program.col_lower_, program.col_upper_ = np.zeros(load + 1), np.full(load + 1, highspy.kHighsInf)
    program.row_lower_ = np.append(arrives.ravel(), np.full(count, -highspy.kHighsInf))
    program.row_upper_ = np.append(arrives.ravel(), np.zeros(count))
    sparse = coo_matrix((values, (rows, columns)), shape=(program.num_row_, program.num_col_)).tocsc()
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = sparse.indptr, sparse.indices
    program.a_matrix_.value_ = sparse.data
    solver = highspy.Highs()
    solver.silent()
    solver.passModel(program)
    solver.run()
    return float(solver.getInfo().objective_function_value)


@pytest.mark.parametrize(("gpus", "ports"), [(16, 2), (32, 2), (32, 4), (48, 4)])
def test_least_load(gpus: int, ports: int) -> None:
    matrix = np.random.default_rng(gpus).exponential(1e6, (gpus, gpus)).round()
    np.fill_diagonal(matrix, 0.0)
    fabric = ll.Fabric(gpus=gpus, ports=ports, hop_delay=0)
    begun = time.process_time()
    plan = ll.plan(matrix=matrix, fabric=fabric, planner="direct-connect-kautz")
    ours_s = time.process_time() - begun
    (step,) = plan.steps
    links = [(int(src), int(dst), int(circuits)) for src, dst, circuits in step.topology.links]
    begun = time.process_time()
    least = _by_highs(links, matrix)
    highs_s = time.process_time() - begun
    assert step.load * step.transfer_bytes == pytest.approx(least, rel=1e-6)
    print(f"\n{gpus} GPUs, {ports} ports: ours {ours_s:.2f} s, HiGHS {highs_s:.2f} s, {highs_s / ours_s:.1f}x")

"""Linear programs over all schedules of few ranks: the least that the busiest circuits of all steps carry together.

A schedule has given steps, each with a topology and a limit on the hops of its paths. Data are cut into any fractions,
and every fraction may have a history of its own:

- *a block that all must have* passes through sets of ranks that hold it, from its owner to all; in each step each new
  holder has a source among the holders before it. Fractions that are at one set choose their sources apart, so amounts
  by (set, new holder, source) say all;
- *a sum at one rank* is that backwards: each other rank's part leaves it once at least along the way to the sum, and
  those transfers, backwards in time, bring a block from the sum's rank to all;
- *a sum that all must have*, in two steps: a digraph says who tells whom its own part in the first, and each rank takes
  in the second sums from some ranks that know, together and with what it knows, every part. Sums of ranks that know
  several parts may be of any parts, so it does not matter that they overlap. Such histories are columns, made where
  their prices say that they pay;
- *a sum that all must have*, in more steps: the sum at some rank, then a block from it. These are not all schedules;
- *a block for one rank* moves or waits, and fractions for one rank at one place are alike.

Routing in a step is by paths, each without a rank twice. Sums of loads are in parts of the buffer m.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import highspy
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.bounds_from_starts.graphs import Graph


class Step(NamedTuple):
    """The topology of a step, and how many links its paths may have."""

    graph: Graph
    hops: int


class _Program:
    """A linear program of variables that are not negative: routing, and the demands of the histories of data."""

    def __init__(self, ranks: int, steps: Sequence[Step]) -> None:
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("presolve", "off")
        self.costs: list[float] = []
        self.rows: list[tuple[float, float, dict[int, float]]] = []
        self.pairs = list(itertools.permutations(range(ranks), 2))
        # By step and pair, the row that says that its paths carry the demand.
        self.demanded: dict[tuple[int, int, int], int] = {}
        for at, step in enumerate(steps):
            load, links = self.variable(1.0), {}
            for link, circuits in step.graph.items():
                links[link] = self.row(-np.inf, 0.0, {load: -float(circuits)})
            for pair in self.pairs:
                row = self.demanded[(at, *pair)] = self.row(0.0, 0.0, {})
                for path in _paths(step, *pair):
                    carried = self.variable()
                    self.rows[row][2][carried] = 1.0
                    for link in itertools.pairwise(path):
                        self.rows[links[link]][2][carried] = 1.0

    def variable(self, cost: float = 0.0) -> int:
        self.costs.append(cost)
        return len(self.costs) - 1

    def row(self, low: float, high: float, terms: dict[int, float]) -> int:
        self.rows.append((low, high, terms))
        return len(self.rows) - 1

    def sent(self, at: int, src: int, dst: int) -> int:
        """A new variable: the data from one rank to another in a step."""
        made = self.variable()
        self.rows[self.demanded[at, src, dst]][2][made] = -1.0
        return made

    def pass_model(self) -> highspy.Highs:
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(self.costs), len(self.rows)
        model.col_cost_ = np.array(self.costs)
        model.col_lower_, model.col_upper_ = np.zeros(len(self.costs)), np.full(len(self.costs), np.inf)
        model.row_lower_ = np.array([low for low, _, _ in self.rows])
        model.row_upper_ = np.array([high for _, high, _ in self.rows])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.cumsum([0, *(len(terms) for _, _, terms in self.rows)])
        model.a_matrix_.index_ = np.array([index for _, _, terms in self.rows for index in terms], dtype=np.int32)
        model.a_matrix_.value_ = np.array([value for _, _, terms in self.rows for value in terms.values()])
        self.solver.passModel(model)
        return self.solver

    def least(self) -> float | None:
        return _solve(self.pass_model())


def _solve(solver: highspy.Highs) -> float | None:
    """The least sum of loads; None where no schedule has these steps."""
    solver.run()
    found = solver.getModelStatus()
    if found == highspy.HighsModelStatus.kOptimal:
        return float(solver.getInfo().objective_function_value)
    assert found in {highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible}, found
    return None


def _paths(step: Step, src: int, dst: int) -> Iterable[list[int]]:
    """Every path from one rank to another, without a rank twice."""
    open_paths = [[src]]
    while open_paths:
        path = open_paths.pop()
        if path[-1] == dst:
            yield path
        elif len(path) <= step.hops:
            open_paths += [[*path, end] for start, end in step.graph if start == path[-1] and end not in path]


def _spread(program: _Program, ranks: int, steps: range, owner: int, share: float | dict[int, float]) -> None:
    """Brings a block, or as much of it as a variable says, from its owner to all; the steps may go backwards."""
    sets = [held for held in range(1 << ranks) if held >> owner & 1]
    full = (1 << ranks) - 1
    balance = {}
    for place, held in itertools.product(range(len(steps) + 1), sets):
        given = share if isinstance(share, float) else 0.0
        begins = place == 0 and held == 1 << owner
        ends = place == len(steps) and held == full
        right = given if begins else -given if ends else 0.0
        balance[place, held] = program.row(right, right, {})
        if isinstance(share, dict) and (begins or ends):
            sign = -1.0 if begins else 1.0
            program.rows[balance[place, held]][2].update({index: sign * factor for index, factor in share.items()})
    for (place, at), held in itertools.product(enumerate(steps), sets):
        joins = {dst: program.row(0.0, 0.0, {}) for dst in range(ranks) if not held >> dst & 1}
        for dst, row in joins.items():
            for src in (src for src in range(ranks) if held >> src & 1):
                ends_of_transfer = (src, dst) if steps.step > 0 else (dst, src)
                program.rows[row][2][program.sent(at, *ends_of_transfer)] = 1.0
        for after in (after for after in sets if after & held == held):
            moved = program.variable()
            program.rows[balance[place, held]][2][moved] = 1.0
            program.rows[balance[place + 1, after]][2][moved] = -1.0
            for dst, row in joins.items():
                if after >> dst & 1:
                    program.rows[row][2][moved] = -1.0


def all_gather(ranks: int, steps: Sequence[Step]) -> float | None:
    """The least sum of loads of an AllGather."""
    program = _Program(ranks, steps)
    for owner in range(ranks):
        _spread(program, ranks, range(len(steps)), owner, 1.0 / ranks)
    return program.least()


def reduce_scatter(ranks: int, steps: Sequence[Step]) -> float | None:
    """The least sum of loads of a ReduceScatter."""
    program = _Program(ranks, steps)
    for owner in range(ranks):
        _spread(program, ranks, range(len(steps) - 1, -1, -1), owner, 1.0 / ranks)
    return program.least()


def broadcast(ranks: int, steps: Sequence[Step], root: int) -> float | None:
    """The least sum of loads of a Broadcast from a root."""
    program = _Program(ranks, steps)
    _spread(program, ranks, range(len(steps)), root, 1.0)
    return program.least()


def all_to_all(ranks: int, steps: Sequence[Step], shares: dict[tuple[int, int], float]) -> float | None:
    """The least sum of loads of an All-to-All that brings these shares of m from rank to rank."""
    program = _Program(ranks, steps)
    for last in range(ranks):
        held = {}
        for place, rank in itertools.product(range(len(steps) + 1), range(ranks)):
            right = shares.get((rank, last), 0.0) if place == 0 and rank != last else 0.0
            if place < len(steps) or rank != last:
                held[place, rank] = program.row(right, right, {})
        for at, src in itertools.product(range(len(steps)), range(ranks)):
            for dst in range(ranks):
                moved = program.variable() if src == dst else program.sent(at, src, dst)
                program.rows[held[at, src]][2][moved] = 1.0
                if (at + 1, dst) in held:
                    program.rows[held[at + 1, dst]][2][moved] = -1.0
    return program.least()


def all_reduce(ranks: int, steps: Sequence[Step]) -> float | None:
    """The least sum of loads of an AllReduce: of all in up to two steps, of those that sum up at one rank in more."""
    if len(steps) == 1:
        program = _Program(ranks, steps)
        for row in program.demanded.values():
            program.rows[row] = (1.0, 1.0, program.rows[row][2])
        return program.least()
    if len(steps) == 2:
        return _two_steps(ranks, steps)
    program = _Program(ranks, steps)
    shares = program.row(1.0, 1.0, {})
    for rank, summed in itertools.product(range(ranks), range(1, len(steps))):
        share = program.variable()
        program.rows[shares][2][share] = 1.0
        _spread(program, ranks, range(summed - 1, -1, -1), rank, {share: 1.0})
        _spread(program, ranks, range(summed, len(steps)), rank, {share: 1.0})
    return program.least()


def _two_steps(ranks: int, steps: Sequence[Step]) -> float | None:
    """By column generation: a column is who tells whom in the first step, and who sends sums to whom in the second."""
    program = _Program(ranks, steps)
    whole = program.row(1.0, 1.0, {program.variable(_NEVER): 1.0})
    # A pair that no path joins costs more than any load.
    for row in program.demanded.values():
        program.rows[row][2][program.variable(_NEVER)] = 1.0
    solver = program.pass_model()
    pairs = program.pairs
    told = (np.arange(1 << len(pairs))[:, None] >> np.arange(len(pairs)) & 1).astype(bool)
    knows = np.zeros((len(told), ranks), dtype=int) + (1 << np.arange(ranks))
    for place, (src, dst) in enumerate(pairs):
        knows[:, dst] |= told[:, place] << src
    full = (1 << ranks) - 1
    while True:
        least = _solve(solver)
        assert least is not None
        dual = np.array(solver.getSolution().row_dual)
        price = [np.array([dual[program.demanded[(at, *pair)]] for pair in pairs]) for at in range(2)]
        total, chosen = told @ price[0], []
        for dst in range(ranks):
            ways = []
            for senders in itertools.product([False, True], repeat=ranks):
                if not senders[dst]:
                    among = [src for src in range(ranks) if senders[src]]
                    known = np.bitwise_or.reduce(knows[:, [dst, *among]], axis=1)
                    paid = sum(price[1][pairs.index((src, dst))] for src in among)
                    ways.append((among, np.where(known == full, paid, np.inf)))
            paid_by_way = np.array([paid for _, paid in ways])
            total = total + paid_by_way.min(axis=0)
            chosen.append((ways, paid_by_way.argmin(axis=0)))
        best = int(total.argmin())
        if total[best] >= dual[whole] - 1e-9:
            return least if least < _NEVER / 2 else None
        rows = [(0, pair) for place, pair in enumerate(pairs) if told[best, place]]
        rows += [(1, (src, dst)) for dst, (ways, way) in enumerate(chosen) for src in ways[way[best]][0]]
        index = np.array([whole, *(program.demanded[(at, *pair)] for at, pair in rows)], dtype=np.int32)
        solver.addCol(0.0, 0.0, np.inf, len(index), index, np.array([1.0, *(-1.0 for _ in rows)]))


_NEVER = 1e4

"""Plans from which the one for all iterations is chosen, and what each of them takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lightloom.planning import plan
from lightloom.robustness.document import change_s
from lightloom.robustness.fixed_circuits import FixedPlan
from lightloom.robustness.shares import with_best_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom import _core
    from lightloom.inputs.fabric import Fabric

__all__ = ["Candidate", "Clock", "best_of", "filled"]

# Candidates whose shares are made the best.
MOST_OPTIMISED = 6
# Share of the mean over a matrix's pairs with which a pair is planned that sends nothing in it but something in
# another.
OF_MEAN = 0.01


@dataclass(frozen=True)
class Candidate:
    """A plan, the bytes that it was made for, in words, and whether its shares are the best for all iterations."""

    made_for: str
    plan: FixedPlan
    optimised: bool = False


class Clock:
    """The times of the iterations, with the changes of circuits between them where the plan is repeated."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._charges: dict[tuple[bytes, bytes, int], float] = {}

    def change_s(self, before: _core.Topology, after: _core.Topology, step: int) -> float:
        """Seconds of the change before the step of that index."""
        key = before.links.tobytes(), after.links.tobytes(), step
        if key not in self._charges:
            self._charges[key] = change_s(self._fabric, before, after, step) if key[0] != key[1] else 0.0
        return self._charges[key]

    def start_s(self, before: FixedPlan, plan: FixedPlan) -> float:
        """Seconds of the change before the first step of an iteration that follows one by another plan."""
        first = plan.steps[0].topology
        if self._fabric.initial == "repeated":
            return self.change_s(before.steps[-1].topology, first, 0)
        if self._fabric.initial in {None, "free"}:
            return 0.0
        return change_s(self._fabric, self._fabric.initial, first)

    def times_s(self, plans: Sequence[FixedPlan], matrices: NDArray[np.float64]) -> list[float]:
        """Seconds of every iteration, each by its plan. The first iteration follows one by its own plan."""
        befores = [plans[0], *plans[:-1]]
        return [
            self.start_s(before, one) + one.changes_s + one.steps_s(matrix)
            for before, one, matrix in zip(befores, plans, matrices, strict=True)
        ]

    def without_idle_steps(self, plan: FixedPlan) -> FixedPlan:
        """The plan without the steps in which no pair sends anything, and with the changes that remain."""
        kept = [step for step in plan.steps if step.sendings]
        if len(kept) == len(plan.steps):
            return plan
        changes = [self.start_s(plan, replace(plan, steps=tuple(kept)))]
        changes += [self.change_s(a.topology, b.topology, i) for i, (a, b) in enumerate(pairwise(kept), 1)]
        return replace(plan, steps=tuple(replace(step, change_s=s) for step, s in zip(kept, changes, strict=True)))

    def with_best_shares(self, plan: FixedPlan, matrices: NDArray[np.float64], *, worst: bool = False) -> FixedPlan:
        """The plan with its best shares for all matrices together, where these are better; else as it is."""
        found = with_best_shares(plan, matrices, worst=worst)
        if found is None:
            return plan
        found = self.without_idle_steps(found)
        reduced = max if worst else sum
        before_s, after_s = (reduced(self.times_s([one] * len(matrices), matrices)) for one in (plan, found))
        return found if after_s < before_s else plan

    def planned(self, matrix: NDArray[np.float64]) -> FixedPlan:
        """The planner's plan for these bytes, with its best shares."""
        return self.with_best_shares(
            FixedPlan.of_plan(plan("all-to-all", matrix=matrix, fabric=self._fabric)), matrix[None]
        )

    def cheapest(self, options: Sequence[Sequence[FixedPlan]], matrices: NDArray[np.float64]) -> list[FixedPlan]:
        """One of the options of each iteration, so that all iterations with the changes between them take least.

        A shortest path over iterations and options, exact; the first iteration follows one by its own plan.
        """
        least: list[tuple[float, list[FixedPlan]]] = []
        for here, matrix in zip(options, matrices, strict=True):
            ways = []
            for one in here:
                own_s = one.changes_s + one.steps_s(matrix)
                before = least or [(0.0, [one])]
                cost_s, chosen = min(
                    ((past_s + self.start_s(way[-1], one), way) for past_s, way in before), key=lambda told: told[0]
                )
                ways.append((cost_s + own_s, [*chosen, one] if least else [one]))
            least = ways
        return min(least, key=lambda told: told[0])[1]


def filled(matrix: NDArray[np.float64], sends: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The matrix with some bytes for each pair of `sends`, so that a plan for it has paths for them all."""
    least = max(1.0, np.rint(OF_MEAN * matrix[sends].mean()))
    made: NDArray[np.float64] = np.where(sends & (matrix == 0), least, matrix)
    return made


def best_of(
    candidates: Sequence[Candidate],
    matrices: NDArray[np.float64],
    clock: Clock,
    *,
    worst: bool,
    report: Callable[[str], None],
) -> tuple[Candidate, list[FixedPlan]]:
    """The candidate of least mean time, or least time of its slowest iteration if `worst`, with its best shares.

    Next to it the plans, on different circuits, whose shares were made the best.
    """

    def value_s(one: Candidate) -> float:
        times_s = clock.times_s([one.plan] * len(matrices), matrices)
        return max(times_s) if worst else sum(times_s) / len(times_s)

    values = {id(one): value_s(one) for one in candidates}
    ordered = sorted(candidates, key=lambda one: values[id(one)])
    circuits: dict[tuple[bytes, ...], Candidate] = {}
    for one in ordered:
        circuits.setdefault(tuple(step.topology.links.tobytes() for step in one.plan.steps), one)
    best, best_s = ordered[0], values[id(ordered[0])]
    tried = list(circuits.values())[:MOST_OPTIMISED]
    for number, one in enumerate(tried):
        report(f"shares of all iterations on circuits {number + 1}")
        found = clock.with_best_shares(one.plan, matrices, worst=worst)
        improved = Candidate(one.made_for, found, optimised=found is not one.plan)
        improved_s = value_s(improved)
        if improved_s < best_s:
            best, best_s = improved, improved_s
    return best, [one.plan for one in tried]

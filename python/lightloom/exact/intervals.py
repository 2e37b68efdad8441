"""The cheapest cut of steps into intervals that keep one topology each (HARVEST, algorithm 1), by proved bounds.

For every interval of steps there is a time that no topology beats and a topology with the time that it takes. The
cheapest cut by the first is a bound on the whole; programs are solved only for intervals on it, until they are closed,
so that most intervals need no program.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

from lightloom.exact.demands import Demand, PricedTopology, merged, topology_of
from lightloom.exact.program import Scope, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Times this close, relatively, count as equal: tangents and the solver's tolerances leave such differences.
TOLERANCE = 5e-5


class Costs(NamedTuple):
    """Cost of changes: seconds of one, and the topology before the first step.

    initial: that topology; None for a free start, and where the plan is `repeated`, so that it is the last step's.
    """

    change_s: float
    initial: PricedTopology | None
    repeated: bool = False


class Cut(NamedTuple):
    """Total time, and the (first, past) steps of the intervals; a repeated plan's may go on with its first steps."""

    total_s: float
    intervals: list[tuple[int, int]]


class _Best:
    """Bounds for one set of demands on one topology; seconds without startup."""

    def __init__(self, demands: Sequence[Demand], ports: int) -> None:
        self.lower_s = math.fsum(demand.least_s(ports) for demand in demands)
        self.upper_s = math.inf
        self.topology: PricedTopology | None = None
        # For each demand, loads at which the next program's tangents are exact.
        self.loads: list[list[float]] = [[] for _ in demands]

    def try_topology(self, demands: Sequence[Demand], topology: PricedTopology) -> None:
        seconds = topology.seconds(demands)
        if seconds < self.upper_s:
            self.upper_s, self.topology = seconds, topology

    @property
    def is_closed(self) -> bool:
        return self.upper_s <= self.lower_s * (1 + TOLERANCE)


class Intervals:
    """The intervals of a schedule's demands, one a step."""

    def __init__(self, steps: Sequence[Demand], scope: Scope, costs: Costs, known: Sequence[PricedTopology]) -> None:
        """Known topologies are of the scope's class; the better they are, the less is left to prove."""
        self._scope = scope
        self._costs = costs
        self._initial = costs.initial
        self._count = len(steps)
        # Intervals of a repeated plan may begin anywhere and wrap around.
        around = [*steps, *steps] if costs.repeated else steps
        ends = [
            (first, past)
            for first in range(self._count)
            for past in range(first + 1, min(first + self._count, len(around)) + 1)
        ]
        self._demands = {ends: merged(around[slice(*ends)]) for ends in ends}
        self._on_initial = {
            past: math.inf if self._initial is None else self._initial.seconds(steps[:past])
            for past in range(1, self._count + 1)
        }
        # Intervals with the same demands share what is known of them.
        self._best: dict[tuple[Demand, ...], _Best] = {}
        for demands in self._demands.values():
            best = self._best.setdefault(demands, _Best(demands, scope.ports))
            if best.topology is None:
                for topology in known:
                    best.try_topology(demands, topology)

    def prove(self, deadline: float, report: Callable[[str], None], better: Callable[[], None]) -> None:
        """Solve programs until the cheapest cut is proved, or until the deadline, by `time.monotonic`.

        report: told what is being proved. better: called whenever the cheapest cut by attained costs got cheaper.
        """
        least_s = math.inf
        while time.monotonic() < deadline:
            proved, attained = self.cut(lower=True), self.cut(lower=False)
            if attained.total_s < least_s:
                least_s = attained.total_s
                better()
            if attained.total_s <= proved.total_s * (1 + TOLERANCE):
                return
            still_open = [ends for ends in proved.intervals if not self._of(ends).is_closed]
            if not still_open:
                # The cut by bounds stays on the initial topology or on closed intervals, and so is attained.
                return
            first, past = min(still_open, key=lambda ends: (ends[1] - ends[0], ends))
            gap = f"within {attained.total_s / proved.total_s - 1:.2%}" if proved.total_s > 0 else "open"
            report(f"steps {first + 1} to {(past - 1) % self._count + 1} of {self._count}, so far {gap}")
            self._solve((first, past), deadline - time.monotonic())

    def cut(self, *, lower: bool) -> Cut:
        """The cheapest cut by proved (`lower`) or attained costs. O(steps²), O(steps³) of a repeated plan."""
        if not self._costs.repeated:
            return self._line(0, lower=lower)
        whole = (0, self._count)
        stays = Cut(self._seconds(whole, lower=lower), [whole])
        cuts = [stays, *(self._line(start, lower=lower) for start in range(self._count))]
        return min(cuts, key=lambda cut: (cut.total_s, len(cut.intervals)))

    def _line(self, start: int, *, lower: bool) -> Cut:
        """The cheapest cut of the steps from `start` on; every change is charged but the first of a free start."""
        is_free = self._initial is None and not self._costs.repeated
        best: list[Cut] = [Cut(0.0, [])]
        for past in range(1, self._count + 1):
            choices = []
            for first in range(past):
                around = self._count if start + first >= self._count else 0
                ends = (start + first - around, start + past - around)
                change_s = 0.0 if first == 0 and is_free else self._costs.change_s
                total_s = best[first].total_s + change_s + self._seconds(ends, lower=lower)
                choices.append(Cut(total_s, [*best[first].intervals, ends]))
            choices.append(Cut(self._on_initial[past], []))
            best.append(min(choices, key=lambda cut: (cut.total_s, len(cut.intervals))))
        return best[-1]

    def _seconds(self, ends: tuple[int, int], *, lower: bool) -> float:
        return self._of(ends).lower_s if lower else self._of(ends).upper_s

    def topologies(self) -> list[PricedTopology]:
        """Topologies of the cheapest cut by attained costs, without the initial one."""
        return [best.topology for ends in self.cut(lower=False).intervals if (best := self._of(ends)).topology]

    def _of(self, ends: tuple[int, int]) -> _Best:
        return self._best[self._demands[ends]]

    def _solve(self, ends: tuple[int, int], seconds: float) -> None:
        """Solve the interval's program; its solution makes the tangents of the next one better."""
        demands, best = self._demands[ends], self._of(ends)
        if best.topology is not None:
            _add_loads(best.loads, demands, best.topology)
        proved = solve(demands, self._scope, best.upper_s, best.loads, seconds)
        best.lower_s = max(best.lower_s, min(proved.lower_s, best.upper_s))
        if proved.links:
            found = topology_of(proved.links, self._scope.gpus, f"optimum-{ends[0] + 1}-{ends[1]}")
            _add_loads(best.loads, demands, found)
            # A topology that serves one interval may serve others.
            for others, known in self._best.items():
                known.try_topology(others, found)


def _add_loads(loads: list[list[float]], demands: Sequence[Demand], topology: PricedTopology) -> None:
    for values, demand in zip(loads, demands, strict=True):
        point = topology.point(demand)
        if point is not None:
            values.append(point[1])

"""The cheapest cut of steps into intervals that keep one topology each (HARVEST, algorithm 1), by proved bounds.

For every interval of steps there is a time that no topology beats and a topology with the time that it takes. The
cheapest cut by the first is a bound on the whole; programs are solved only for intervals on it, until they are closed,
so that most intervals need no program.

Where whole numbers of circuits are too many, the programs are those of averages: they raise the bound only, and an
interval is left open when the last of them is solved.
"""

from __future__ import annotations

import math
import time
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from lightloom.exact.averages import PROGRAMS, least_seconds
from lightloom.exact.demands import Demand, PricedTopology, merged, topology_of
from lightloom.exact.places import nearest_first_s
from lightloom.exact.program import Scope, solve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The first time limit of a program of averages is the budget over this. When all programs have reached the limit, it is
# multiplied by four.
FIRST_LIMITS = 16
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

    def __init__(self, demands: Sequence[Demand], lower_s: float) -> None:
        self.demands = demands
        self.lower_s = lower_s
        self.upper_s = math.inf
        self.topology: PricedTopology | None = None
        # For each demand, loads at which the next program's tangents are exact.
        self.loads: list[list[float]] = [[] for _ in demands]
        # Programs of averages that are still to be solved, and those that ran out of time.
        self.programs = list(range(len(PROGRAMS)))
        self.unfinished: list[int] = []

    def try_topology(self, seconds: float, topology: PricedTopology) -> None:
        """A topology on which the demands take this time."""
        if seconds < self.upper_s:
            self.upper_s, self.topology = seconds, topology

    @property
    def is_closed(self) -> bool:
        return self.upper_s <= self.lower_s * (1 + TOLERANCE)


class Intervals:
    """The intervals of a schedule's demands, one a step."""

    def __init__(
        self,
        steps: Sequence[Demand],
        scope: Scope,
        costs: Costs,
        known: Sequence[PricedTopology],
        *,
        averaged: bool = False,
        bounds: Intervals | None = None,
    ) -> None:
        """Known topologies are of the scope's class; the better they are, the less is left to prove.

        averaged: the scope's group keeps the steps and is averaged over; the class is then that of all topologies.
        bounds: what is proved of the same steps already, for all topologies.
        """
        self._scope = scope
        self._costs = costs
        self._averaged = averaged
        self._initial = costs.initial
        self._count = len(steps)
        # Intervals of a repeated plan may begin anywhere and wrap around.
        self._around = around = [*steps, *steps] if costs.repeated else steps
        self._ends = [
            (first, past)
            for first in range(self._count)
            for past in range(first + 1, min(first + self._count, len(around)) + 1)
        ]
        self._on_initial = {
            past: math.inf if self._initial is None else self._initial.seconds(steps[:past])
            for past in range(1, self._count + 1)
        }
        # Intervals of the same steps share what is known of them.
        number = {step: index for index, step in enumerate(dict.fromkeys(around))}
        least_s = {step: step.least_s(scope.ports) for step in number}
        of_steps: dict[tuple[int, ...], _Best] = {}
        self._best: dict[tuple[int, int], _Best] = {}
        for ends in self._ends:
            inside = around[slice(*ends)]
            key = tuple(sorted(number[step] for step in inside))
            if key not in of_steps:
                demands = merged(inside)
                best = of_steps[key] = _Best(demands, math.fsum(least_s[step] for step in inside))
                if averaged:
                    best.lower_s = max(best.lower_s, nearest_first_s(demands, scope))
            self._best[ends] = of_steps[key]
        for topology in known:
            self.try_topology(topology)
        if bounds is not None:
            for ends, best in self._best.items():
                best.lower_s = max(best.lower_s, min(bounds._best[ends].lower_s, best.upper_s))

    @property
    def are_closed(self) -> bool:
        """Whether the cheapest cut is proved."""
        return self.cut(lower=False).total_s <= self.cut(lower=True).total_s * (1 + TOLERANCE)

    def try_topology(self, topology: PricedTopology) -> None:
        """A topology of the class that may serve some intervals better than those before it."""
        seconds = [topology.seconds([step]) for step in self._around]
        for first in range(self._count):
            for past, total_s in enumerate(accumulate(seconds[first : first + self._count]), first + 1):
                self._best[first, past].try_topology(total_s, topology)

    def prove(self, deadline: float, report: Callable[[str], None], better: Callable[[], None]) -> None:
        """Solve programs until the cheapest cut is proved, or until the deadline, by `time.monotonic`.

        report: told what is being proved. better: called whenever the cheapest cut by attained costs got cheaper.
        """
        least_s, limit_s = math.inf, max((deadline - time.monotonic()) / FIRST_LIMITS, 1.0)
        while time.monotonic() < deadline:
            proved, attained = self.cut(lower=True), self.cut(lower=False)
            if attained.total_s < least_s:
                least_s = attained.total_s
                better()
            if attained.total_s <= proved.total_s * (1 + TOLERANCE):
                return
            still_open = [ends for ends in proved.intervals if self._is_open(self._best[ends])]
            if not still_open:
                if any(self._best[ends].unfinished for ends in proved.intervals):
                    limit_s *= 4
                    self._resume(proved.intervals)
                    continue
                # The cut by bounds stays on the initial topology or on closed intervals, and so is attained; or no
                # program is left that could raise it.
                return
            first, past = min(still_open, key=lambda ends: (self._best[ends].programs[0], ends[1] - ends[0], ends))
            gap = f"within {attained.total_s / proved.total_s - 1:.2%}" if proved.total_s > 0 else "open"
            report(f"steps {first + 1} to {(past - 1) % self._count + 1} of {self._count}, so far {gap}")
            left_s = deadline - time.monotonic()
            if self._averaged:
                # The time that the interval may take if a cut through it is to be faster than the plan attained.
                spare_s = attained.total_s - proved.total_s + self._best[first, past].lower_s
                self._raise((first, past), spare_s, min(limit_s, left_s))
            else:
                self._solve((first, past), left_s)

    def _is_open(self, best: _Best) -> bool:
        return not best.is_closed and bool(best.programs)

    def _resume(self, intervals: Sequence[tuple[int, int]]) -> None:
        """Take the programs again that ran out of time."""
        for ends in intervals:
            best = self._best[ends]
            best.programs, best.unfinished = best.programs + best.unfinished, []

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
        return self._best[ends].lower_s if lower else self._best[ends].upper_s

    def topologies(self) -> list[PricedTopology]:
        """Topologies of the cheapest cut by attained costs, without the initial one."""
        return [best.topology for ends in self.cut(lower=False).intervals if (best := self._best[ends]).topology]

    def _solve(self, ends: tuple[int, int], seconds: float) -> None:
        """Solve the interval's program; its solution makes the tangents of the next one better."""
        best = self._best[ends]
        demands = best.demands
        if best.topology is not None:
            _add_loads(best.loads, demands, best.topology)
        proved = solve(demands, self._scope, best.upper_s, best.loads, seconds)
        best.lower_s = max(best.lower_s, min(proved.lower_s, best.upper_s))
        if proved.links:
            found = topology_of(proved.links, self._scope.gpus, f"optimum-{ends[0] + 1}-{ends[1]}")
            _add_loads(best.loads, demands, found)
            self.try_topology(found)

    def _raise(self, ends: tuple[int, int], spare_s: float, seconds: float) -> None:
        """Solve the interval's next program of averages, and raise the bounds of the intervals that hold it."""
        best = self._best[ends]
        # The limit is slightly above the attained time, so that a bound equal to it still proves the optimum.
        spare_s = min(spare_s, best.upper_s) * (1 + TOLERANCE / 2)
        started = time.monotonic()
        program = best.programs.pop(0)
        found_s = least_seconds(best.demands, self._scope, spare_s, seconds, PROGRAMS[program])
        if time.monotonic() - started >= seconds:
            best.unfinished.append(program)
        best.lower_s = max(best.lower_s, min(found_s, best.upper_s))
        # A longer interval takes at least as long as its two parts together.
        for first, past in sorted(self._ends, key=lambda ends: ends[1] - ends[0]):
            longer = self._best[first, past]
            for middle in range(first + 1, past):
                second = (middle, past) if middle < self._count else (middle - self._count, past - self._count)
                parts_s = self._best[first, middle].lower_s + self._best[second].lower_s
                longer.lower_s = max(longer.lower_s, min(parts_s, longer.upper_s))


def _add_loads(loads: list[list[float]], demands: Sequence[Demand], topology: PricedTopology) -> None:
    for values, demand in zip(loads, demands, strict=True):
        point = topology.point(demand)
        if point is not None:
            values.append(point[1])

"""A plan that is made once for many iterations, with the times that it and others take."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lightloom._core import counted, show_time
from lightloom.base.frames import Table
from lightloom.base.views import picture

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from lightloom.plans import Plan
    from lightloom.robustness.fixed_circuits import FixedPlan

__all__ = ["SCHEMA", "STRATEGIES", "IterationTimes", "RobustPlan", "Strategy", "iterations_text"]

SCHEMA = "lightloom.robust/1"
# Ways of planning many iterations, by their names, with what they know; `{iterations}` are those seen.
STRATEGIES = {
    "once": "one plan, made for {iterations} together",
    "uniform": "one plan, made for equal blocks",
    "previous": "a plan for each iteration, made for the one before; the first for equal blocks",
    "each": "a plan for each iteration, made for its own bytes as if they were known beforehand",
}


@dataclass(frozen=True, kw_only=True)
class IterationTimes:
    """One iteration: its place, the bytes that all ranks send to others, and seconds by strategy.

    held_out: whether the plan that is made once was made without it.
    """

    iteration: int
    held_out: bool
    traffic_bytes: float
    once_s: float
    uniform_s: float
    previous_s: float
    each_s: float

    def time_s(self, strategy: str) -> float:
        """Seconds by one of `STRATEGIES`."""
        found: float = getattr(self, f"{strategy}_s")
        return found

    def regret_s(self, strategy: str) -> float:
        """Seconds by one of `STRATEGIES` less those of `each`."""
        return self.time_s(strategy) - self.each_s


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """A way of planning, over several iterations: mean and largest time and regret, in seconds.

    over_each: the mean time over that of `each`.
    """

    name: str
    mean_s: float
    worst_s: float
    mean_regret_s: float
    worst_regret_s: float
    over_each: float


@dataclass(frozen=True, eq=False)
class RobustPlan(Table):
    """A plan that is made once for many iterations of an All-to-All; immutable, seconds and bytes.

    objective: `"expected"`, the mean time is least, or `"worst"`, that of the slowest iteration. plan: the circuits,
    paths and shares as a plan, for the mean of the matrices, or for the largest bytes of each pair under `"worst"`.
    made_for: the bytes for which the planner chose the circuits, in words; optimised: whether the shares are the best
    for all iterations on these circuits, else they are the planner's. fixed: circuits, paths and shares, the same for
    any bytes. iterations: times of each; the last ones may be held out, so that the plan was made without them.
    """

    objective: str
    plan: Plan
    made_for: str
    optimised: bool
    fixed: FixedPlan
    iterations: tuple[IterationTimes, ...]

    @property
    def seen(self) -> str:
        """The iterations for which the plan was made, in words."""
        return iterations_text(sum(not one.held_out for one in self.iterations), len(self.iterations))

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """Each of `STRATEGIES` over the iterations for which the plan was made."""
        return _strategies([one for one in self.iterations if not one.held_out])

    @property
    def held_out(self) -> tuple[Strategy, ...]:
        """Each of `STRATEGIES` over the iterations that are held out; empty where none are."""
        return _strategies([one for one in self.iterations if one.held_out])

    def strategy(self, name: str) -> Strategy:
        """The strategy of that name, over the iterations for which the plan was made."""
        return next(one for one in self.strategies if one.name == name)

    def to_json(self) -> str:
        """The times, circuits, paths and shares as JSON of schema `lightloom.robust/1`."""
        told = {
            "schema": SCHEMA,
            "gpus": self.plan.gpus,
            "ports": self.plan.ports,
            "objective": self.objective,
            "made_for": self.made_for,
            "optimised": self.optimised,
            "initial": self.plan.initial,
            "strategies": [asdict(one) for one in self.strategies],
            "held_out": [asdict(one) for one in self.held_out],
            "iterations": [asdict(one) for one in self.iterations],
            "steps": [
                {"links": step.topology.links.tolist(), "reconfiguration_s": step.change_s} for step in self.fixed.steps
            ],
            "pieces": self._pieces(),
        }
        return json.dumps(told, indent=1, ensure_ascii=False)

    def _pieces(self) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = [
            {"source": source, "destination": destination, "share": share, "moves": []}
            for source, destination, share in self.fixed.pieces
        ]
        for index, step in enumerate(self.fixed.steps):
            for piece, paths in step.sendings:
                told = [{"share": share, "ranks": list(path)} for share, path in paths]
                made[piece]["moves"].append({"step": index, "paths": told})
        return [piece for piece in made if piece["moves"]]

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Times and regrets by iteration; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("RobustPlan.plot", self, path)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one an iteration: times and regrets of each strategy."""
        columns: dict[str, list[Any]] = {
            name: [getattr(one, name) for one in self.iterations] for name in ("iteration", "traffic_bytes")
        }
        for name in STRATEGIES:
            columns[f"{name}_s"] = [one.time_s(name) for one in self.iterations]
        for name in STRATEGIES:
            if name != "each":
                columns[f"{name}_regret_s"] = [one.regret_s(name) for one in self.iterations]
        columns["held_out"] = [one.held_out for one in self.iterations]
        return columns

    def __repr__(self) -> str:
        once = self.strategy("once")
        return (
            f"RobustPlan({self.plan.gpus} GPUs, {counted(len(self.iterations), 'iteration')}: "
            f"{show_time(once.mean_s)} on average, {show_time(once.worst_s)} at worst)"
        )


def iterations_text(seen: int, count: int) -> str:
    """The iterations for which a plan is made, in words."""
    return "all iterations" if seen == count else f"the first {counted(seen, 'iteration')}"


def _strategies(iterations: Sequence[IterationTimes]) -> tuple[Strategy, ...]:
    """Each of `STRATEGIES` over these iterations; empty where there are none."""
    return tuple(_strategy(name, iterations) for name in STRATEGIES if iterations)


def _strategy(name: str, iterations: Sequence[IterationTimes]) -> Strategy:
    count = len(iterations)
    times_s = [one.time_s(name) for one in iterations]
    regrets_s = [one.regret_s(name) for one in iterations]
    return Strategy(
        name=name,
        mean_s=sum(times_s) / count,
        worst_s=max(times_s),
        mean_regret_s=sum(regrets_s) / count,
        worst_regret_s=max(regrets_s),
        over_each=sum(times_s) / sum(one.each_s for one in iterations),
    )

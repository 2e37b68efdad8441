"""The tables that the verb `robust` prints."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.robustness.result import STRATEGIES
from lightloom.views.ratios import ROUNDING, factor
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from lightloom.robustness.result import RobustPlan, Strategy

OVER_ALL = ("mean", "slowest", "mean regret", "largest regret", "over each")
BY_ITERATION = ("iteration", "traffic", "each", "once", "previous", "uniform")
# Iterations that are shown one by one.
MOST_SHOWN = 24
AIMS = {"expected": "least mean time", "worst": "least time of the slowest iteration"}


def robust_table(found: RobustPlan) -> str:
    """A row a strategy, a row an iteration, and in words how the plan was made."""
    return render(*robust_parts(found))


def robust_parts(found: RobustPlan) -> list[RenderableType]:
    """The parts of `robust_table`."""
    iterations = counted(len(found.iterations), "iteration")
    ports = counted(found.plan.ports, "port")
    parts: list[RenderableType] = [
        heading(f"{iterations} of all-to-all on {found.plan.gpus} GPUs of {ports}: {AIMS[found.objective]}"),
        *_over_all(found),
        Text("regret by iteration: the time less that of each"),
        _by_iteration(found),
    ]
    hidden = len(found.iterations) - MOST_SHOWN
    if hidden > 0:
        parts.append(Text(f"{counted(hidden, 'iteration')} more: --format csv has all"))
    return [*parts, *map(Text, _sentences(found))]


def _over_all(found: RobustPlan) -> list[RenderableType]:
    held_out = sum(one.held_out for one in found.iterations)
    if not held_out:
        return [_by_strategy(found.strategies, found.seen)]
    return [
        Text(f"{found.seen}, for which once is made"),
        _by_strategy(found.strategies, found.seen),
        Text(f"{counted(held_out, 'iteration')} after these, held out, without which once is made"),
        _by_strategy(found.held_out, found.seen),
    ]


def _by_strategy(strategies: Sequence[Strategy], seen: str) -> RenderableType:
    made = table("strategy", *OVER_ALL, "plans", right=OVER_ALL)
    for one in strategies:
        is_reference = one.name == "each"
        made.add_row(
            one.name,
            show_time(one.mean_s),
            show_time(one.worst_s),
            "-" if is_reference else _regret(one.mean_regret_s, one.mean_s),
            "-" if is_reference else _regret(one.worst_regret_s, one.mean_s),
            "-" if is_reference else factor(one.over_each),
            STRATEGIES[one.name].format(iterations=seen),
        )
    return made


def _by_iteration(found: RobustPlan) -> RenderableType:
    marks = ["held out"] if found.held_out else []
    made = table(*BY_ITERATION, *marks, right=BY_ITERATION)
    for one in found.iterations[:MOST_SHOWN]:
        regrets = [_regret(one.regret_s(name), one.each_s) for name in BY_ITERATION[3:]]
        marked = ["yes" if one.held_out else "" for _ in marks]
        made.add_row(str(one.iteration), show_size(one.traffic_bytes), show_time(one.each_s), *regrets, *marked)
    return made


def _regret(seconds: float, time_s: float) -> str:
    if abs(seconds) <= ROUNDING * time_s:
        return "0"
    return f"{'-' if seconds < 0 else '+'}{show_time(abs(seconds))}"


def _sentences(found: RobustPlan) -> list[str]:
    steps = found.fixed.steps
    changes = sum(a.topology.links.tobytes() != b.topology.links.tobytes() for a, b in pairwise(steps))
    shares = f"the best for {found.seen} on these circuits" if found.optimised else "those of the planner"
    made = [
        f"once: {counted(len(steps), 'step')}, {counted(changes, 'change')} of circuits; circuits planned for "
        f"{found.made_for}, shares of paths {shares}"
    ]
    if found.plan.initial == "repeated":
        made.append("Changes of circuits between iterations are charged.")
    else:
        made.append("Changes of circuits between iterations are not charged; with --initial repeated they are.")
    made.append("each: the best that was found for every iteration by itself; the optimum may be less.")
    return made

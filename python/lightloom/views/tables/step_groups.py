"""Folds the steps of a plan into a readable number of rows, without leaving any out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, pairwise
from math import fsum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_ROWS = 40


class AnyStep(Protocol):
    """The common part of the steps of a plan and of its simulation."""

    @property
    def index(self) -> int:
        """The step's place, from 0."""

    @property
    def topology_index(self) -> int:
        """The index of the step's topology."""

    @property
    def topology_name(self) -> str:
        """Name of its topology."""

    @property
    def reconfigured(self) -> bool:
        """Whether the fabric is reconfigured before it."""


S = TypeVar("S", bound=AnyStep)


@dataclass(frozen=True)
class StepGroup(Generic[S]):
    """Consecutive steps that share a row."""

    steps: tuple[S, ...]

    @property
    def numbers(self) -> str:
        """`3`, or `3–7`; the first step is 1."""
        first, last = self.steps[0].index + 1, self.steps[-1].index + 1
        return str(first) if first == last else f"{first}–{last}"

    @property
    def topologies(self) -> str:
        """`ring ×31` for a run on one topology; of several the first and the last, and how many."""
        names = list(dict.fromkeys(step.topology_name for step in self.steps))
        times = f" ×{len(self.steps)}" if len(self.steps) > 1 else ""
        if len(names) <= 2:
            return f"{', '.join(names)}{times}"
        several = f" ({len(names)} topologies)" if len(names) < len(self.steps) else ""
        return f"{names[0]} … {names[-1]}{several}{times}"

    @property
    def reconfigurations(self) -> int:
        """The number of steps that reconfigure the fabric."""
        return sum(step.reconfigured for step in self.steps)

    @property
    def marked_topologies(self) -> str:
        """The topologies behind `*` where the fabric is reconfigured before each step, `3*` before 3 of them."""
        count = "" if self.reconfigurations == len(self.steps) else str(self.reconfigurations)
        return f"{count}* {self.topologies}" if self.reconfigurations else self.topologies

    def span(self, attribute: str) -> tuple[float, float]:
        """Smallest and largest value of an attribute over the steps."""
        values = [getattr(step, attribute) for step in self.steps]
        return min(values), max(values)

    def total(self, attribute: str) -> float:
        """Sum of an attribute over the steps."""
        return fsum(getattr(step, attribute) for step in self.steps)


def group_steps(
    steps: Sequence[S], appearance: Callable[[S], object], max_rows: int = MAX_ROWS, *, all_steps: bool = False
) -> list[StepGroup[S]]:
    """A row for every run of equal steps on one topology; for every step where `all_steps`.

    appearance: the properties of a step that a row shows in addition to its number and topology.

    Where rows are too many, equal neighbours on different topologies share one too; where they still are, neighbours on
    one topology do, the longest runs being halved while there is room; where the topologies are too many, neighbours in
    even runs.
    """
    if all_steps:
        return [StepGroup((step,)) for step in steps]
    for key in (lambda step: (step.topology_index, appearance(step)), appearance):
        equal = _runs(steps, key)
        if len(equal) <= max_rows:
            return equal
    groups = _runs(steps, lambda step: step.topology_index)
    if len(groups) > max_rows:
        bounds = [row * len(steps) // max_rows for row in range(max_rows + 1)]
        return [StepGroup(tuple(steps[first:last])) for first, last in pairwise(bounds)]
    while len(groups) < max_rows:
        longest = max(range(len(groups)), key=lambda index: len(groups[index].steps))
        run = groups[longest].steps
        groups[longest : longest + 1] = [StepGroup(run[: len(run) // 2]), StepGroup(run[len(run) // 2 :])]
    return groups


def _runs(steps: Sequence[S], key: Callable[[S], object]) -> list[StepGroup[S]]:
    return [StepGroup(tuple(run)) for _, run in groupby(steps, key=key)]


def reconfiguration_caption(groups: Sequence[StepGroup[S]]) -> str | None:
    """The meaning of the mark of reconfigurations, if there is one."""
    if not any(group.reconfigurations for group in groups):
        return None
    partly = any(0 < group.reconfigurations < len(group.steps) for group in groups)
    several = any(group.reconfigurations and len(group.steps) > 1 for group in groups)
    before = "each step of the row" if several else "the step"
    return f"* the fabric is reconfigured before {before}" + (" (N*: before N of them)" if partly else "")

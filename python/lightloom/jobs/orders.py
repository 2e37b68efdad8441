"""Which waiting job starts first. Adding a rule is an entry of `ORDERS`."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lightloom.jobs.course import Run, Task

__all__ = ["MOST_LISTED", "ORDERS", "ordered_course"]

# Jobs up to which `search` looks through all orders; beyond it exchanges jobs of the best order as long as that helps,
# in so many courses at most.
MOST_LISTED = 6
MOST_COURSES = 2000


class Order(NamedTuple):
    """A rule. overtaking: whether a job starts before those in front of it that do not fit."""

    name: str
    summary: str
    overtaking: bool


ORDERS = (
    Order("arrival", "first come, first served: no job starts before one that arrived earlier", overtaking=False),
    Order("backfill", "in order of arrival, but a job that fits goes ahead of those that do not", overtaking=True),
    Order("shortest-first", "of the jobs that fit, the one that takes the least time alone", overtaking=True),
    Order("search", "the order with the least mean completion time that a search finds", overtaking=False),
)


def ordered_course(
    name: str, tasks: Sequence[Task], run: Callable[[Sequence[int], bool], list[Run]]
) -> tuple[list[Run], bool]:
    """The course of tasks by the rule of a name, and whether no order of starts is better, proved.

    run: the course for an order, with or without overtaking. For jobs that keep GPUs of their own, any of which will
    do, a course in which every job ends earliest is among those without overtaking, for one of all orders.
    """
    by_arrival = sorted(range(len(tasks)), key=lambda task: (tasks[task].arrival_s, task))
    if name == "arrival":
        return run(by_arrival, False), False
    if name == "backfill":
        return run(by_arrival, True), False
    by_length = sorted(by_arrival, key=lambda task: tasks[task].works[0].total_s)
    if name == "shortest-first":
        return run(by_length, True), False
    if len(tasks) <= MOST_LISTED:
        return min((run(order, False) for order in itertools.permutations(by_arrival)), key=_merit(tasks)), True
    best = min((run(by_arrival, False), run(by_arrival, True), run(by_length, True)), key=_merit(tasks))
    return _exchanged(tasks, best, run), False


def _merit(tasks: Sequence[Task]) -> Callable[[list[Run]], tuple[float, float]]:
    """Less is better: the sum of completion times, then the time of the last end."""

    def of(runs: list[Run]) -> tuple[float, float]:
        completions = [run.end_s - task.arrival_s for run, task in zip(runs, tasks, strict=True)]
        return math.fsum(completions), max(run.end_s for run in runs)

    return of


def _exchanged(tasks: Sequence[Task], best: list[Run], run: Callable[[Sequence[int], bool], list[Run]]) -> list[Run]:
    """The best course after exchanges of two jobs in the order of starts, until none helps."""
    merit = _merit(tasks)
    left = MOST_COURSES
    improved = True
    while improved:
        improved = False
        order = sorted(range(len(tasks)), key=lambda task: (best[task].start_s, task))
        for one in _neighbours(order):
            if left == 0:
                return best
            left -= 1
            found = run(one, False)
            if merit(found) < merit(best):
                best, improved = found, True
                break
    return best


def _neighbours(order: Sequence[int]) -> Iterator[list[int]]:
    for first, second in itertools.combinations(range(len(order)), 2):
        changed = list(order)
        changed[first], changed[second] = changed[second], changed[first]
        yield changed

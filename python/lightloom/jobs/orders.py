"""Rules by which the next waiting job is chosen. Adding a rule is an entry of `ORDERS`."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lightloom.jobs.course import Run, Task

__all__ = ["MOST_LISTED", "ORDERS", "ordered_course"]

# Jobs up to which `search` looks through all orders; beyond it exchanges jobs of the best order as long as that helps,
# in this many courses at most.
MOST_LISTED = 6
MOST_COURSES = 2000


class Order(NamedTuple):
    """A rule.

    key: of a task and its place, by which waiting tasks are sorted; None for the rule that searches for an order.
    overtaking: whether a job starts before those in front of it that do not fit.
    """

    name: str
    summary: str
    key: Callable[[Task, int], tuple[float, ...]] | None
    overtaking: bool


def _by_arrival(task: Task, place: int) -> tuple[float, ...]:
    return task.arrival_s, place


def _by_length(task: Task, place: int) -> tuple[float, ...]:
    return task.works[0].total_s, *_by_arrival(task, place)


ORDERS = (
    Order("arrival", "first come, first served: no job starts before an earlier one", _by_arrival, overtaking=False),
    Order("backfill", "in order of arrival, but jobs that fit go ahead of others", _by_arrival, overtaking=True),
    Order("shortest-first", "of the jobs that fit, the one that takes least alone", _by_length, overtaking=True),
    Order("search", "the order with the least mean completion time that is found", None, overtaking=False),
)


def ordered_course(
    name: str, tasks: Sequence[Task], run: Callable[[Sequence[int], bool], list[Run]]
) -> tuple[list[Run], bool]:
    """The course of tasks by the rule of a name, and whether all orders of starts were looked through.

    run: the course for an order, with or without overtaking. For jobs that keep GPUs of their own, any of which will
    do, no course has a smaller mean completion than the best of all orders without overtaking.
    """
    order = next(one for one in ORDERS if one.name == name)
    if order.key is not None:
        return _by_rule(order, order.key, tasks, run), False
    if len(tasks) <= MOST_LISTED:
        return min((run(one, False) for one in itertools.permutations(range(len(tasks)))), key=_merit(tasks)), True
    rules = [_by_rule(one, one.key, tasks, run) for one in ORDERS if one.key is not None]
    return _exchanged(tasks, min(rules, key=_merit(tasks)), run), False


def _by_rule(
    order: Order,
    key: Callable[[Task, int], tuple[float, ...]],
    tasks: Sequence[Task],
    run: Callable[[Sequence[int], bool], list[Run]],
) -> list[Run]:
    return run(sorted(range(len(tasks)), key=lambda place: key(tasks[place], place)), order.overtaking)


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

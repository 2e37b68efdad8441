"""The course of jobs over time: who starts when, on which GPUs, and who ends; nothing is planned here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from lightloom.jobs.places import Places

    # The sharing of GPUs by two jobs, by each one's place in the tasks and in its works; None where they share none.
    Pairing: TypeAlias = Callable[[tuple[int, int], tuple[int, int]], "Together | Turns | None"]

__all__ = ["Run", "Task", "Together", "Turns", "Work", "course"]


class Work(NamedTuple):
    """Iterations on a number of GPUs.

    iteration_s: time of one on GPUs that no other job uses. change_s: time in which its circuits are set, before its
    first iteration and before each of its turns.
    """

    ranks: int
    iterations: int
    iteration_s: float
    change_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Time of all of them alone."""
        return self.change_s + self.iterations * self.iteration_s


class Task(NamedTuple):
    """A job: when it arrives, s, and its work on every number of GPUs that it accepts, the preferred one first."""

    arrival_s: float
    works: tuple[Work, ...]


class Together(NamedTuple):
    """Two jobs at once on the same GPUs: in a period, s, the first and the second do these numbers of iterations."""

    period_s: float
    iterations: tuple[int, int]


class Turns(NamedTuple):
    """Two jobs one after the other on the same GPUs: iterations of the first and of the second in a turn."""

    iterations: tuple[int, int]


@dataclass
class Run:
    """The outcome of a job.

    work: place in its works. gpus: those that it had. start_s, end_s: from the change of circuits before its first
    iteration to the end of its last. settings: how often the circuits of all of its GPUs were set for it, at its start
    and at its turns. alone: its iterations without another job or in turns with one. paired: its periods together with
    another one, by the places of both in the tasks, the one that was there first in front.
    """

    work: int
    gpus: tuple[int, ...]
    start_s: float
    end_s: float = math.nan
    settings: int = 0
    alone: int = 0
    paired: dict[tuple[int, int], int] = field(default_factory=dict)


class _End(NamedTuple):
    """The next end of a job on some GPUs: when, and of each job there its iterations, settings and periods until then.

    change: whether the circuits of a job that goes on have to be set.
    """

    time_s: float
    done: tuple[int, ...]
    settings: tuple[int, ...]
    periods: int


@dataclass
class _Group:
    """GPUs with one job, or two that share them.

    since_s: when the iterations that are left begin. joined_s: when the second job joined.
    """

    gpus: tuple[int, ...]
    since_s: float
    tasks: list[int]
    left: list[int]
    pair: Together | Turns | None = None
    joined_s: float = math.nan


def course(
    tasks: Sequence[Task],
    places: Places,
    order: Sequence[int],
    *,
    overtaking: bool,
    pairing: Pairing | None = None,
) -> list[Run]:
    """The run of every task.

    places: the GPUs, all free. order: places of the tasks, the one to start first in front. overtaking: whether a task
    starts before those in front of it that do not fit; otherwise tasks start in this order. pairing: how a task that
    does not fit shares the GPUs of another with as many ranks.

    A job keeps its GPUs to its end. Every task fits into GPUs that are all free.
    """
    return _Course(tasks, places, pairing).run(order, overtaking=overtaking)


class _Course:
    def __init__(self, tasks: Sequence[Task], places: Places, pairing: Pairing | None) -> None:
        self._tasks, self._places, self._pairing = tasks, places, pairing
        self._groups: list[_Group] = []
        self._runs: dict[int, Run] = {}

    def run(self, order: Sequence[int], *, overtaking: bool) -> list[Run]:
        to_start = list(order)
        arrivals = sorted({task.arrival_s for task in self._tasks})
        while to_start or self._groups:
            now_s = min([*arrivals[:1], *(self._next_end_of(group).time_s for group in self._groups)])
            if arrivals and arrivals[0] == now_s:
                arrivals.pop(0)
            for group in list(self._groups):
                end = self._next_end_of(group)
                if end.time_s == now_s:
                    self._end(group, end)
            for task in list(to_start):
                if self._tasks[task].arrival_s <= now_s and self._start(task, now_s):
                    to_start.remove(task)
                elif not overtaking:
                    break
        return [self._runs[task] for task in range(len(self._tasks))]

    def _next_end_of(self, group: _Group) -> _End:
        return _next_end(group, [self._work(task) for task in group.tasks])

    def _work(self, task: int) -> Work:
        return self._tasks[task].works[self._runs[task].work]

    def _start(self, task: int, now_s: float) -> bool:
        """Start a task now if there are GPUs for it, or others to share."""
        for place, work in enumerate(self._tasks[task].works):
            gpus = self._places.take(work.ranks)
            if gpus is not None:
                self._runs[task] = Run(place, gpus, now_s, settings=1)
                self._groups.append(_Group(gpus, now_s + work.change_s, [task], [work.iterations]))
                return True
        return self._pairing is not None and any(
            self._join(task, place, now_s) for place in range(len(self._tasks[task].works))
        )

    def _join(self, task: int, place: int, now_s: float) -> bool:
        """Let a task share the GPUs of another where both then end earlier, on average, than if it waits.

        Only the jobs that run now are known: other jobs that wait or arrive may change either. The other job goes on to
        the end of its iteration.
        """
        work = self._tasks[task].works[place]
        waiting_s = self._free_at_s(work.ranks, now_s) + work.total_s
        best: tuple[float, _Group, _Group] | None = None
        for group in self._groups:
            if len(group.tasks) > 1 or self._work(group.tasks[0]).ranks != work.ranks:
                continue
            shared = self._shared(group, task, place, now_s)
            if shared is None:
                continue
            gained_s = waiting_s + self._ends_s(group)[0] - sum(self._ends_s(shared, work))
            if gained_s > 0 and (best is None or gained_s > best[0]):
                best = gained_s, group, shared
        if best is None:
            return False
        _, group, shared = best
        self._runs[group.tasks[0]].alone += group.left[0] - shared.left[0]
        self._runs[task] = Run(place, group.gpus, shared.joined_s, settings=int(isinstance(shared.pair, Together)))
        self._groups[self._groups.index(group)] = shared
        return True

    def _shared(self, group: _Group, task: int, place: int, now_s: float) -> _Group | None:
        """The group of a job after another job joins it on the same GPUs; None where the two cannot share them."""
        assert self._pairing is not None  # noqa: S101 (`_start` asked)
        (first,) = group.tasks
        pair = self._pairing((first, self._runs[first].work), (task, place))
        iteration_s, work = self._work(first).iteration_s, self._tasks[task].works[place]
        done = min(max(0, math.ceil((now_s - group.since_s) / iteration_s)), group.left[0])
        if pair is None or done == group.left[0]:
            return None
        at_s = max(now_s, group.since_s + done * iteration_s)
        since_s = at_s + (work.change_s if isinstance(pair, Together) else 0.0)
        return _Group(group.gpus, since_s, [first, task], [group.left[0] - done, work.iterations], pair, at_s)

    def _free_at_s(self, ranks: int, now_s: float) -> float:
        """The time at which this many GPUs are free if no other job takes them."""
        free, at_s = self._places.free, now_s
        for last_s, gpus in sorted((max(self._ends_s(group)), len(group.gpus)) for group in self._groups):
            if free >= ranks:
                break
            free, at_s = free + gpus, last_s
        return at_s

    def _ends_s(self, group: _Group, joining: Work | None = None) -> list[float]:
        """The end of each job of a group if no other joins. joining: the work of its last, which has no run yet."""
        works = [self._work(task) for task in (group.tasks if joining is None else group.tasks[:-1])]
        works += [] if joining is None else [joining]
        end = _next_end(group, works)
        return [
            end.time_s + (work.change_s + (left - done) * work.iteration_s if left > done else 0.0)
            for work, left, done in zip(works, group.left, end.done, strict=True)
        ]

    def _end(self, group: _Group, end: _End) -> None:
        """Take note of what was done until the next end of a group, and of who goes on."""
        together = isinstance(group.pair, Together)
        for place, task in enumerate(group.tasks):
            run = self._runs[task]
            run.settings += end.settings[place]
            if together:
                both = group.tasks[0], group.tasks[1]
                run.paired[both] = run.paired.get(both, 0) + end.periods
            else:
                run.alone += end.done[place]
        left = [left - done for left, done in zip(group.left, end.done, strict=True)]
        for task, rest in zip(group.tasks, left, strict=True):
            if rest == 0:
                self._runs[task].end_s = end.time_s
        going_on = [(task, rest) for task, rest in zip(group.tasks, left, strict=True) if rest > 0]
        if not going_on:
            self._groups.remove(group)
            self._places.give_back(group.gpus)
            return
        ((task, rest),) = going_on
        self._runs[task].settings += 1
        group.tasks, group.left, group.pair = [task], [rest], None
        group.since_s = end.time_s + self._work(task).change_s


def _next_end(group: _Group, works: Sequence[Work]) -> _End:
    """The time at which the first job of a group ends if no other joins. works: those of its jobs."""
    if group.pair is None:
        return _End(group.since_s + group.left[0] * works[0].iteration_s, (group.left[0],), (0,), 0)
    needed = [-(-left // count) for left, count in zip(group.left, group.pair.iterations, strict=True)]
    if isinstance(group.pair, Together):
        periods = min(needed)
        done = tuple(min(left, periods * count) for left, count in zip(group.left, group.pair.iterations, strict=True))
        return _End(group.since_s + periods * group.pair.period_s, done, (0, 0), periods)
    # The job that joined has the first turn.
    old, new = 0, 1
    last, other = (new, old) if needed[new] <= needed[old] else (old, new)
    turns = {last: needed[last], other: needed[last] - (last == new)}
    done = tuple(min(group.left[one], turns[one] * group.pair.iterations[one]) for one in (old, new))
    time_s = group.since_s + sum(
        turns[one] * works[one].change_s + done[one] * works[one].iteration_s for one in (old, new)
    )
    return _End(time_s, done, (turns[old], turns[new]), 0)

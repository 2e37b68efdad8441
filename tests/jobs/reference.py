"""Courses of jobs by code that shares nothing with the product's: all decisions tried, and iterations one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Rigid(NamedTuple):
    """A job that needs this many GPUs, any of them, for so long."""

    arrival: int
    gpus: int
    length: int


def least_sum_of_completions(jobs: tuple[Rigid, ...], gpus: int) -> int:
    """The least sum of times from arrival to end over all courses in which a job keeps its GPUs to its end.

    At every arrival and end, every set of waiting jobs that fits may start, none of them among the sets. That is
    enough: a job that starts at another time can start at the arrival or the end before.
    """

    def best(now: int, waiting: frozenset[int], running: tuple[tuple[int, int], ...]) -> int:
        running = tuple(one for one in running if one[0] > now)
        free = gpus - sum(jobs[job].gpus for _, job in running)
        arrived = sorted(job for job in waiting if jobs[job].arrival <= now)
        least = None
        for chosen in _subsets(arrived):
            if sum(jobs[job].gpus for job in chosen) > free:
                continue
            ends = tuple((now + jobs[job].length, job) for job in chosen)
            left = waiting - set(chosen)
            own = sum(end - jobs[job].arrival for end, job in ends)
            after = [end for end, _ in running + ends] + [jobs[job].arrival for job in left if jobs[job].arrival > now]
            if left and not after:
                continue
            total = own + (best(min(after), left, running + ends) if left else 0)
            least = total if least is None else min(least, total)
        assert least is not None
        return least

    return best(min(job.arrival for job in jobs), frozenset(range(len(jobs))), ())


def _subsets(items: list[int]) -> Iterator[tuple[int, ...]]:
    for bits in range(1 << len(items)):
        yield tuple(item for place, item in enumerate(items) if bits >> place & 1)


def ends_in_turns(
    joined: float, left: tuple[int, int], times: tuple[float, float], counts: tuple[int, int], change: float
) -> tuple[float, float]:
    """The ends of two jobs that take turns from `joined` on, the second first, iteration by iteration.

    left, times: iterations of each, and the time of one. counts: iterations of a turn. change: time before each turn.
    """
    now, rest, ends, turn = joined, list(left), [0.0, 0.0], 1
    while any(rest):
        now += change
        # Without the other job a turn goes on to the end.
        for _ in range(counts[turn] if rest[1 - turn] else rest[turn]):
            if rest[turn] == 0:
                break
            now += times[turn]
            rest[turn] -= 1
        if rest[turn] == 0:
            ends[turn] = now
        turn = 1 - turn if rest[1 - turn] else turn
    return ends[0], ends[1]


def ends_together(
    joined: float,
    left: tuple[int, int],
    times: tuple[float, float],
    period: float,
    counts: tuple[int, int],
    change: float,
) -> tuple[float, float]:
    """The ends of two jobs that run at once from `joined` on, period by period; arguments as for `ends_in_turns`."""
    now, rest, ends = joined + change, list(left), [0.0, 0.0]
    while all(rest):
        now += period
        for job in (0, 1):
            rest[job] = max(0, rest[job] - counts[job])
            if rest[job] == 0:
                ends[job] = now
    for job in (0, 1):
        if rest[job]:
            now += change
            for _ in range(rest[job]):
                now += times[job]
            ends[job] = now
    return ends[0], ends[1]

"""The course of jobs: by hand, against all decisions, against iterations one by one, and by conservation laws."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from lightloom.jobs.course import Run, Task, Together, Turns, Work, course
from lightloom.jobs.orders import MOST_LISTED, ORDERS, ordered_course
from lightloom.jobs.places import AnyGpus, Blocks, Places
from tests.jobs.reference import Rigid, ends_in_turns, ends_together, least_sum_of_completions

if TYPE_CHECKING:
    from lightloom.jobs.course import Pairing

GPUS = 8


def drawn(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 (a test's draws, not a secret)


def simple(arrival: float, ranks: int, iterations: int, iteration_s: float = 1.0, change_s: float = 0.0) -> Task:
    return Task(arrival, (Work(ranks, iterations, iteration_s, change_s),))


def starts_and_ends(runs: Sequence[Run]) -> list[tuple[float, float]]:
    return [(run.start_s, run.end_s) for run in runs]


# Eight GPUs. The first job takes six of them up to 10. The second needs four and waits; the third needs two.
WAITING = (simple(0, 6, 10), simple(1, 4, 5), simple(2, 2, 3))


def test_first_come_first_served_lets_nobody_overtake() -> None:
    runs = course(WAITING, AnyGpus(GPUS), (0, 1, 2), overtaking=False)
    assert starts_and_ends(runs) == [(0, 10), (10, 15), (10, 13)]


def test_with_overtaking_a_job_that_fits_starts() -> None:
    runs = course(WAITING, AnyGpus(GPUS), (0, 1, 2), overtaking=True)
    assert starts_and_ends(runs) == [(0, 10), (10, 15), (2, 5)]
    assert runs[2].gpus == (6, 7)


def test_blocks_wait_where_any_gpus_do_not() -> None:
    # A ring of 8: a job in the middle leaves 2 and 3 free on its sides once its neighbour has left.
    tasks = (simple(0, 2, 4), simple(0, 3, 20), simple(5, 5, 1))
    anywhere = course(tasks, AnyGpus(GPUS), (0, 1, 2), overtaking=False)
    assert starts_and_ends(anywhere) == [(0, 4), (0, 20), (5, 6)]
    # 0 and 1 are free again and 5, 6, 7 are: together a segment of the ring over its end.
    ring = course(tasks, Blocks((8,)), (0, 1, 2), overtaking=False)
    assert ring[2].gpus == (0, 1, 5, 6, 7)
    apart = (simple(0, 2, 4), simple(0, 2, 20), simple(0, 2, 4), simple(0, 2, 20), simple(5, 4, 1))
    assert course(apart, AnyGpus(GPUS), range(5), overtaking=False)[4].start_s == 5
    assert course(apart, Blocks((8,)), range(5), overtaking=False)[4].start_s == 20


def test_a_job_takes_the_first_number_of_gpus_that_fits() -> None:
    flexible = Task(1.0, (Work(8, 4, 1.0), Work(2, 16, 1.0)))
    runs = course((simple(0, 4, 10), flexible), AnyGpus(GPUS), (0, 1), overtaking=False)
    assert (runs[1].work, runs[1].end_s, len(runs[1].gpus)) == (1, 17.0, 2)


def test_two_jobs_take_turns() -> None:
    # 100 iterations of 1 s; at 10.5 another of 4 iterations joins, which takes its turn from 11 on.
    tasks = (simple(0, 8, 100, change_s=0.25), simple(10.5, 8, 4, change_s=0.25))
    runs = course(tasks, AnyGpus(GPUS), (0, 1), overtaking=False, pairing=lambda *_: Turns((2, 3)))
    # From 0.25 on: the eleventh iteration ends at 11.25. Turns: 0.25 + 3, 0.25 + 2, 0.25 + 1, then 0.25 and 87 more.
    assert runs[1].start_s == 11.25
    assert runs[1].end_s == 11.25 + 3.25 + 2.25 + 1.25
    assert runs[0].end_s == 18.0 + 0.25 + (100 - 11 - 2)
    assert (runs[0].settings, runs[1].settings) == (3, 2)
    assert (runs[0].alone, runs[1].alone) == (100, 4)


def test_two_jobs_at_once() -> None:
    # Each alone takes 1 s for an iteration; together both take 1.2 s for one of the first and two of the second.
    tasks = (simple(0, 8, 100, change_s=0.5), simple(3, 8, 5, 0.5, change_s=0.5))
    runs = course(tasks, AnyGpus(GPUS), (0, 1), overtaking=False, pairing=lambda *_: Together(1.2, (1, 2)))
    # From 0.5 on: three iterations end at 3.5, circuits are set up to 4; three periods; set again; 94 iterations.
    assert runs[1].start_s == 3.5
    assert runs[1].end_s == pytest.approx(4.0 + 3.6)
    assert runs[0].end_s == pytest.approx(7.6 + 0.5 + 94)
    assert runs[0].paired == runs[1].paired == {(0, 1): 3}
    assert (runs[0].alone, runs[1].alone) == (97, 0)


def test_jobs_share_only_where_both_end_earlier_on_average() -> None:
    # Two equal jobs in turns: the first to come would lose what the second wins, and more.
    tasks = (simple(0, 8, 10), simple(0, 8, 10))
    runs = course(tasks, AnyGpus(GPUS), (0, 1), overtaking=False, pairing=lambda *_: Turns((1, 1)))
    assert starts_and_ends(runs) == [(0, 10), (10, 20)]


@pytest.mark.parametrize("seed", range(40))
def test_turns_are_those_of_iterations_one_by_one(seed: int) -> None:
    rng = drawn(seed)
    times = rng.choice([0.5, 1.0, 2.0]), rng.choice([0.25, 0.5, 1.0])
    iterations = rng.randint(20, 60), rng.randint(1, 12)
    counts = rng.randint(1, 4), rng.randint(1, 4)
    change = rng.choice([0.0, 0.125])
    tasks = tuple(simple(0, 8, *one, change) for one in zip(iterations, times, strict=True))
    runs = course(tasks, AnyGpus(GPUS), (0, 1), overtaking=False, pairing=lambda *_: Turns(counts))
    if runs[1].start_s >= runs[0].end_s:
        # The second waited: in turns they would end later, added up.
        in_turns = ends_in_turns(change, iterations, times, counts, change)
        assert sum(in_turns) >= runs[0].end_s + runs[1].end_s - 1e-9
        return
    expected = ends_in_turns(change, iterations, times, counts, change)
    assert (runs[0].end_s, runs[1].end_s) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_jobs_at_once_end_as_period_by_period(seed: int) -> None:
    rng = drawn(seed)
    times = rng.choice([0.5, 1.0, 2.0]), rng.choice([0.25, 0.5, 1.0])
    iterations = rng.randint(10, 40), rng.randint(1, 40)
    counts = rng.randint(1, 3), rng.randint(1, 3)
    alone = [count * time for count, time in zip(counts, times, strict=True)]
    period, change = rng.choice([max(alone), sum(alone), 1.5 * sum(alone)]), rng.choice([0.0, 0.125])
    tasks = tuple(simple(0, 8, *one, change) for one in zip(iterations, times, strict=True))
    runs = course(tasks, AnyGpus(GPUS), (0, 1), overtaking=False, pairing=lambda *_: Together(period, counts))
    expected = ends_together(change, iterations, times, period, counts, change)
    waiting = tasks[0].works[0].total_s, sum(task.works[0].total_s for task in tasks)
    # They share where that makes the sum of both ends smaller.
    least = min(expected, waiting, key=sum)
    assert (runs[0].end_s, runs[1].end_s) == pytest.approx(least, abs=1e-9)


def random_rigid(rng: random.Random) -> tuple[Rigid, ...]:
    return tuple(Rigid(rng.randint(0, 6), rng.randint(1, 4), rng.randint(1, 6)) for _ in range(rng.randint(2, 5)))


@pytest.mark.parametrize("seed", range(60))
def test_search_is_the_best_of_all_decisions(seed: int) -> None:
    jobs = random_rigid(drawn(seed))
    tasks = [simple(job.arrival, job.gpus, job.length) for job in jobs]
    sums = {}
    for order in ORDERS:
        runs, proved = ordered_course(
            order.name, tasks, lambda starts, overtaking: course(tasks, AnyGpus(4), starts, overtaking=overtaking)
        )
        assert proved == (order.name == "search")
        sums[order.name] = sum(run.end_s - task.arrival_s for run, task in zip(runs, tasks, strict=True))
    least = least_sum_of_completions(jobs, 4)
    assert sums["search"] == least
    assert min(sums.values()) == least


def test_some_jobs_are_better_off_when_one_waits_though_it_fits() -> None:
    """The judge tries what no rule without foresight does: the long job would hold the short ones up."""
    jobs = (Rigid(0, 4, 10), Rigid(1, 4, 1), Rigid(1, 4, 1))
    assert least_sum_of_completions(jobs, 4) == 1 + 2 + 13
    tasks = [simple(job.arrival, job.gpus, job.length) for job in jobs]
    runs = course(tasks, AnyGpus(4), (1, 2, 0), overtaking=False)
    assert starts_and_ends(runs) == [(3, 13), (1, 2), (2, 3)]


@pytest.mark.parametrize("seed", range(10))
def test_exchanges_never_lose_to_a_rule(seed: int) -> None:
    rng = drawn(seed)
    tasks = [simple(rng.randint(0, 9), rng.randint(1, 4), rng.randint(1, 9)) for _ in range(MOST_LISTED + 4)]

    def run(starts: Sequence[int], overtaking: bool) -> list[Run]:
        return course(tasks, AnyGpus(4), starts, overtaking=overtaking)

    def total(runs: list[Run]) -> float:
        return sum(one.end_s for one in runs)

    sums = {order.name: total(ordered_course(order.name, tasks, run)[0]) for order in ORDERS}
    assert min(sums.values()) == sums["search"]


PAIRINGS: dict[str, Pairing | None] = {
    "alone": None,
    "turns": lambda *_: Turns((2, 3)),
    "together": lambda *_: Together(1.5, (1, 2)),
}


@pytest.mark.parametrize("order", [order.name for order in ORDERS if order.name != "search"])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("wired", "pairing"), [(True, "alone"), *((False, name) for name in PAIRINGS)])
def test_nothing_is_lost(seed: int, order: str, pairing: str, wired: bool) -> None:
    rng = drawn(seed)
    tasks = [
        simple(rng.uniform(0, 20), rng.choice([2, 4, 4, 8]), rng.randint(1, 30), rng.choice([0.5, 1.0]), 0.1)
        for _ in range(8)
    ]

    def run(starts: Sequence[int], overtaking: bool) -> list[Run]:
        places: Places = Blocks((2, 4)) if wired else AnyGpus(GPUS)
        return course(tasks, places, starts, overtaking=overtaking, pairing=PAIRINGS[pairing])

    runs, _ = ordered_course(order, tasks, run)
    for index, (task, one) in enumerate(zip(tasks, runs, strict=True)):
        (work,) = task.works
        assert one.start_s >= task.arrival_s
        assert len(set(one.gpus)) == len(one.gpus) >= work.ranks
        together = sum(periods * ((1, 2)[both.index(index)]) for both, periods in one.paired.items())
        # A period may be the last of a job that has fewer iterations left.
        assert work.iterations <= one.alone + together < work.iterations + 2
        assert one.settings >= 1
        if not one.paired:
            assert one.end_s - one.start_s >= work.total_s - 1e-9
        if pairing == "alone":
            assert one.end_s == pytest.approx(one.start_s + work.total_s)
    for (a, one), (b, other) in itertools.combinations(enumerate(runs), 2):
        overlap = min(one.end_s, other.end_s) - max(one.start_s, other.start_s)
        if overlap > 0 and set(one.gpus) & set(other.gpus):
            assert pairing != "alone", (a, b)
            assert one.gpus == other.gpus
    # A GPU has two jobs at most at any time.
    for at_s in [one.start_s for one in runs]:
        for gpu in range(GPUS):
            assert sum(gpu in one.gpus and one.start_s <= at_s < one.end_s for one in runs) <= 2 - (pairing == "alone")
    if pairing == "turns":
        # Turns cost nothing but changes: what GPUs did is the iterations and the settings.
        busy_s = sum(
            len(one.gpus) * (task.works[0].total_s + (one.settings - 1) * 0.1)
            for task, one in zip(tasks, runs, strict=True)
        )
        assert busy_s <= GPUS * (max(one.end_s for one in runs) - min(task.arrival_s for task in tasks)) + 1e-9

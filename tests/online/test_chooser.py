"""The chooser: brute force over sequences finds its choices, it changes rarely, and its regret is bounded."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightloom as ll
from lightloom.online.chooser import useful
from lightloom.online.lines import Line
from tests.online.tables import real_table, table_of

SIZE = 1 << 20
# Least first, more changes for fewer seconds.
TWO = [Line(3e-6, 0.0, 0), Line(1e-6, 0.0, 2)]
BREAK_EVEN_S = 1e-6

lines_of = st.lists(st.builds(Line, st.floats(1e-6, 1e-3), st.just(0.0), st.integers(0, 6)), min_size=2, max_size=5)
delays_of = st.lists(st.floats(1e-7, 1e-3), min_size=1, max_size=60)


def choices(chooser: ll.PlanChooser, delays_s: list[float]) -> list[int]:
    """The plan of every call, each of which measures its delay."""
    made = []
    for delay_s in delays_s:
        made.append(chooser.choose(SIZE))
        chooser.observe(SIZE, delay_s)
    return made


def excess_s(
    lines: list[Line], places: list[int], delays_s: list[float]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """By call and plan, seconds above the best plan's."""
    every = np.array([[lines[place].time_s(SIZE, delay_s) for place in places] for delay_s in delays_s])
    above: np.ndarray[tuple[int, int], np.dtype[np.float64]] = every - every.min(axis=1, keepdims=True)
    return above


@given(lines_of)
def test_useful_plans_are_those_that_are_best_at_some_delay(lines: list[Line]) -> None:
    crossings = [
        (other.fixed_s - one.fixed_s) / (one.changes - other.changes)
        for one, other in product(lines, lines)
        if one.changes != other.changes
    ]
    points = sorted({0.0, *(delay for delay in crossings if delay > 0), 1e3})
    # Who is best changes at crossings only, so that the middles between them say it all.
    tried = [(one + other) / 2 for one, other in pairwise(points)] + points
    best = {min(range(len(lines)), key=lambda place: lines[place].time_s(SIZE, delay)) for delay in tried}
    kept = useful(lines, SIZE)
    for place in best:
        # Equal times may go by any of the plans.
        assert any(
            place == other or lines[other].time_s(SIZE, delay) <= lines[place].time_s(SIZE, delay) * (1 + 1e-9)
            for other in kept
            for delay in tried
        )
    for delay in tried:
        least_s = min(line.time_s(SIZE, delay) for line in lines)
        assert min(lines[place].time_s(SIZE, delay) for place in kept) == pytest.approx(least_s, rel=1e-9)


@given(lines_of, st.lists(st.floats(1e-7, 1e-3), min_size=1, max_size=5), st.floats(1e-6, 1e-3))
def test_a_plan_is_kept_until_changing_at_once_is_no_worse_in_hindsight(
    lines: list[Line], delays_s: list[float], change_s: float
) -> None:
    chooser = ll.PlanChooser(table_of(lines), delay=delays_s[0], change_cost=change_s, window=1)
    places = useful(lines, SIZE)
    first = current = chooser.choose(SIZE)
    for count in range(1, len(delays_s) + 1):
        assert chooser.choose(SIZE) == current
        chooser.observe(SIZE, delays_s[count - 1])
        # The least time of the calls so far that ends with each plan: over all sequences of plans.
        ending = dict.fromkeys(places, float("inf"))
        for sequence in product(places, repeat=count):
            path = (first, *sequence)
            time_s = sum(lines[p].time_s(SIZE, d) for p, d in zip(sequence, delays_s[:count], strict=True))
            time_s += change_s * sum(a != b for a, b in pairwise(path))
            for last in places:
                ending[last] = min(ending[last], time_s + change_s * (last != sequence[-1]))
        least_s = min(ending.values())
        gap = (ending[current] - least_s) / change_s
        if gap >= 1 - 1e-6:
            current = chooser.choose(SIZE)
            # Close to the limit rounding decides.
            assert ending[current] <= least_s * (1 + 1e-9) or gap < 1 + 1e-6
        assert chooser.choose(SIZE) == current


@given(lines_of, delays_of, st.floats(1e-6, 1e-3))
def test_regret_is_bounded_on_every_trace(lines: list[Line], delays_s: list[float], change_s: float) -> None:
    chooser = ll.PlanChooser(table_of(lines), delay=delays_s[0], change_cost=change_s, window=1)
    places = useful(lines, SIZE)
    taken = choices(chooser, delays_s)
    above = excess_s(lines, places, delays_s)
    own = np.array([above[call, places.index(place)] for call, place in enumerate(taken)])
    changes = chooser.changes(SIZE)
    # The least of all sequences that start with the first plan, by dynamic programming of its own.
    best = np.where(np.array(places) == taken[0], 0.0, change_s)
    for row in above:
        best = np.minimum(best, best.min() + change_s) + row
    largest = float(above.max())
    total_s = float(own.sum()) + changes * change_s
    bound_s = (2 * len(places) - 1) * float(best.min()) + changes * largest
    assert total_s <= bound_s * (1 + 1e-9) + 1e-15
    # A change needs the plan's own excess to add up to its cost.
    assert changes * change_s <= float(own.sum()) * (1 + 1e-9) + 1e-15


@given(st.floats(0.01, 0.99), st.integers(1, 400))
def test_a_delay_that_flickers_about_break_even_changes_nothing(part: float, calls: int) -> None:
    # The times differ by 2 (delay - break-even): two changes of circuits against none. Below the cost of a change, the
    # excess of one call is made good by the next.
    change_s = 1e-6
    amplitude_s = part * change_s / 2 * 0.999
    delays_s = [BREAK_EVEN_S + (amplitude_s if call % 2 else -amplitude_s) for call in range(calls)]
    chooser = ll.PlanChooser(table_of(TWO), delay=delays_s[0], change_cost=change_s, window=1)
    assert set(choices(chooser, delays_s)) == {1}
    assert chooser.changes(SIZE) == 0


def test_a_delay_that_stays_changed_changes_the_plan_once_and_soon() -> None:
    # 0.2 µs a call are lost after the step, and the entries are 2 µs apart: from -1 µs to 1 µs.
    delays_s = [0.9e-6] * 30 + [1.1e-6] * 30
    chooser = ll.PlanChooser(table_of(TWO), delay=delays_s[0], change_cost=1e-6, window=1)
    taken = choices(chooser, delays_s)
    assert taken[:30] == [1] * 30
    assert chooser.changes(SIZE) == 1
    assert 39 <= taken.index(0) <= 41


def test_one_delay_that_is_far_off_is_left_out_by_the_median() -> None:
    delays_s = [0.5e-6] * 10 + [1.0] + [0.5e-6] * 10
    chooser = ll.PlanChooser(table_of(TWO), delay=delays_s[0], change_cost=1e-6, window=3)
    assert set(choices(chooser, delays_s)) == {1}
    assert chooser.delay_s == 0.5e-6


def test_without_a_measurement_the_estimate_stays_and_a_probe_replaces_it() -> None:
    chooser = ll.PlanChooser(table_of(TWO), delay="1ms", change_cost="1us")
    for _ in range(10):
        assert chooser.choose(SIZE) == 0
        chooser.observe(SIZE, None)
    assert chooser.delay_s == 1e-3
    chooser.probed("100ns")
    assert chooser.delay_s == 1e-7
    for _ in range(10):
        chooser.observe(SIZE, None)
    assert chooser.choose(SIZE) == 1


def test_sizes_have_plans_of_their_own_and_share_the_estimate() -> None:
    table = real_table()
    small, large = (ends for ends in table.sizes_bytes)
    chooser = ll.PlanChooser(table, delay="100us")
    at_first = [chooser.choose(size) for size in (small, large)]
    assert at_first == [table.choose(size, 1e-4) for size in (small, large)]
    assert at_first[0] != at_first[1]
    chooser.observe(large, "90us")
    assert chooser.choose(small) == at_first[0]
    assert chooser.delay_s == 9e-5


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"change_cost": 0}, "change_cost"),
        ({"window": 0}, "window"),
        ({"delay": "soon"}, "delay"),
        ({"delay": "2ms"}, "delay"),
        ({"delay": 1e-7}, "delay"),
    ],
)
def test_what_is_refused_names_its_argument(given: dict[str, object], field: str) -> None:
    with pytest.raises(ll.InputError) as error:
        ll.PlanChooser(real_table(), **{"delay": "1us", **given})  # type: ignore[arg-type]
    assert error.value.field == field


def test_measured_delays_beyond_the_table_count_as_its_nearest_end() -> None:
    table = real_table()
    chooser = ll.PlanChooser(table, delay="1us", change_cost="1ns", window=1)
    for measured, estimate_s in (("5s", 1e-3), ("10us", 1e-5), ("0s", 1e-6)):
        chooser.observe("64MiB", measured)
        assert chooser.delay_s == estimate_s
        assert chooser.choose("64MiB") == table.choose("64MiB", estimate_s)
    chooser.probed("3s")
    assert chooser.delay_s == 1e-3
    # What was measured is kept: the median is of it, and not of the ends.
    chooser = ll.PlanChooser(table, delay="1us", window=2)
    for measured_s in (2e-4, 1.4e-3):
        chooser.observe("64MiB", measured_s)
    assert chooser.delay_s == pytest.approx(8e-4)


def test_a_size_outside_of_the_table_has_no_choice() -> None:
    chooser = ll.PlanChooser(real_table(), delay="1us")
    with pytest.raises(ll.InputError, match=r"^size: `1 KiB` is not accepted: the table is for 1 MiB to 256 MiB$"):
        chooser.choose("1KiB")

"""The choice of a plan at every call by measured delays, with a hysteresis that is proved to cost little.

For each size a work function w (Borodin, Linial and Saks 1992) says of every plan the least time of the calls so far,
changes of plan included, that ends with it. After a call it grows by the time of each plan at the estimated delay, and
no entry exceeds the least one by more than the cost D of a change. The plan is changed when its own entry has come to
that limit: keeping it has then become no better than having used the other plan and changing now. The choice uses no
clock and nothing random, so that the same measurements give the same choices.

The bound and its proof are in docs/how-to/choose-at-each-call.md.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.quantities import bytes_of, seconds_of
from lightloom.online.ranges import check_delay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.online.lines import Line
    from lightloom.online.table import PlanTable

__all__ = ["WINDOW", "PlanChooser", "useful"]

# Measured delays whose median is the estimate.
WINDOW = 3
MOST_WINDOW = 10_000
# Sizes whose work functions are kept; the one that was used last is at the end.
MOST_SIZES = 1024


def useful(lines: Sequence[Line], size_bytes: float) -> list[int]:
    """Places of the plans that take least at this size and at some delay of 0 or more, in order."""
    fixed_s = [line.time_s(size_bytes, 0.0) for line in lines]
    kept = []
    for place, (own_s, line) in enumerate(zip(fixed_s, lines, strict=True)):
        first_s, last_s = 0.0, float("inf")
        for other, (other_s, against) in enumerate(zip(fixed_s, lines, strict=True)):
            more = line.changes - against.changes
            if more > 0:
                last_s = min(last_s, (other_s - own_s) / more)
            elif more < 0:
                first_s = max(first_s, (own_s - other_s) / -more)
            elif (other_s, other) < (own_s, place):
                last_s = -1.0
        if first_s <= last_s:
            kept.append(place)
    return kept


@dataclass
class _Calls:
    """Calls of one size: the plans that compete, the place among them that is taken, and the work function, s."""

    places: list[int]
    taken: int
    work_s: list[float]
    changes: int = 0


class PlanChooser:
    """Chooses a plan of a table for every call, by the delays that calls before it measured.

        chooser = PlanChooser(table, delay="20us")
        place = chooser.choose("64MiB")
        ...                                      # run table.plan("64MiB", chooser.delay_s, place)
        chooser.observe("64MiB", measured_s)     # None where the call changed no circuits

    delay: the estimate before anything is measured, `"20us"` or seconds, in the table's range. change_cost: seconds
        that are lost when another plan is taken; the geometric middle of the table's delays unless it is said. window:
        measured delays whose median is the estimate.

    Measured delays may be beyond the table's range: the estimate is then its nearest end, for which the table's
    tolerance holds. Sizes are in the table's range.

    One process calls it, the one that has the switch change its circuits, and tells all ranks which plan it is: they
    cannot disagree. Raises `InputError` that names the argument.
    """

    def __init__(
        self,
        table: PlanTable,
        *,
        delay: str | float,
        change_cost: str | float | None = None,
        window: int = WINDOW,
    ) -> None:
        first_s, last_s = table.delays_s
        self._table = table
        self._change_s = (first_s * last_s) ** 0.5 if change_cost is None else seconds_of("change_cost", change_cost)
        if not self._change_s > 0:
            raise refuse("change_cost", f"`{shown(change_cost)}` is not accepted; it takes a time above 0")
        self._measured: deque[float] = deque(maxlen=whole_number("window", window, 1, MOST_WINDOW))
        self._ends_s = table.delays_s
        self._delay_s = check_delay("delay", seconds_of("delay", delay), self._ends_s, f"`{shown(delay)}`")
        self._sizes: OrderedDict[int, _Calls] = OrderedDict()

    @property
    def delay_s(self) -> float:
        """The estimated delay: the median of those that were measured last, in the table's range, s."""
        return self._delay_s

    @property
    def change_cost_s(self) -> float:
        """Seconds that a change of plan counts as."""
        return self._change_s

    def choose(self, size: str | float) -> int:
        """The place of the plan for the next call of this size, bytes of a rank's whole buffer."""
        calls = self._calls_of(bytes_of("size", size))
        return calls.places[calls.taken]

    def observe(self, size: str | float, delay: str | float | None) -> None:
        """Take into account a call of this size, and the delay that it measured; None where it measured none."""
        if delay is not None:
            self._measure(seconds_of("delay", delay))
        size_bytes = bytes_of("size", size)
        calls = self._calls_of(size_bytes)
        lines = self._table.lines
        raised = [
            work_s + lines[place].time_s(size_bytes, self._delay_s)
            for work_s, place in zip(calls.work_s, calls.places, strict=True)
        ]
        least_s = min(raised)
        calls.work_s = [min(one - least_s, self._change_s) for one in raised]
        if len(raised) > 1 and calls.work_s[calls.taken] >= self._change_s:
            calls.taken = calls.work_s.index(0.0)
            calls.changes += 1

    def probed(self, delay: str | float) -> None:
        """Take into account a delay that was measured outside of calls, in place of those before, which are old."""
        delay_s = seconds_of("delay", delay)
        self._measured.clear()
        self._measure(delay_s)

    def changes(self, size: str | float) -> int:
        """How often the plan of this size has been changed."""
        return self._calls_of(bytes_of("size", size)).changes

    def _measure(self, delay_s: float) -> None:
        self._measured.append(delay_s)
        least_s, most_s = self._ends_s
        self._delay_s = min(max(median(self._measured), least_s), most_s)

    def _calls_of(self, size_bytes: int) -> _Calls:
        calls = self._sizes.get(size_bytes)
        if calls is None:
            places = useful(self._table.lines, size_bytes)
            taken = places.index(self._table.choose(size_bytes, self._delay_s))
            work_s = [0.0 if place == taken else self._change_s for place in range(len(places))]
            calls = self._sizes[size_bytes] = _Calls(places, taken, work_s)
            if len(self._sizes) > MOST_SIZES:
                self._sizes.popitem(last=False)
        self._sizes.move_to_end(size_bytes)
        return calls

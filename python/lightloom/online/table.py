"""Plans for a range of sizes and reconfiguration delays, and which of them is taken where."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.base.files import read_text, write_bytes
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.quantities import bytes_of, seconds_of
from lightloom.online.checks import checks_of
from lightloom.online.lines import Line, line_of
from lightloom.online.ranges import check_size
from lightloom.online.reader import MAX_FILE_BYTES, SCHEMA, parts_of
from lightloom.online.retiming import retimed

if TYPE_CHECKING:
    import os
    from typing import Self

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.online.covering import Box
    from lightloom.planning import Check
    from lightloom.plans import Plan

__all__ = ["PlanTable"]

# Sizes, and delays, at which the shares of the range are counted.
LATTICE = 101
# Delays below this are read without their reader, s.
MOST_DELAY_S = 1e6


@dataclass(frozen=True, eq=False)
class PlanTable(Table):
    """A few plans, of which one is close to the best at every size and delay of a range; immutable.

    tolerance: how much longer than the best the plan of a box takes at most, as a share. sizes_bytes: of a rank's whole
    buffer, and delays_s: constant reconfiguration delays, the ends of the range. boxes: parts of the range, each with
    the plan that is within the tolerance in it. plans: each at the size and delay for which it was made.

    Made by `lightloom.plan_table`, or read back by `PlanTable.load` and `PlanTable.from_json`.
    """

    tolerance: float
    sizes_bytes: tuple[int, int]
    delays_s: tuple[float, float]
    boxes: tuple[Box, ...]
    plans: tuple[Plan, ...]

    @classmethod
    def unjudged(cls, text: str) -> Self:
        """The table that `to_json` wrote, without checking it. Raises `InputError` that names the place of a fault."""
        return cls(*parts_of(text))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The same, which must pass `verify`. Raises `InputError` that names the check that it fails."""
        table = cls.unjudged(text)
        for check in table.verify():
            if not check.passed:
                raise refuse("table", f"check `{check.name}` fails: {check.detail}")
        return table

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The table in a JSON file; errors as for `from_json`."""
        return cls.from_json(read_text("table", path, MAX_FILE_BYTES))

    def to_json(self) -> str:
        """The table as JSON of schema `lightloom.plan-table/1`."""
        told = {
            "schema": SCHEMA,
            "collective": self.collective,
            "gpus": self.gpus,
            "tolerance": self.tolerance,
            "sizes_bytes": list(self.sizes_bytes),
            "delays_s": list(self.delays_s),
            "boxes": [box._asdict() for box in self.boxes],
            "plans": [json.loads(plan.to_json()) for plan in self.plans],
        }
        return json.dumps(told, ensure_ascii=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json()` to a file, whole or not at all. Raises `InputError` when it cannot be written."""
        write_bytes("output", path, (self.to_json() + "\n").encode())

    def verify(self) -> list[Check]:
        """The checks of every plan, by `lightloom.verify`, and those of the boxes."""
        return checks_of(self.plans, self.boxes, self.sizes_bytes, self.delays_s, self.tolerance)

    @property
    def collective(self) -> str:
        """Name of the collective."""
        return self.plans[0].collective

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return self.plans[0].gpus

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The time of each plan as a function of size and delay."""
        return tuple(map(line_of, self.plans))

    def choose(self, size: str | float, delay: str | float) -> int:
        """The place of the plan that takes least at this size and delay, the first of those that do.

        size: `"64MiB"` or bytes of a rank's whole buffer, in the range of sizes. delay: `"10us"` or seconds; outside of
        the range of delays the plan is still the best of the table, and the tolerance says nothing.

        In time proportional to the number of plans, without reading text for an `int` and a `float`. Raises
        `InputError`.
        """
        # The readers of text take longer than the choice.
        size_bytes = size if type(size) is int else bytes_of("size", size)
        delay_s = delay if type(delay) is float and 0.0 <= delay < MOST_DELAY_S else seconds_of("delay", delay)
        if not self.sizes_bytes[0] <= size_bytes <= self.sizes_bytes[1]:
            check_size(bytes_of("size", size), self.sizes_bytes)
        return self._best(size_bytes, delay_s)

    def _best(self, size_bytes: float, delay_s: float) -> int:
        times_s = [fixed_s + byte_s * size_bytes + changes * delay_s for fixed_s, byte_s, changes in self.lines]
        return times_s.index(min(times_s))

    def plan(self, size: str | float, delay: str | float, place: int | None = None) -> Plan:
        """The plan of that place, or the one that takes least, timed for this size and delay.

        size: `"64MiB"` or bytes of a rank's whole buffer; delay: `"10us"` or seconds. Raises `InputError`.
        """
        size_bytes, delay_s = bytes_of("size", size), seconds_of("delay", delay)
        if place is None:
            return retimed(self.plans[self.choose(size_bytes, delay_s)], size_bytes, delay_s)
        return retimed(self.plans[whole_number("place", place, 0, len(self.plans) - 1)], size_bytes, delay_s)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The share of the range (log size × log delay) in which each plan is the fastest."""
        (smallest, largest), (least_s, most_s) = self.sizes_bytes, self.delays_s
        sizes, delays = np.geomspace(smallest, largest, LATTICE), np.geomspace(least_s, most_s, LATTICE)
        chosen = self.chosen(sizes, delays)
        return tuple(float((chosen == place).mean()) for place in range(len(self.plans)))

    def chosen(self, sizes: NDArray[Any], delays: NDArray[Any]) -> NDArray[Any]:
        """Places of the plans that take least, `[size][delay]`."""
        return np.array([[self._best(size, delay_s) for delay_s in delays.tolist()] for size in sizes.tolist()])

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The plan that is taken at every size and delay, with the boxes; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("PlanTable.plot", self, path)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a plan."""
        return {
            "plan": list(range(len(self.plans))),
            "algorithm": [plan.algorithm for plan in self.plans],
            "planner": [plan.planner for plan in self.plans],
            "steps": [len(plan.steps) for plan in self.plans],
            "changes": [line.changes for line in self.lines],
            "fixed_s": [line.fixed_s for line in self.lines],
            "byte_s": [line.byte_s for line in self.lines],
            "share": list(self.shares),
        }

    def __repr__(self) -> str:
        sizes = " to ".join(_core.show_size(size) for size in self.sizes_bytes)
        delays = " to ".join(_core.show_time(delay_s) for delay_s in self.delays_s)
        plans = _core.counted(len(self.plans), "plan")
        return f"PlanTable({self.collective}, {self.gpus} GPUs, {sizes}, {delays}: {plans})"

"""The same problem at many sizes, as a table like that of NCCL's tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse, shown
from lightloom.base.files import check_folder, write_folder
from lightloom.base.frames import Table
from lightloom.base.views import html
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.ranges import MAX_VALUES, in_range
from lightloom.inputs.requests import PER_PAIR
from lightloom.planning import plan
from lightloom.planning.problem import Problem

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from lightloom.inputs.options import Settings
    from lightloom.plans import Plan

FACTOR = 2.0
# Sizes that are planned together.
AT_ONCE = 256
ACCEPTS = (
    "it takes a range such as 1KiB:1GiB, each size twice the one before, or 1KiB:1GiB:4, each 4 times the one before; "
    "in Python also a list"
)


class SizeRow(NamedTuple):
    """The plan of one size: seconds, and bytes per second as NCCL's tests count them."""

    size_bytes: int
    total_s: float
    algbw: float
    busbw: float
    algorithm: str
    planner: str
    reconfigurations: int


@dataclass(frozen=True, slots=True)
class SizeTable(Table):
    """The plans of many sizes, in the order of the sizes."""

    collective: str
    gpus: int
    rows: tuple[SizeRow, ...]

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a size."""
        return {name: [getattr(row, name) for row in self.rows] for name in SizeRow._fields}

    def __repr__(self) -> str:
        ends = [_core.show_size(row.size_bytes) for row in (self.rows[0], self.rows[-1])]
        return f"SizeTable({self.collective}, {self.gpus} GPUs, {len(self.rows)} sizes from {ends[0]} to {ends[1]})"

    def _repr_html_(self) -> str:
        return html("SizeTable._repr_html_", self)


def plan_sizes(
    collective: str | None = None,
    sizes: str | Sequence[str | float] = "1KiB:1GiB",
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    budget: str | float | None = None,
    invariant_under: str | int | None = None,
    report: Callable[[int], None] | None = None,
    output: str | os.PathLike[str] | None = None,
    **settings: Unpack[Settings],
) -> SizeTable:
    """Plans at every size, prepared once; other arguments and errors as for `plan`.

    sizes: `"1KiB:1GiB"`, doubled from the first to at most the last, `"1KiB:1GiB:4"` for another factor, with `/pair`
        behind for blocks of an All-to-All; or a list of sizes as `plan` takes them.
    report: is called with how many more sizes are done.
    output: a folder that is not there or empty, to which the plan of every size is written, as `COLLECTIVE-BYTES.json`.
    """
    if output is not None:
        check_folder("output", output)
    fabric = fabric if isinstance(fabric, Fabric) else Fabric.load("default" if fabric is None else fabric)
    asked = size_list(sizes)
    named = _core.capabilities(str(settings.get("planner", "auto")))
    calls_solver = named is not None and named["calls_solver"]
    if output is not None or budget is not None or invariant_under is not None or calls_solver:
        # Whole plans are written; searches and proofs are of each size.
        own: dict[str, Any] = {"budget": budget, "invariant_under": invariant_under}
        plans = []
        for size in asked:
            plans.append(plan(collective, size, fabric=fabric, **own, **settings))
            if report is not None:
                report(1)
        if output is not None:
            files = {f"{one.collective}-{one.size_bytes}.json": f"{one.to_json().rstrip()}\n".encode() for one in plans}
            write_folder("output", output, files)
        return SizeTable(plans[0].collective, plans[0].gpus, tuple(map(_row_of_plan, plans)))
    problem = Problem(collective, asked[0], fabric=fabric, **settings)
    size_bytes = problem.buffer_bytes(asked)
    rows: list[SizeRow] = []
    # Neighbours share searches: pieces are as small as a sign of life needs, and no smaller.
    for first in range(0, len(asked), AT_ONCE):
        piece = size_bytes[first : first + AT_ONCE]
        swept = problem.sweep(piece, fabric.reconfiguration.fixed_s)
        for size in piece[np.isinf(swept.total_s)][:1]:
            # Raises the error that says why nothing serves this size.
            plan(collective, int(size), fabric=fabric, **settings)
        algbw = piece / swept.total_s
        busbw = algbw * _core.bus_factor(problem.collective, problem.gpus)
        columns = swept.total_s, algbw, busbw, swept.algorithm, swept.planner, swept.reconfigurations
        rows += map(SizeRow, map(int, piece), *(column.tolist() for column in columns))
        if report is not None:
            report(len(piece))
    return SizeTable(problem.collective, problem.gpus, tuple(rows))


def _row_of_plan(made: Plan) -> SizeRow:
    rates = made.algbw, made.busbw
    return SizeRow(made.size_bytes, made.total_s, *rates, made.algorithm, made.planner, made.reconfigurations)


def size_list(sizes: str | Sequence[str | float]) -> list[str | float]:
    """The sizes of a list or a range, smallest first in a range. Raises `InputError` that names `sizes`."""
    if not isinstance(sizes, str):
        if not isinstance(sizes, (list, tuple)) or not 0 < len(sizes) <= MAX_VALUES:
            raise refuse("sizes", f"`{shown(sizes)}` is not accepted; {ACCEPTS}")
        return list(sizes)
    per_pair = PER_PAIR if sizes.strip().endswith(PER_PAIR) else ""
    parts = [part.strip() for part in sizes.strip().removesuffix(PER_PAIR).split(":")]
    if len(parts) not in {2, 3} or not all(parts):
        raise refuse("sizes", f"`{shown(sizes)}` is not accepted; {ACCEPTS}")
    low, high = (_core.parse_size("sizes", part) for part in parts[:2])
    if low > high:
        raise refuse("sizes", f"`{shown(sizes)}` begins above its end; {ACCEPTS}")
    spaced = {"from": low, "to": high, "factor": _factor(sizes, parts[2:])}
    numbers = in_range("sizes", spaced, lambda number: float(str(number)), whole=True)
    return [f"{int(number)}B{per_pair}" for number in numbers]


def _factor(sizes: str, given: Sequence[str]) -> float:
    try:
        return float(given[0]) if given else FACTOR
    except ValueError as error:
        raise refuse(
            "sizes", f"`{shown(sizes)}` has the factor `{shown(given[0])}`; it takes a number above 1"
        ) from error

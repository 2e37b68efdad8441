"""Reader of measured times: a CSV file with a header, a row per measurement."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

import numpy as np

from lightloom.base.errors import InputError, refuse, shown, unknown_name
from lightloom.base.files import MIB, read_lines
from lightloom.base.whole_numbers import whole_number
from lightloom.calibration.nccl_tests import COLUMNS as NCCL_TESTS_COLUMNS
from lightloom.calibration.nccl_tests import is_nccl_tests, nccl_tests_rows
from lightloom.inputs.quantities import bytes_of, seconds_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

FIELD = "measurements"
MAX_FILE_BYTES = 64 * MIB
MAX_STEPS = 1_000_000
MAX_CHARACTERS = 1000
MAX_ROWS, MAX_LINE, MAX_LINES = 20_000, 1 << 16, 200_000
# Lines among which nccl-tests say what they are; what a job's own scripts print may come before.
BEGINNING = 1000
# No clock tells shorter times, and results of longer ones would exceed a float.
LEAST_S, MOST_S = 1e-15, 1e9
# Seconds in the unit of a column of plain numbers.
TIME_COLUMNS = {"time_s": 1.0, "time_ms": 1e-3, "time_us": 1e-6, "time_ns": 1e-9}
SIZE_COLUMNS = ("size_bytes", "size")
COUNT_COLUMNS = ("steps", "hops", "wire_bytes")
SCHEDULE_COLUMNS = ("collective", "algorithm", "gpus", "topology", "ports", "dims")
COLUMNS = (*SIZE_COLUMNS, *TIME_COLUMNS, "time", *COUNT_COLUMNS, *SCHEDULE_COLUMNS)
FORM = "a header with size_bytes and time_us (or time_s, time_ms, time_ns, time), then a row per measurement"
# Routings of derived rows; the default is one path per transfer, as network cards use.
ROUTINGS = ("single-path", "equal-split")


class ScheduleOf(TypedDict, total=False):
    """The schedule of every row that does not state its own: steps, hops and bytes on the wire follow from it.

    collective, algorithm, topology: names of `lightloom list`; the ring where no topology is said.
    gpus, ports: whole numbers; dims: the grid, `"4x4"`.
    """

    collective: str | None
    algorithm: str | None
    gpus: str | int | None
    topology: str | None
    ports: str | int | None
    dims: str | None


class Row(NamedTuple):
    """One measurement. size_bytes of the rank's buffer; hops and wire_bytes are sums over the steps.

    wire_bytes: bytes on the busiest link of each step.
    """

    line: int
    size_bytes: float
    time_s: float
    steps: float
    hops: float
    wire_bytes: float


@dataclass(frozen=True)
class Measurements:
    """Measured times and their sends or collectives, as arrays of one entry a row."""

    rows: tuple[Row, ...]
    ignored_columns: tuple[str, ...] = ()

    def _column(self, place: int) -> NDArray[np.float64]:
        return np.array([row[place] for row in self.rows], dtype=np.float64)

    @cached_property
    def size_bytes(self) -> NDArray[np.float64]:
        """Bytes of the rank's buffer."""
        return self._column(1)

    @cached_property
    def time_s(self) -> NDArray[np.float64]:
        """Measured times."""
        return self._column(2)

    @cached_property
    def steps(self) -> NDArray[np.float64]:
        """Steps, each of which pays the startup."""
        return self._column(3)

    @cached_property
    def hops(self) -> NDArray[np.float64]:
        """Hops of the longest paths, summed over the steps."""
        return self._column(4)

    @cached_property
    def wire_bytes(self) -> NDArray[np.float64]:
        """Bytes on the busiest link, summed over the steps."""
        return self._column(5)


def read_measurements(
    path: str | os.PathLike[str], *, routing: str = "single-path", **schedule: Unpack[ScheduleOf]
) -> Measurements:
    """The measurements in a CSV file of at most 64 MiB; empty lines and lines that start with `#` are skipped.

    Columns, separated by commas, semicolons or tabs: `size_bytes` (or `size`), bytes or text such as 64MiB; one of
    `time_s`, `time_ms`, `time_us`, `time_ns`, or `time` with a unit in each cell; and where the times are not of one
    transfer over one hop, either `steps` (1), `hops` (as many as steps) and `wire_bytes` (the size), or `collective`,
    `algorithm` and `gpus` from which these follow, with `topology`, `ports` and `dims`. Other columns are ignored, and
    named in the result. The output of NVIDIA's nccl-tests is taken as it is, too: every time of its rows, out of place
    and in place; `algorithm` has to be said, and `collective` where the output does not say it.

    routing: `single-path` or `equal-split`, of what is derived; schedule: see `ScheduleOf`, of rows that do not say it.

    Raises `InputError` that names `measurements`, the row and the column at fault.
    """
    if not isinstance(routing, str) or routing not in ROUTINGS:
        raise unknown_name("routing", routing, ROUTINGS)
    for name, value in schedule.items():
        if value is not None and not isinstance(value, (str, int)):
            raise refuse(name, f"`{shown(value)}` is not accepted; it takes a name or a whole number")
    # Rows of one schedule differ only in size.
    usage_of = lru_cache(maxsize=256)(partial(_usage, routing))
    rows: list[Row] = []
    table = _table(path, schedule)
    _, header = next(table)
    for line, cells in table:
        if len(rows) == MAX_ROWS:
            raise refuse(FIELD, f"`{path}` has more than {MAX_ROWS} rows")
        where = f"row {len(rows) + 1} (line {line} of `{path}`)"
        if len(cells) != len(header):
            raise refuse(FIELD, f"{where} has {len(cells)} cells, the header {len(header)}")
        said = {name: cell for name, cell in zip(header, cells, strict=True) if cell and name in COLUMNS}
        rows.append(_row(line, where, said, schedule, usage_of))
    if not rows:
        raise refuse(FIELD, f"`{path}` has no rows; it takes {FORM}")
    return Measurements(tuple(rows), tuple(name for name in header if name not in COLUMNS))


def _table(path: str | os.PathLike[str], schedule: ScheduleOf) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells without blanks around them, the checked header first."""
    separator = ""
    lines = read_lines(FIELD, path, MAX_FILE_BYTES, longest=MAX_LINE, most=MAX_LINES)
    beginning = list(islice(lines, BEGINNING))
    if any(is_nccl_tests(line) for _, line in beginning):
        yield 0, NCCL_TESTS_COLUMNS
        gpus = _whole("gpus", schedule.get("gpus"))
        yield from nccl_tests_rows(FIELD, path, chain(beginning, lines), schedule.get("collective"), gpus)
        return
    for number, line in chain(beginning, lines):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        is_header = not separator
        if is_header:
            separator = next((mark for mark in ";\t" if mark in line), ",")
        try:
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator, strict=True))]
        except csv.Error as error:
            raise refuse(FIELD, f"line {number} of `{path}` is not a row of a CSV file: {error}") from error
        if is_header:
            cells = [cell.lower() for cell in cells]
            _check_header(path, cells)
        yield number, cells
    if not separator:
        raise refuse(FIELD, f"`{path}` is empty; it takes {FORM}")


def _check_header(path: str | os.PathLike[str], header: list[str]) -> None:
    for name in COLUMNS:
        if header.count(name) > 1:
            raise refuse(FIELD, f"`{path}` has more than one column `{name}`")
    for what, names in (("size", SIZE_COLUMNS), ("time", (*TIME_COLUMNS, "time"))):
        found = [name for name in names if name in header]
        if len(found) != 1:
            wrong = f"the columns {' and '.join(found)}" if found else "no column"
            raise refuse(FIELD, f"`{path}` has {wrong} for the {what}, and must have one; it takes {FORM}")


def _row(line: int, where: str, said: dict[str, str], schedule: ScheduleOf, usage_of: Callable[..., Usage]) -> Row:
    def cell(column: str, parse: Callable[[str, str], float]) -> float | None:
        if column not in said:
            return None
        field = f"{FIELD}: {where}, column `{column}`"
        try:
            return parse(field, said[column])
        except InputError as error:
            raise InputError(FIELD, str(error)) from error

    sizes = [cell(column, _bytes) for column in SIZE_COLUMNS]
    times = [cell(column, _seconds(factor)) for column, factor in TIME_COLUMNS.items()] + [cell("time", _time)]
    size_bytes = next((value for value in sizes if value is not None), None)
    time_s = next((value for value in times if value is not None), None)
    if size_bytes is None or time_s is None:
        raise refuse(FIELD, f"{where} has no {'size' if size_bytes is None else 'time'}")
    steps, hops = cell("steps", _steps), cell("hops", _count)
    wire_bytes = cell("wire_bytes", _bytes)
    described = {**schedule, **{name: said[name] for name in SCHEDULE_COLUMNS if name in said}}
    if described.get("collective") is not None or described.get("algorithm") is not None:
        try:
            usage = usage_of(*(described.get(name) for name in SCHEDULE_COLUMNS))
        except InputError as error:
            raise refuse(FIELD, f"{where}: {error}") from error
        derived = float(usage.steps), float(usage.hops), usage.wire_share * size_bytes
    else:
        derived = 1.0, steps or 1.0, size_bytes
    values = (own if own is not None else other for own, other in zip((steps, hops, wire_bytes), derived, strict=True))
    return Row(line, size_bytes, time_s, *values)


class Usage(NamedTuple):
    """The cost terms of a schedule: steps, hops summed over them, and bytes on busiest links over the rank's buffer."""

    steps: int
    hops: int
    wire_share: float


def _usage(
    routing: str,
    collective: str | None,
    algorithm: str | None,
    gpus: str | int | None,
    topology: str | None,
    ports: str | int | None,
    dims: str | None,
) -> Usage:
    """Steps, hops and load of an algorithm on one topology. Raises `InputError`."""
    from lightloom.inputs.fabric import Fabric
    from lightloom.planning import plan

    for name, value in (("collective", collective), ("algorithm", algorithm)):
        if value in {None, "auto"}:
            raise refuse(
                name,
                "missing; steps, hops and bytes on the wire follow only from collective, algorithm and gpus together",
            )
    fabric = Fabric(gpus=_whole("gpus", gpus), ports=_whole("ports", ports) or 1, dims=dims)
    size = 1 << 30
    made = plan(
        collective,
        size,
        fabric=fabric,
        algorithm=algorithm,
        topology=topology or "ring",
        routing=routing,
    )
    wire_bytes = math.fsum(step.transfer_bytes * step.load for step in made.steps)
    return Usage(len(made.steps), sum(step.hops for step in made.steps), wire_bytes / size)


def _whole(field: str, value: str | int | None) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 12:
        value = int(value)
    return None if value is None else whole_number(field, value)


def _bytes(field: str, text: str) -> float:
    return bytes_of(field, text[:MAX_CHARACTERS], least=0)


def _time(field: str, text: str) -> float:
    return _above_zero(field, text, seconds_of(field, text[:MAX_CHARACTERS]))


def _seconds(factor: float) -> Callable[[str, str], float]:
    return lambda field, text: _above_zero(field, text, _number(text) * factor)


def _steps(field: str, text: str) -> float:
    value = _number(text)
    if not (value.is_integer() and 1 <= value <= MAX_STEPS):
        raise refuse(field, f"`{text[:60]}` is not accepted; it takes a whole number from 1 to {MAX_STEPS}")
    return value


def _count(field: str, text: str) -> float:
    value = _number(text)
    if not 0 <= value <= MAX_STEPS**2:
        raise refuse(field, f"`{text[:60]}` is not accepted; it takes a number of at least 0")
    return value


def _above_zero(field: str, text: str, value: float) -> float:
    if not LEAST_S <= value < MOST_S:
        raise refuse(field, f"`{text[:60]}` is not accepted; it takes a time from {LEAST_S:g} s to {MOST_S:g} s")
    return value


def _number(text: str) -> float:
    """The number, or NaN, which no range holds."""
    try:
        return float(text)
    except ValueError:
        return math.nan

"""Reader of what NVIDIA's nccl-tests print (`all_reduce_perf` and the others; src/util.cu and src/common.cu there).

A test says its program, the devices of its ranks, a header, and a row for each size: size, count, type, operation,
root, then time in microseconds, bandwidths and wrong elements, out of place and again in place. Sizes mean what they
mean in Lightloom. Which algorithm NCCL took is not said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["COLUMNS", "is_nccl_tests", "nccl_tests_rows"]

# The columns of the rows that are made, as a CSV file of measurements has them.
COLUMNS = ["size_bytes", "time_us", "collective", "gpus"]
# The collective of each program; `sendrecv_perf` sends from every rank to the next, which is one transfer over one hop.
PROGRAMS = {
    "all_gather": "all-gather",
    "all_reduce": "all-reduce",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "gather": "gather",
    "reduce": "reduce",
    "reduce_scatter": "reduce-scatter",
    "scatter": "scatter",
    "sendrecv": "",
}
# The first words of the lines that are read. mpirun may write before each line whose it is.
OWNER = re.compile(r"^\[\d{1,9},\d{1,9}\]<stdout>: ?")
STARTING = re.compile(r"# Collective test starting: (?:\S*/)?(\w{1,40}?)_perf\w*\s*$")
RANK = re.compile(r"#\s+Rank\s+(\d{1,9})\s+(?:Group\s+(\d{1,9})\s+)?Pid\s")
BEGINNING = re.compile(r"# nThread \d+ nGpus \d+ minBytes ")
DEVICES = "# Using devices"
NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?")


def is_nccl_tests(line: str) -> bool:
    """Whether a line is one that every test prints before its first row."""
    line = OWNER.sub("", line)
    return BEGINNING.match(line) is not None or STARTING.match(line) is not None


def nccl_tests_rows(
    field: str, path: object, lines: Iterable[tuple[int, str]], collective: str | None
) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of `COLUMNS` for every time in the output of tests.

    collective: the one that was run, for older outputs, which do not say it. Raises `InputError` that names
    `field` and the line: another program, a row that does not fit its header, wrong results.
    """
    program: str | None = None
    header: list[str] = []
    groups: list[str] = []
    for number, text in lines:
        line = OWNER.sub("", text).rstrip()
        where = f"line {number} of `{path}`"
        if starting := STARTING.match(line):
            if starting[1] not in PROGRAMS:
                known = ", ".join(f"{name}_perf" for name in PROGRAMS)
                raise refuse(field, f"{where} starts {starting[1]}_perf; it takes {known}")
            program, header = PROGRAMS[starting[1]], []
        elif line == DEVICES:
            groups = []
        elif rank := RANK.match(line):
            groups.append(rank[2] or "0")
        elif line.startswith("#"):
            told = line[1:].split()
            header = told if told[:3] == ["size", "count", "type"] else header
        elif header and line[:1] in {" ", *"0123456789"} and line.split():
            cells = line.split()
            if len(cells) < len(header):
                raise refuse(field, f"{where} has {len(cells)} cells, its header {len(header)}")
            ran = program if program is not None else collective
            if ran is None:
                raise refuse(field, f"{where}: the output does not say which collective was run; give --collective")
            for place in (index for index, name in enumerate(header) if name == "time"):
                if cells[place] == "N/A":
                    continue
                _check(field, where, cells, header, place)
                # Ranks of other groups do the same at the same time.
                ranks = str(groups.count(groups[0])) if groups and ran else ""
                yield number, [cells[0], cells[place], ran, ranks]


def _check(field: str, where: str, cells: list[str], header: list[str], place: int) -> None:
    if NUMBER.fullmatch(cells[place]) is None:
        raise refuse(field, f"{where}: the time `{shown(cells[place])}` is not a number of microseconds")
    wrong = next((index for index in range(place, len(header)) if header[index] in {"#wrong", "error"}), None)
    if wrong is not None and header[wrong] == "#wrong" and cells[wrong] not in {"0", "N/A"}:
        raise refuse(
            field, f"{where}: {shown(cells[wrong])} elements of the result were wrong; its time is no measurement"
        )

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
# What a rank says, among the rows, when a call failed.
FAILURE = re.compile(r"\bTest (?:NCCL |CUDA )?failure ")
NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?")


def is_nccl_tests(line: str) -> bool:
    """Whether a line is one that every test prints before its first row."""
    line = OWNER.sub("", line)
    return BEGINNING.match(line) is not None or STARTING.match(line) is not None


def nccl_tests_rows(
    field: str, path: object, lines: Iterable[tuple[int, str]], collective: str | None, gpus: int | None
) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and cells of `COLUMNS` for every time in the output of tests.

    collective: the one that was run, for older outputs, which do not say it; gpus: how many ran it, for outputs without
    lines of ranks. Raises `InputError` that names `collective` or `gpus` where the output says otherwise, else `field`,
    and the line: another program, a rank that is there twice, a row that does not fit its header, wrong results, a
    failure.
    """
    program: str | None = None
    header: list[str] = []
    # By rank, its line and its group.
    groups: dict[int, tuple[int, str | None]] = {}
    for number, text in lines:
        line = OWNER.sub("", text).rstrip()
        where = f"line {number} of `{path}`"
        if starting := STARTING.match(line):
            program, header = _collective_of(field, where, starting[1], collective), []
        elif FAILURE.search(line):
            raise refuse(field, f"{where} says that the test failed: `{shown(line.strip())}`")
        elif line == DEVICES:
            groups = {}
        elif rank := RANK.match(line):
            if groups.setdefault(int(rank[1]), (number, rank[2]))[0] != number:
                raise refuse(field, f"{where}: rank {int(rank[1])} is there already; it takes the output of one job")
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
            ranks = _ranks(field, where, [group for _, group in groups.values()], gpus) if ran or groups else ""
            for place in (index for index, name in enumerate(header) if name == "time"):
                if cells[place] == "N/A":
                    continue
                _check(field, where, cells, header, place)
                yield number, [cells[0], cells[place], ran, ranks if ran else ""]


def _collective_of(field: str, where: str, program: str, given: str | None) -> str:
    """The collective of a program; `given` has to be the same."""
    if program not in PROGRAMS:
        known = ", ".join(f"{name}_perf" for name in PROGRAMS)
        raise refuse(field, f"{where} starts {program}_perf; it takes {known}")
    if given is not None and _plain(given) != _plain(PROGRAMS[program]):
        raise refuse("collective", f"`{shown(given)}` is not what {where} starts, {program}_perf")
    return PROGRAMS[program]


def _ranks(field: str, where: str, groups: list[str | None], given: int | None) -> str:
    """The number of ranks of a group, by the group of each; `given` has to be the same.

    Ranks of other groups do the same at the same time.
    """
    if not groups and given is None:
        raise refuse(field, f"{where}: no line `# Rank ...` before it says which GPUs ran; give --gpus")
    ranks = groups.count(groups[0]) if groups else given
    if given not in {None, ranks}:
        raise refuse("gpus", f"`{given}` is not the number of ranks of {where}, {ranks}")
    return str(ranks)


def _plain(collective: str) -> str:
    """The name of a collective, however it is written."""
    return collective.lower().replace("-", "").replace("_", "")


def _check(field: str, where: str, cells: list[str], header: list[str], place: int) -> None:
    if NUMBER.fullmatch(cells[place]) is None:
        raise refuse(field, f"{where}: the time `{shown(cells[place])}` is not a number of microseconds")
    wrong = next((index for index in range(place, len(header)) if header[index] in {"#wrong", "error"}), None)
    if wrong is not None and header[wrong] == "#wrong" and cells[wrong] not in {"0", "N/A"}:
        raise refuse(
            field, f"{where}: {shown(cells[wrong])} elements of the result were wrong; its time is no measurement"
        )

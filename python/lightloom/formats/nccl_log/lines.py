"""The lines of NCCL's debug log that are read: calls, and communicators that are ready."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import refuse
from lightloom.base.files import MIB, read_beginning, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lightloom.formats.source import Source

__all__ = ["Called", "Ready", "log_files", "log_lines"]

# Bytes of a file and of all files, files of a folder, and lines of NCCL that are read.
MOST_BYTES, MOST_IN_ALL, MOST_FILES, MOST_LINES = 256 * MIB, 1024 * MIB, 65536, 1 << 21
# Bytes at the beginning of a file in which a line of NCCL must be, and the mark of such lines.
HEAD, MARK = 1 << 18, "NCCL INFO "
# Files of other formats, which a folder may have.
OTHERS = (".json", ".gz", ".et")
LINE = re.compile(rb"[^\s:]:\d{1,10}:\d{1,10} \[[^\n]{0,80}NCCL INFO ")
WHERE = re.compile(r"([^\s:\[\]]{1,255}):(\d{1,10}):\d{1,10} \[")
CALL = re.compile(
    r"(?P<name>\w{1,40}): opCount (?P<count>[0-9a-f]{1,16}) sendbuff \S+ recvbuff \S+ count (?P<elements>\d{1,16}) "
    r"datatype (?P<datatype>\d{1,4}) op -?\d+ root (?P<root>-?\d{1,9}) comm (?P<comm>0x[0-9a-f]{1,16}) "
    r"\[nranks=(?P<ranks>\d{1,9})\]"
)
READY = re.compile(
    r"comm (?P<comm>0x[0-9a-f]{1,16}) rank (?P<rank>\d{1,9}) nranks (?P<ranks>\d{1,9}) cudaDev (?P<device>-?\d{1,9})"
    r"(?:.*? commId (?P<id>0x[0-9a-f]{1,16}))?.* Init COMPLETE"
)

# The line of a communicator that was split off another one (NCCL 2.18 and later; some releases state no commId then).
SPLIT = re.compile(r"parent (?P<parent>0x[0-9a-f]{1,16}) splitCount (?P<count>\d{1,9}) color (?P<color>-?\d{1,10})\b")


class Called(NamedTuple):
    """A call of a rank.

    process: host and process; group_count: NCCL's number of the call, the same for all calls of a group; name: such as
    `AllReduce`; peer: the root, or the other rank of a message; comm: the communicator's address; ranks: its size.
    """

    at: str
    process: tuple[str, str]
    name: str
    group_count: str
    elements: int
    datatype: int
    peer: int
    comm: str
    ranks: int


class Ready(NamedTuple):
    """A communicator of a rank that is ready.

    id: the same for all its ranks, empty where the line states none. parent, part: of one that was split off another,
    the address of that one, and which split and colour; else empty.
    """

    at: str
    process: tuple[str, str]
    comm: str
    rank: int
    ranks: int
    device: int
    id: str
    parent: str
    part: str


def log_files(source: Source) -> list[Path]:
    """The file, or those of a folder, by name, that have lines of NCCL where they begin; empty where none has."""
    if not source.is_folder:
        return [source.path] if _is_log(source.path) else []
    try:
        paths = sorted(path for path in source.path.iterdir() if not path.name.lower().endswith(OTHERS))
    except OSError as error:
        raise refuse(source.field, f"cannot read `{source.path}`: {error.strerror}") from error
    if len(paths) > MOST_FILES:
        raise refuse(source.field, f"`{source.path}` has more than {MOST_FILES} files")
    return [path for path in paths if _is_log(path)]


def log_lines(field: str, paths: list[Path]) -> Iterator[tuple[Path, Called | Ready]]:
    """The calls in the files' lines, in their order. Raises `InputError` that names `field` if they are too long."""
    left, lines = MOST_IN_ALL, 0
    for path in paths:
        content = read_bytes(field, path, min(left, MOST_BYTES))
        left -= len(content)
        # Other programs may write anything to the output, too.
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
            if MARK not in line:
                continue
            lines += 1
            if lines > MOST_LINES:
                raise refuse(field, f"the log has more than {MOST_LINES} lines of NCCL, counted up to `{path}`")
            said = _said(f"line {number} of `{path.name}`", line)
            if said is not None:
                yield path, said


def _is_log(path: Path) -> bool:
    return LINE.search(read_beginning(path, HEAD)) is not None


def _said(at: str, line: str) -> Called | Ready | None:
    prefix, _, message = line.partition(MARK)
    # The last: programs that run a job put their own words before the line.
    found = WHERE.findall(prefix)
    if not found:
        return None
    process = found[-1]
    call = CALL.search(message)
    if call is not None:
        return Called(
            at,
            process,
            call["name"],
            call["count"],
            int(call["elements"]),
            int(call["datatype"]),
            int(call["root"]),
            call["comm"],
            int(call["ranks"]),
        )
    ready = READY.search(message)
    if ready is None:
        return None
    numbers = int(ready["rank"]), int(ready["ranks"]), int(ready["device"])
    split = SPLIT.search(ready[0])
    parent, part = ("", "") if split is None else (split["parent"], f"{split['count']}.{split['color']}")
    return Ready(at, process, ready["comm"], *numbers, ready["id"] or "", parent, part)

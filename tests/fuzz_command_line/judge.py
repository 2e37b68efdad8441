"""Rules that every run of the command line must keep, whatever its arguments."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import NamedTuple

STATUSES = (0, 1, 2)
# The file that keeps two sweeps out of one folder; it stays there.
LOCK = ".lock"


class Ran(NamedTuple):
    """The outcome of a run. `status` is None if an exception came out, `sink` where its output went."""

    arguments: list[str]
    verb: str
    status: int | None
    exception: str
    out: str
    err: str
    sink: str


class Entry(NamedTuple):
    """A file as it was: its kind, and its content where it has any."""

    kind: int
    content: bytes


def entries(folder: Path) -> dict[str, Entry]:
    """Everything below a folder, links not followed."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = path.read_bytes() if stat.S_ISREG(mode) else b""
        found[str(path.relative_to(folder))] = Entry(stat.S_IFMT(mode), content)
    return found


# A sign of life of work that takes long: the work, and for how many seconds.
PROGRESS = re.compile(r"^(?!error: ).*, [0-9]+ s\n", re.MULTILINE)


def faults(ran: Ran, before: dict[str, Entry], after: dict[str, Entry], stray: list[str]) -> list[str]:
    """What is wrong with a run, most serious first; nothing where all is well."""
    return [*_of_the_end(ran), *_of_what_is_told(ran), *_of_files(ran, before, after, stray)]


def _of_the_end(ran: Ran) -> list[str]:
    if ran.exception:
        return [f"exception: {ran.exception}"]
    if ran.status not in STATUSES:
        return [f"exit status {ran.status}"]
    if ran.status == 1 and not _may_fail(ran):
        return ["exit status 1, and neither is the output full nor is a check of verify wrong"]
    return []


def _may_fail(ran: Ran) -> bool:
    return ran.sink != "file" or ran.verb == "verify" or any("full" in argument for argument in ran.arguments)


def _of_what_is_told(ran: Ran) -> list[str]:
    if ran.sink == "interrupted" and "Exception ignored" in ran.err and "KeyboardInterrupt" in ran.err:
        # The interpreter was interrupted while it cleaned up, and says so itself.
        return []
    found = [f"`{word}` on standard error" for word in ("Traceback", "panicked") if word in ran.err]
    told = PROGRESS.sub("", ran.err)
    errors = [line for line in told.split("\n") if line.startswith("error: ")]
    if ran.status == 2 and (len(errors) != 1 or told.count("\n") != 1 or not told.endswith("\n")):
        found.append(f"exit status 2 with {len(errors)} `error: ` lines of {told.count(chr(10))} on standard error")
    if ran.status == 2 and ran.out:
        found.append("exit status 2, and something on standard output")
    if ran.status == 0 and told:
        found.append(f"exit status 0, and on standard error: {told.strip().splitlines()[0][:100]}")
    if ran.status == 0 and ran.out.startswith("{"):
        try:
            json.loads(ran.out, parse_constant=lambda name: found.append(f"JSON with {name}"))
        except ValueError as error:
            found.append(f"JSON that cannot be read: {error}")
    return found


def _of_files(ran: Ran, before: dict[str, Entry], after: dict[str, Entry], stray: list[str]) -> list[str]:
    found = [f"a temporary file is left: {name}" for name in stray]
    found += [
        f"a temporary file is left: {name}"
        for name in after
        if name not in before and Path(name).name != LOCK and Path(name).name.startswith(".")
    ]
    for name, entry in before.items():
        now = after.get(name)
        if now is None:
            found.append(f"`{name}` is gone")
        elif stat.S_ISCHR(entry.kind) and now.kind != entry.kind:
            found.append(f"the device `{name}` was replaced by something else")
        elif ran.status in {1, 2} and ran.sink == "file" and entry.content and now.content != entry.content:
            found.append(f"exit status {ran.status}, and `{name}` is not what it was")
    return found

"""The files of a profile, one a rank: which there are, and their events, bounded."""

from __future__ import annotations

import json
import re
import zlib
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import InputError, refuse
from lightloom.base.files import MIB, read_beginning, read_bytes
from lightloom.formats.compression import Unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lightloom.formats.source import Source

__all__ = ["documents", "is_profile", "profile_files"]

SUFFIXES, PACKED = (".json", ".json.gz"), ".gz"
# Bytes of a file and of all files once they are unpacked, files of a folder, and events of all files that are read.
MOST_BYTES, MOST_IN_ALL, MOST_FILES, MOST_EVENTS = 512 * MIB, 4096 * MIB, 65536, 1 << 22
# Keys with which a profile begins, and the bytes in which one of them must be.
KEYS = re.compile(rb'"(?:traceEvents|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:')
HEAD = 1 << 16
NAMED_LIKE_ONE = re.compile(r"rank[-_ ]?\d|\.pt\.trace\.", re.IGNORECASE)
# Categories of events that are read, in lower case: work of GPUs, as old and new profiles name it, and its launches.
GPU = frozenset({"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"})
LAUNCHES = ("runtime", "driver")
STEP, RECORD = "ProfilerStep#", "record_param_comms"


def is_profile(path: Path) -> bool:
    """Whether a file is named and begins like a profile."""
    name = path.name.lower()
    if not name.endswith(SUFFIXES):
        return False
    head = read_beginning(path, HEAD)
    if name.endswith(PACKED):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, HEAD)
        except zlib.error:
            return False
    return KEYS.search(head) is not None


def profile_files(source: Source) -> list[Path]:
    """The files of a profile: the file itself, or those of a folder, by name; empty where there is none.

    Raises `InputError` for a file next to profiles that is damaged, or named like one and is none.
    """
    if not source.is_folder:
        return [source.path] if is_profile(source.path) else []
    try:
        names = sorted(path for path in source.path.iterdir() if path.name.lower().endswith(SUFFIXES))
    except OSError as error:
        raise refuse(source.field, f"cannot read `{source.path}`: {error.strerror}") from error
    if len(names) > MOST_FILES:
        raise refuse(source.field, f"`{source.path}` has more than {MOST_FILES} files")
    found = [path for path in names if is_profile(path)]
    if not found:
        return []
    others = {path for path in names if path not in found and _is_late_profile(source.field, path)}
    return [path for path in names if path in others or path in found]


def _is_late_profile(field: str, path: Path) -> bool:
    """Whether a file next to profiles is one that does not begin like one, or JSON of another kind, such as groups.

    Raises `InputError` that names `field` for a file that is damaged, or named like a profile and is none.
    """
    document = _parsed(field, path, _content(field, path, MOST_BYTES))
    is_late = isinstance(document, dict) and isinstance(document.get("traceEvents"), list)
    if not is_late and NAMED_LIKE_ONE.search(path.name):
        raise refuse(field, f"`{path}` is named like a profile and has no list `traceEvents`; it takes a whole one")
    return is_late


def documents(field: str, paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each file and its document, one in memory at a time; of its events only those of which a workload is made.

    Raises `InputError` that names `field` for a file that is no JSON object, or more than is read.
    """
    left, events = MOST_IN_ALL, 0
    for path in paths:
        content = _content(field, path, min(left, MOST_BYTES))
        left -= len(content)
        document = _document(field, path, content)
        found = document.get("traceEvents")
        if not isinstance(found, list):
            raise refuse(field, f"`{path}` has no list `traceEvents`")
        document["traceEvents"] = [event for event in found if isinstance(event, dict)]
        events += len(document["traceEvents"])
        if events > MOST_EVENTS:
            raise refuse(
                field, f"the profile has more than {MOST_EVENTS} events of GPUs and launches, counted up to `{path}`"
            )
        yield path, document


def _content(field: str, path: Path, most: int) -> bytes:
    content = read_bytes(field, path, most)
    if not path.name.lower().endswith(PACKED):
        return content
    try:
        return Unpacked(field, str(path), content, most).read()
    except InputError:
        raise
    except Exception as error:  # errors of damaged files have many bases
        raise refuse(field, f"`{path}` is not a .json.gz file, or a damaged one") from error


def _parsed(field: str, path: Path, content: bytes) -> object:
    try:
        # Names of kernels may hold anything: neither bytes that are no text nor control characters are refused.
        found: object = json.loads(content.decode("utf-8-sig", "replace"), object_hook=_of_use, strict=False)
    except (ValueError, RecursionError) as error:
        raise refuse(field, f"`{path}` is not JSON: {str(error)[:120]}") from error
    return found


def _document(field: str, path: Path, content: bytes) -> dict[str, Any]:
    document = _parsed(field, path, content)
    if not isinstance(document, dict):
        raise refuse(field, f"`{path}` is not a JSON object with a list `traceEvents`")
    return document


def _of_use(found: dict[str, Any]) -> dict[str, Any] | None:
    """An object of the document; None for an event that no workload is made of, so that it takes no memory."""
    if "ph" not in found:
        return found
    category, name = str(found.get("cat", "")).lower(), found.get("name")
    is_called = isinstance(name, str) and (name.startswith(STEP) or name == RECORD) and not category.startswith("gpu")
    is_used = is_called or category in GPU or category.endswith(LAUNCHES)
    return found if found["ph"] == "X" and is_used else None

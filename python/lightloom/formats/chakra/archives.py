"""A trace in one archive: a `.tar.gz` of the files `NAME.RANK.et`, perhaps with the groups `NAME.json`."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from lightloom.base.errors import InputError, refuse
from lightloom.base.files import MIB, read_bytes
from lightloom.formats.chakra.files import MAX_NODES, MAX_RANKS, NAMED, RankFile, parsed
from lightloom.formats.chakra.trace import MAX_GROUPS_BYTES
from lightloom.formats.compression import Unpacked

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

SUFFIXES = (".tar.gz", ".tgz")
MAX_PACKED, MAX_UNPACKED, MAX_MEMBERS = 64 * MIB, 256 * MIB, 2 * MAX_RANKS


class Archived(NamedTuple):
    """The trace of an archive: its name, the files of ranks 0, 1, ..., and the text of its groups or None."""

    name: str
    files: list[RankFile]
    groups: str | None


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether the path is named like an archive that a trace can be in."""
    return str(path).endswith(SUFFIXES)


def read_archive(field: str, path: str | os.PathLike[str]) -> Archived:
    """Read the only trace of an archive, which may lie in any of its folders, next to other files.

    Raises `InputError` that names `field` if it is no archive, unpacks to too much, or lacks the files of one trace.
    """
    packed = read_bytes(field, path, MAX_PACKED)
    files: dict[int, RankFile] = {}
    sides: dict[str, str] = {}
    names: set[str] = set()
    nodes = 0
    try:
        for base, content in _unpacked(field, str(path), packed):
            named = NAMED.fullmatch(base)
            if named is None:
                sides[base.removesuffix(".json")] = content.decode("utf-8-sig", "replace")
                continue
            read = parsed(field, Path(base), content, MAX_NODES - nodes)
            nodes += len(read.nodes)
            names.add(named["name"])
            files[int(named["rank"])] = read
    except InputError:
        raise
    except Exception as error:  # errors of a damaged archive have many bases
        raise refuse(field, f"`{path}` is not a .tar.gz archive, or a damaged one") from error
    if len(names) != 1:
        held = f"files of {len(names)} traces" if names else "no such files"
        raise refuse(field, f"`{path}` must hold the files NAME.RANK.et of one trace; it holds {held}")
    missing = next((rank for rank in range(len(files)) if rank not in files), None)
    if missing is not None:
        raise refuse(field, f"the file of rank {missing} is missing in `{path}`")
    name = names.pop()
    return Archived(name, [files[rank] for rank in range(len(files))], sides.get(name))


def _unpacked(field: str, path: str, packed: bytes) -> Iterator[tuple[str, bytes]]:
    """Names, without folders, and contents of the files of ranks and groups, each name once."""
    seen = set()
    with tarfile.open(fileobj=Unpacked(field, path, packed, MAX_UNPACKED), mode="r|") as archive:
        for count, member in enumerate(archive):
            if count == MAX_MEMBERS:
                raise refuse(field, f"`{path}` has more than {MAX_MEMBERS} files")
            # Else the archive keeps a record of every one.
            archive.members = []  # type: ignore[attr-defined]
            base = PurePosixPath(member.name).name
            is_side = base.endswith(".json") and member.size <= MAX_GROUPS_BYTES
            wanted = member.isreg() and (is_side or NAMED.fullmatch(base) is not None)
            stream = archive.extractfile(member) if wanted else None
            if stream is None:
                continue
            if base in seen:
                raise refuse(field, f"`{path}` has two files of the name {base}")
            seen.add(base)
            yield base, stream.read()

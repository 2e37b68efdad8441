"""The files of a trace, `NAME.RANK.et`: which belong together, and their messages."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path, PurePosixPath
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import InputError, printable, refuse
from lightloom.base.files import MIB, read_bytes, read_text, usable_path
from lightloom.formats.chakra.schema import messages

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

SUFFIX = ".et"
# Bytes of all files of a trace, its ranks, and its nodes, in reading and in writing.
MAX_BYTES, MAX_RANKS, MAX_NODES = 512 * MIB, 65536, 1 << 20
NAMED = re.compile(r"(?P<name>.+)\.(?P<rank>0|[1-9]\d{0,5})\.et", re.DOTALL)

# The value of an attribute.
Value = bool | int | float | str | tuple[Any, ...]


class Node(NamedTuple):
    """A node of one rank's graph.

    id: its number, of which `after` speaks; kind: a `NodeType`, or a number that the schema does not know; after: the
    nodes that it waits for (`data_deps`), each once; duration_us: of a computation, microseconds; attributes: the rest,
    by name.
    """

    id: int
    name: str
    kind: int
    after: tuple[int, ...]
    duration_us: float
    attributes: dict[str, Value]


class RankFile(NamedTuple):
    """The content of one rank's file: attributes of the whole, and nodes in the order of the file."""

    attributes: dict[str, Value]
    nodes: tuple[Node, ...]


def is_trace(path: str | os.PathLike[str]) -> bool:
    """Whether the path is taken for a trace: a file `NAME.RANK.et`, or a folder that has one."""
    try:
        place = Path(path)
        if place.is_dir():
            return any(entry.suffix == SUFFIX for entry in list(place.iterdir()))
        return place.name.endswith(SUFFIX)
    except (OSError, ValueError):
        return False


def rank_files(field: str, path: str | os.PathLike[str]) -> tuple[str, list[Path]]:
    """The name of the trace at `path`, and the files of ranks 0, 1, ...

    path: a folder with the files of one trace, or any file of it; of several in a folder, the one that `system.json`
    there names as the algorithm of a collective, as ASTRA-sim's does. Raises `InputError` that names `field` where
    there is no such trace, there are several, or the file of a rank is missing.
    """
    place = usable_path(field, path)
    try:
        folder = place if place.is_dir() else place.parent
        found = [match for entry in folder.iterdir() if (match := NAMED.fullmatch(entry.name))]
    except OSError as error:
        raise refuse(field, f"cannot read `{path}`: {error.strerror}") from error
    if place.is_dir():
        names = sorted({match["name"] for match in found})
        if len(names) > 1:
            names = [one for one in names if one in _algorithms(place / "system.json")] or names
        if len(names) != 1:
            held = (
                f"files of {len(names)}, {', '.join(names[:4])}: give a file of one trace" if names else "no such files"
            )
            raise refuse(field, f"`{path}` must hold the files NAME.RANK.et of one trace; it holds {held}")
        name = names[0]
    else:
        own = NAMED.fullmatch(place.name)
        if own is None:
            raise refuse(field, f"`{path}` is not the file of a rank; it takes NAME.RANK.et")
        if not place.is_file():
            raise refuse(field, f"no such file: `{path}`")
        name = own["name"]
    ranks = {int(match["rank"]) for match in found if match["name"] == name}
    last = max(ranks)
    if last >= MAX_RANKS:
        raise refuse(field, f"`{name}.{last}.et` is of rank {last}; at most {MAX_RANKS} ranks are read")
    if len(ranks) <= last:
        missing = next(rank for rank in range(last) if rank not in ranks)
        raise refuse(field, f"the file of rank {missing} is missing: {folder / f'{name}.{missing}.et'}")
    return name, [folder / f"{name}.{rank}.et" for rank in range(last + 1)]


def _algorithms(system: Path) -> set[str]:
    """Names of the traces that ASTRA-sim's system file gives as algorithms; empty if it is no such file."""
    try:
        document = json.loads(read_text("system", system, MIB))
        lists = [value for key, value in document.items() if key.endswith("-implementation-custom")]
        return {PurePosixPath(trace).name for one in lists for trace in one}
    except (ValueError, TypeError, AttributeError, RecursionError):
        return set()


def read_ranks(field: str, paths: Iterable[Path]) -> Iterator[RankFile]:
    """The content of the files, in their order. Raises `InputError` for a file that is no trace, or too large."""
    budget, nodes = MAX_BYTES, 0
    for path in paths:
        content = read_bytes(field, path, budget)
        budget -= len(content)
        read = parsed(field, path, content, MAX_NODES - nodes)
        nodes += len(read.nodes)
        yield read


def written(attributes: Mapping[str, Value], nodes: Iterable[Node]) -> bytes:
    """The content of one rank's file. Whole numbers are written as `int64`, but ranks and tags as `int32`."""
    from google.protobuf import proto

    kinds = messages()
    stream = io.BytesIO()
    metadata = kinds.metadata(version=VERSION)
    _add_attributes(metadata, attributes)
    proto.serialize_length_prefixed(metadata, stream)
    for one in nodes:
        node = kinds.node(id=one.id, name=one.name, type=one.kind, duration_micros=round(one.duration_us))
        node.data_deps.extend(one.after)
        _add_attributes(node, one.attributes)
        proto.serialize_length_prefixed(node, stream)
    return stream.getvalue()


# Version of the schema, as Chakra's converters write it.
VERSION = "0.0.4"
NARROW = {"comm_src", "comm_dst", "comm_tag", "comm_priority"}


def _add_attributes(message: Any, attributes: Mapping[str, Value]) -> None:
    for name, value in attributes.items():
        added = message.attr.add(name=name)
        match value:
            case bool():
                added.bool_val = value
            case int():
                setattr(added, "int32_val" if name in NARROW else "int64_val", value)
            case float():
                added.double_val = value
            case str():
                added.string_val = value
            case _:
                of_numbers = added.double_list if any(isinstance(one, float) for one in value) else added.int64_list
                of_numbers.values.extend(value)
                # An empty list is a value too.
                of_numbers.SetInParent()


def parsed(field: str, path: Path, content: bytes, most: int) -> RankFile:
    """The content of a rank's file of at most `most` nodes, from its bytes; errors as for `read_ranks`."""
    kinds = messages()
    from google.protobuf import proto

    stream = io.BytesIO(content)
    nodes: list[Node] = []
    try:
        metadata = proto.parse_length_prefixed(kinds.metadata, stream)
        while metadata is not None and len(nodes) < most:
            node = proto.parse_length_prefixed(kinds.node, stream)
            if node is None:
                break
            # Control dependencies say which operator called which, itself among them; nothing waits for them.
            after = tuple(dict.fromkeys(node.data_deps))
            nodes.append(Node(node.id, printable(node.name), node.type, after, node.duration_micros, _attributes(node)))
    except Exception as error:  # the package's errors have several bases
        raise _no_trace(field, path, stream) from error
    if len(nodes) == most and stream.read(1):
        raise refuse(field, f"the trace has more than {MAX_NODES} nodes, counted up to `{path}`")
    if metadata is None:
        raise refuse(field, f"`{path}` is empty; a trace begins with its metadata")
    return RankFile(_attributes(metadata), tuple(nodes))


def _no_trace(field: str, path: Path, stream: io.BytesIO) -> InputError:
    return refuse(field, f"`{path}` is not a Chakra trace: its messages end or break at byte {stream.tell()}")


def _attributes(message: Any) -> dict[str, Value]:
    held: dict[str, Value] = {}
    for attribute in message.attr:
        which = attribute.WhichOneof("value")
        if which is not None:
            value = getattr(attribute, which)
            # Every node has the same few names.
            held[intern(attribute.name)] = tuple(value.values) if which.endswith("_list") else value
    return held

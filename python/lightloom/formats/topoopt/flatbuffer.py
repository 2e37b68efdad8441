"""Tables of FlatBuffers, whose fields are known by their index, read within the bounds of the file.

A reference of a damaged file can lead anywhere. All exceptions of the `flatbuffers` package for one are one error here,
and of a vector no more is read than the file has bytes for.
"""

from __future__ import annotations

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import InputError, refuse
from lightloom.base.extras import missing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Buffer", "damage_refused"]

# Bytes of a reference.
REFERENCE = 4


class Buffer:
    """A file of FlatBuffers. Its methods raise many kinds of errors for a damaged one: use within `damage_refused`.

    Raises `InputError` that names what to install where the `flatbuffers` package is missing.
    """

    def __init__(self, field: str, content: bytes) -> None:
        try:
            from flatbuffers import number_types, table
        except ImportError as error:
            raise missing(field, "a file of TopoOpt", "flatbuffers") from error
        self._table = table.Table
        self._flags = {
            "int16": number_types.Int16Flags,
            "uint32": number_types.Uint32Flags,
            "uint64": number_types.Uint64Flags,
            "float": number_types.Float32Flags,
        }
        self._content = bytearray(content)
        self._name = field
        # Most bytes of all vectors together: the vectors of an honest file share no bytes.
        self._left = len(content)

    def root(self) -> Any:
        """The first table."""
        return self._table(self._content, *struct.unpack_from("<I", self._content, 0))

    def number(self, table: Any, index: int, kind: str) -> Any:
        """The number in a table's field, 0 where the field is left out."""
        offset = self._field(table, index)
        return table.Get(self._flags[kind], table.Pos + offset) if offset else 0

    def tables(self, table: Any, index: int, most: int, what: str) -> Iterator[Any]:
        """The tables of a vector in a field, empty if the field is left out.

        Raises `InputError` where there are more than `most`; what: they are, for people.
        """
        start, count = self._vector(table, index, REFERENCE)
        if count > most:
            raise refuse(self._name, f"it has more than {most} {what}")
        for place in range(start, start + REFERENCE * count, REFERENCE):
            yield self._table(self._content, table.Indirect(place))

    def numbers(self, table: Any, index: int) -> tuple[int, ...]:
        """The `uint64` numbers of a vector in a field."""
        start, count = self._vector(table, index, 8)
        return struct.unpack_from(f"<{count}Q", self._content, start)

    def _vector(self, table: Any, index: int, width: int) -> tuple[int, int]:
        offset = self._field(table, index)
        if not offset:
            return 0, 0
        start, count = table.Vector(offset), table.VectorLen(offset)
        self._left -= width * count
        if self._left < 0 or not 0 <= start <= len(self._content) - width * count:
            raise ValueError
        return start, count

    @staticmethod
    def _field(table: Any, index: int) -> int:
        offset: int = table.Offset(4 + 2 * index)
        return offset


@contextmanager
def damage_refused(field: str, message: str) -> Iterator[None]:
    """Turn every exception that a damaged file raises into one `InputError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise refuse(field, message) from error

"""Compressed files, `.gz`, whose content is bounded as it is unpacked."""

from __future__ import annotations

import gzip
import io

from lightloom.base.errors import refuse
from lightloom.base.files import MIB

__all__ = ["Unpacked"]


class Unpacked(io.RawIOBase):
    """The bytes of a compressed file as they are unpacked, refused after `most` of them.

    Reading raises `InputError` that names `field` for more, and errors of many bases for content that is damaged.
    """

    def __init__(self, field: str, path: str, packed: bytes, most: int) -> None:
        self._field, self._path, self._most, self._left = field, path, most, most
        self._stream = gzip.GzipFile(fileobj=io.BytesIO(packed))

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them, or all."""
        content = self._stream.read(self._left + 1 if size < 0 else min(size, self._left + 1))
        self._left -= len(content)
        if self._left < 0:
            raise refuse(self._field, f"`{self._path}` unpacks to more than {self._most // MIB} MiB")
        return content

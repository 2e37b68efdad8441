"""The source of a schedule that the user named: a file or a folder, read as far as readers ask."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import InputError, refuse
from lightloom.base.files import MIB, key_given_twice, number_of_text, read_bytes, usable_path

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MAX_SCHEDULE_BYTES", "Source"]

MAX_SCHEDULE_BYTES = 64 * MIB


class Source:
    """A file or folder under the field that names it; a file is read once, of at most `MAX_SCHEDULE_BYTES`."""

    def __init__(self, field: str, path: str | os.PathLike[str], limit: int = MAX_SCHEDULE_BYTES) -> None:
        self.field = field
        self.path: Path = usable_path(field, path)
        self._limit = limit

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder that is there."""
        return os.path.isdir(self.path)  # noqa: PTH112 (false for a name that cannot be looked up)

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file. Raises `InputError` that names the field."""
        return read_bytes(self.field, self.path, self._limit)

    @cached_property
    def text(self) -> str:
        """The UTF-8 text of the file; empty of a folder, and of a file that is no text."""
        if self.is_folder:
            return ""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return ""

    def json(self) -> dict[str, Any]:
        """The text as a JSON object. Raises `InputError` that names the field."""
        return json_object(self.field, self.text)


def json_object(field: str, text: str) -> dict[str, Any]:
    """The JSON object that a text is, with no key twice. Raises `InputError` that names `field`."""

    def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        twice = key_given_twice(pairs)
        if twice is not None:
            raise refuse(field, f"key `{twice[:60]}` is given twice")
        return dict(pairs)

    try:
        document = json.loads(text, object_pairs_hook=without_twins, parse_float=number_of_text)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:  # also of numbers of more digits than Python reads
        raise refuse(field, f"it is not JSON: {str(error)[:200]}") from error
    if not isinstance(document, dict):
        raise refuse(field, "it is not a JSON object")
    return document

"""Bytes of communications: those that the profile states, or those that are given where it states none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown
from lightloom.base.files import MIB, read_text
from lightloom.formats.workload_options import missing

if TYPE_CHECKING:
    import os

    from lightloom.formats.kineto.communication import Communication
    from lightloom.formats.workload_options import Asked

__all__ = ["Sizes"]

MOST_BYTES, MOST_SIZE = 16 * MIB, 1 << 53


class Sizes:
    """Bytes of one rank's communications after another, in their order.

    Options: `element_bytes`, of elements whose type the profile does not state; `message_sizes`, a JSON list of the
    bytes of those collectives and messages of each rank that have no size, the whole buffer of each.
    """

    def __init__(self, asked: Asked) -> None:
        self._element_bytes = asked.element_bytes
        self._given = None if asked.message_sizes is None else _given(asked.message_sizes)
        self._taken = 0
        self._is_element_used = False

    def begin_rank(self) -> None:
        """Begin the communications of the next rank."""
        self._taken = 0

    def end_rank(self, rank: int) -> None:
        """End those of a rank. Raises `InputError` that names `message_sizes` where not all were taken."""
        if self._given is not None and self._taken != len(self._given):
            raise refuse(
                "message_sizes",
                f"it has {len(self._given)} sizes; rank {rank} has {self._taken} collectives and messages without one",
            )

    def check_used(self) -> None:
        """Refuse `element_bytes` where it was given and the profile states the type of all elements."""
        if self._element_bytes is not None and not self._is_element_used:
            raise refuse("element_bytes", "the profile states the types of all elements; leave the option out")

    def bytes_of(self, where: str, one: Communication) -> int:
        """Bytes of the whole buffer, or of the message. Raises `InputError` that names the option that is missing."""
        if one.elements is None:
            if self._given is None:
                why = f"the profile does not state the size of {where}"
                raise missing(
                    "message_sizes", why, "a JSON list of the bytes of each rank's collectives that have no size"
                )
            self._taken += 1
            return self._given[self._taken - 1] if self._taken <= len(self._given) else 0
        if one.element_bytes is not None:
            return one.elements * one.element_bytes
        if self._element_bytes is None:
            why = f"the profile does not state a known dtype of {where}"
            raise missing("element_bytes", why, "the bytes of an element")
        self._is_element_used = True
        return one.elements * self._element_bytes


def _given(path: str | os.PathLike[str]) -> list[int]:
    text = read_text("message_sizes", path, MOST_BYTES)
    try:
        sizes = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refuse("message_sizes", f"`{path}` is not JSON: {str(error)[:120]}") from error
    if not isinstance(sizes, list):
        raise refuse("message_sizes", f"`{path}` is no list; it takes a list of bytes, such as [26214400, 4096]")
    for size in sizes:
        if type(size) is not int or not 1 <= size <= MOST_SIZE:
            raise refuse("message_sizes", f"`{shown(size)}` is not accepted; it takes whole bytes, 1 to {MOST_SIZE}")
    return sizes

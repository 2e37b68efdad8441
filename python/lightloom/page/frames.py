"""Messages between the server and a worker process: frames of a kind, a length and as many bytes.

Nothing but JSON and the bytes of an answer is in them, so that neither side runs code of the other.
"""

from __future__ import annotations

import struct
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["HEADER", "MOST_BYTES", "Frame", "Kind", "as_bytes", "header_of", "read_frame"]

HEADER = struct.Struct(">cI")
# Most bytes of one frame; answers and requests are held to smaller limits.
MOST_BYTES = 1 << 30


class Kind(Enum):
    """The kind of a frame's content."""

    READY = b"R"  # the process can work
    TOLD = b"T"  # JSON: all rows that were found before the task was paused; the task follows
    ASKED = b"A"  # task and request, as `parsing` writes them
    PAUSE = b"U"  # end the current work if it can be resumed
    STOP = b"S"  # nobody waits any more for the last request
    ROW = b"W"  # JSON: a row of the answer, as soon as it is found
    PROGRESS = b"P"  # JSON: how much is done
    PAUSED = b"Z"  # JSON: is_spent; it can be resumed from the rows that were sent
    END = b"E"  # JSON: status, media type, name of the file; the content follows
    CONTENT = b"C"  # the bytes of the answer


class Frame(NamedTuple):
    """A kind and its bytes."""

    kind: Kind
    content: bytes


def as_bytes(kind: Kind, content: bytes = b"") -> bytes:
    """The frame as it is sent."""
    return HEADER.pack(kind.value, len(content)) + content


def header_of(head: bytes) -> tuple[Kind, int]:
    """Kind and length. Raises `ValueError` for an invalid head."""
    letter, length = HEADER.unpack(head)
    if length > MOST_BYTES:
        raise ValueError(f"a frame of {length} bytes")
    return Kind(letter), length


def read_frame(stream: BinaryIO) -> Frame | None:
    """The next frame, None where the stream ended."""
    head = stream.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    kind, length = header_of(head)
    content = stream.read(length)
    return Frame(kind, content) if len(content) == length else None

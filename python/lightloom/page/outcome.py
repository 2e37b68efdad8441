"""The outcome of a request, as a worker process tells it to the server."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

__all__ = ["JSON", "Outcome"]

JSON = "application/json"
DONE = 200
# Memory of an outcome in addition to its content.
OVERHEAD_BYTES = 500


@dataclass(frozen=True)
class Outcome:
    """An answer or an error.

    status: as HTTP has it. content: its bytes; of an error JSON with `error` and `field`. name: of the file that it
    is, where it is one to be saved.
    """

    status: int
    content: bytes
    media_type: str = JSON
    name: str = ""

    @classmethod
    def error(cls, status: int, message: str, field: str = "", **more: object) -> Outcome:
        """An error of one line."""
        return cls(status, json.dumps({"error": message, "field": field, **more}).encode())

    def with_more(self, **more: object) -> Outcome:
        """The error with more keys."""
        return replace(self, content=json.dumps({**json.loads(self.content), **more}).encode())

    @property
    def is_done(self) -> bool:
        """Whether it is an answer."""
        return self.status == DONE

    @property
    def size_bytes(self) -> int:
        """Bytes that keeping it takes."""
        return len(self.content) + OVERHEAD_BYTES

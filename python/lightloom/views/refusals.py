"""Why something is refused, as tables and sentences say it."""

from __future__ import annotations

import re

__all__ = ["why"]


def why(reason: str) -> str:
    """A refusal without its subject, where the row already names it."""
    return re.sub(r"^\w+: .{1,80}? refuses this problem: ", "", reason)

"""Workloads as Lightloom writes them: JSON of the schema `lightloom.workload/1` (docs/reference/workloads.md).

Here the text is bounded and parsed; the core checks its content.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightloom.formats.source import Source
    from lightloom.formats.workload_options import Asked

__all__ = ["OPTIONS", "read", "recognises"]

OPTIONS: frozenset[str] = frozenset()
SCHEMA = re.compile(r'"schema"\s*:\s*"lightloom\.workload/')


def recognises(source: Source) -> bool:
    """Whether the source is meant to be of this format."""
    return source.text.lstrip().startswith("{") and SCHEMA.search(source.text) is not None


def read(source: Source, _asked: Asked) -> dict[str, Any]:
    """The document as it is. Raises `InputError` that names the field for a text that is no JSON object."""
    return source.json()

"""Labels that tell results of one sweep from another's."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.sweeps.outside_files import file_digests

if TYPE_CHECKING:
    from lightloom.sweeps.description import SweepDescription

SCHEMA = "lightloom.sweep/1"


def label_of(description: SweepDescription) -> str:
    """The label of a description's results: JSON of all that they depend on."""
    axes = [
        {"key": axis.key, "per_pair": axis.per_pair, "values": list(axis.values), "labels": list(axis.labels)}
        for axis in description.axes
    ]
    return json.dumps(
        {
            "schema": SCHEMA,
            "version": _core.__version__,
            "engine": description.engine,
            "metrics": description.metrics,
            "baseline": [dict(entry.settings) for entry in description.baseline],
            "settings": dict(sorted(description.settings)),
            "numbers": {key: quantity._asdict() for key, quantity in sorted(description.numbers)},
            "axes": axes,
            "files": file_digests(description),
        },
        indent=1,
    )


def digest_of(label: str) -> str:
    """A short name of a label."""
    return hashlib.sha256(label.encode()).hexdigest()[:16]


def difference_of(known: str | None, wanted: str) -> str:
    """The differences between two labels, in words."""
    try:
        old, new = json.loads(known or ""), json.loads(wanted)
        keys = [key for key in new if old.get(key) != new[key]]
    except (ValueError, AttributeError):
        return "something else"
    if "version" in keys:
        return f"version {old.get('version')} of Lightloom"
    return f"another description (other {' and '.join(keys)})"


def is_label(text: str) -> bool:
    """Whether the text is the label of some sweep, of any version."""
    try:
        label = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(label, dict) and str(label.get("schema", "")).startswith("lightloom.sweep/")

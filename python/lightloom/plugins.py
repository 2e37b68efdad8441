"""What other distributions bring, by entry point: verbs, benchmarks, and kinds of names.

An entry point of group `lightloom.verbs` is a click command under the verb's name; of group `lightloom.benchmarks`, a
sequence of `lightloom.benchmarks.Benchmark`; of group `lightloom.names`, a function without arguments that returns what
`lightloom list KIND` shows, under the kind's name. Nothing is imported before it is needed, and what does not load
breaks nothing else.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from lightloom.errors import FailedError, refuse

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from lightloom.errors import InputError

VERBS, BENCHMARKS, NAMES = "lightloom.verbs", "lightloom.benchmarks", "lightloom.names"
# Distributions of this project, by what they bring.
ELSEWHERE = {"reproduce": "lightloom-papers", "figures": "lightloom-papers"}


class PluginError(FailedError):
    """Something that another distribution brings and that does not load; `str(error)` is one line that names both."""


def brought(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by their names, in the order of these; of equal names the first that is found."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=group):
        found.setdefault(entry.name, entry)
    return dict(sorted(found.items()))


def load(entry: EntryPoint) -> Any:
    """What the entry point names, imported. Raises `PluginError`."""
    try:
        return entry.load()
    except Exception as error:  # whatever an import of code that is not ours raises
        raise broken(entry, f"{type(error).__name__}: {error}") from error


def broken(entry: EntryPoint, reason: str) -> PluginError:
    """The error for what an entry point names and is not what its group takes."""
    owner = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    return PluginError(f"{entry.name}{owner} does not load: {reason}")


def elsewhere(field: str, name: str) -> InputError | None:
    """The error that says which distribution brings this name; None where none of this project does."""
    if name not in ELSEWHERE:
        return None
    return refuse(field, f"`{name}` is not installed; it comes with: pip install {ELSEWHERE[name]}")

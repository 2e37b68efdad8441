"""Additions from other distributions, by entry point: verbs, benchmarks, figures, and kinds of names.

An entry point of group `lightloom.verbs` is a click command under the verb's name; of group `lightloom.benchmarks`, a
sequence of `lightloom.sweeps.benchmarks.Benchmark`; of group `lightloom.names`, a function without arguments that
returns what `lightloom list KIND` shows, under the kind's name; of group `lightloom.figures`, a module with `papers()`,
which says what figures there are, and `make(name, advance)`, which makes one. Nothing is imported before it is needed,
and what does not load breaks nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import FailedError, InputError, refuse, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

VERBS, BENCHMARKS, NAMES, FIGURES = "lightloom.verbs", "lightloom.benchmarks", "lightloom.names", "lightloom.figures"
# Distributions of this project, by their additions.
ELSEWHERE = {"reproduce": "lightloom-papers", "figures": "lightloom-papers"}


class PluginError(FailedError):
    """Something that another distribution brings and that does not load or fails; `str(error)` is a line with both."""


def brought(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by their names, in the order of these; of equal names the first that is found."""
    found: dict[str, EntryPoint] = {}
    if not _may_be_brought(group):
        return found
    for entry in _entries(group):
        found.setdefault(entry.name, entry)
    return dict(sorted(found.items()))


def _may_be_brought(group: str) -> bool:
    """Whether an installed distribution's entry points may name the group.

    If none does, which a look into the folders of distributions shows, `importlib.metadata` need not be imported; that
    import takes longer than all others of most verbs.
    """
    for place in dict.fromkeys(sys.path):
        try:
            with os.scandir(place or os.curdir) as files:
                kept = [file.path for file in files if file.name.endswith((".dist-info", ".egg-info", ".egg"))]
        except FileNotFoundError:
            continue
        except OSError:  # an archive
            return True
        for path in kept:
            try:
                if path.endswith(".egg") or group.encode() in (Path(path) / "entry_points.txt").read_bytes():
                    return True
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                return True
    return False


def _entries(group: str) -> EntryPoints:
    from importlib.metadata import EntryPoints, distributions, entry_points

    try:
        return entry_points(group=group)
    except Exception:  # the file of one distribution is not in order: all others' are read
        found: list[EntryPoint] = []
        for distribution in distributions():
            try:
                found += distribution.entry_points.select(group=group)
            except Exception:  # noqa: S112 (its additions are unknown)
                continue
        return EntryPoints(found)


def load(entry: EntryPoint) -> Any:
    """The object that the entry point names, imported. Raises `PluginError`."""
    try:
        return entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise raised(entry, error) from error


def names_of(entry: EntryPoint) -> list[dict[str, str]]:
    """The rows that the function of an entry point of group `lightloom.names` returns. Raises `PluginError`."""
    function = load(entry)
    try:
        listed = [dict(one) if isinstance(one, Mapping) else one for one in function()]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise raised(entry, error) from error
    for one in listed:
        is_text = isinstance(one, dict) and all(isinstance(word, str) for pair in one.items() for word in pair)
        if not is_text or "name" not in one:
            raise broken(entry, f"`{shown(one)}` is not a mapping of texts to texts with the key `name`")
    return listed


def raised(entry: EntryPoint, error: BaseException, what: str = "does not load") -> PluginError:
    """The error for any exception that code of another distribution raised."""
    kind = "" if isinstance(error, InputError) else type(error).__name__
    return broken(entry, ": ".join(part for part in (kind, str(error)) if part), what)


def broken(entry: EntryPoint, reason: str, what: str = "does not load") -> PluginError:
    """The error for an object of an entry point that its group does not take, or that does not do its work."""
    owner = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    return PluginError(f"{entry.name}{owner} {what}: {reason}")


def elsewhere(field: str, name: str) -> InputError | None:
    """The error that says which distribution brings this name; None if no distribution of this project does."""
    if name not in ELSEWHERE:
        return None
    return refuse(field, f"`{name}` is not installed; it comes with: pip install {ELSEWHERE[name]}")

"""Names of the core's registries, for tests that go through all of them."""

from __future__ import annotations

from lightloom import _core

_REGISTRY = _core.registry()
KINDS = tuple(_REGISTRY)


def names(kind: str) -> tuple[str, ...]:
    """The names of a kind such as `planners`, in the registry's order."""
    return tuple(str(entry["name"]) for entry in _REGISTRY[kind])

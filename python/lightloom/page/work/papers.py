"""What a distribution of figures brings, where one is installed."""

from __future__ import annotations

from typing import Any

from lightloom import plugins

__all__ = ["shown_figures"]

KIND = "figures"


def shown_figures() -> Any:
    """Its module, with `papers` and `make`. Raises `InputError` that says what to install where it is not."""
    for entry in plugins.brought(plugins.FIGURES).values():
        return plugins.load(entry)
    refusal = plugins.elsewhere("figure", KIND)
    if refusal is None:
        raise LookupError(KIND)
    raise refusal

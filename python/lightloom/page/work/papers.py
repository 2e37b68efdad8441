"""The figures of an installed distribution of papers."""

from __future__ import annotations

from typing import Any

from lightloom.base import plugins
from lightloom.base.errors import refuse

__all__ = ["shown_figures"]


def shown_figures() -> Any:
    """The installed module of figures, with `papers` and `make`. Raises `InputError` that says what to install."""
    for entry in plugins.brought(plugins.FIGURES).values():
        return plugins.load(entry)
    raise refuse("figure", "no figures are installed; those of five papers come with: pip install lightloom-papers")

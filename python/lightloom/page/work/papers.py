"""What the distribution of the papers' figures brings, where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lightloom.plugins import elsewhere

__all__ = ["shown_figures"]

MODULE = "lightloom_papers.shown"
KIND = "figures"


def shown_figures() -> Any:
    """Its module, with `papers` and `make`. Raises `InputError` that says what to install where it is not."""
    try:
        return import_module(MODULE)
    except ModuleNotFoundError as error:
        refusal = elsewhere("figure", KIND)
        if refusal is None or (error.name or "").partition(".")[0] != MODULE.partition(".")[0]:
            raise
        raise refusal from error

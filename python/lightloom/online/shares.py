"""Shares as people write them: 2% or 0.02."""

from __future__ import annotations

import math

from lightloom.base.errors import refuse, shown
from lightloom.inputs.quantities import number_of

__all__ = ["share_of"]


def share_of(field: str, value: str | float, least: float, most: float) -> float:
    """The share of `"2%"`, `"0.02"` or 0.02. Raises `InputError` that names `field`."""
    accepts = f"a share from {least * 100:g}% to {most * 100:g}%, such as 2% or 0.02"
    if isinstance(value, str):
        text = value.strip()
        try:
            found = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            found = math.nan
    else:
        found = number_of(field, value, accepts)
    if not least <= found <= most:
        raise refuse(field, f"`{shown(value)}` is not accepted; it takes {accepts}")
    return found

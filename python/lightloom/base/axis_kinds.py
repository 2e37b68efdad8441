"""Kinds of numbers along an axis of a sweep or a picture."""

from __future__ import annotations

from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["size", "time", "rate", "ratio", "percent", "count", "number", "name"]

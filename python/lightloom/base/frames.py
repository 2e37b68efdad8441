"""Results with rows, as DataFrames of pandas or polars where these are installed."""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType


class Table:
    """A result that has rows."""

    __slots__ = ()

    @abstractmethod
    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a row: numbers in seconds and bytes, None for no value."""

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame` of `to_columns()`. Raises `ImportError` that names the missing package."""
        return library("pandas").DataFrame(self.to_columns())

    def to_polars(self) -> Any:
        """A `polars.DataFrame` of `to_columns()`. Raises `ImportError` that names the missing package."""
        return library("polars").DataFrame(self.to_columns())


def library(name: str) -> ModuleType:
    """The library of frames, imported. Raises `ImportError` that names the missing package."""
    try:
        return import_module(name)
    except ImportError as error:
        text = f"to_{name}: it needs {name}, which is not installed; `pip install {name}`, or use to_columns()"
        raise ImportError(text, name=name) from error

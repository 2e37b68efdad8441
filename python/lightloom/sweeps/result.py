"""The result of a sweep."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.base.errors import unknown_name
from lightloom.base.frames import Table, library
from lightloom.base.views import html, pictures
from lightloom.sweeps.axes import shape_words
from lightloom.sweeps.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom.sweeps.axes import Axis
    from lightloom.sweeps.description import SweepDescription


class SweepResult(Table):
    """The table of a sweep, a row for each point; immutable. Made by `lightloom.sweep`."""

    def __init__(self, description: SweepDescription, table: pa.Table, path: Path | None, found: int) -> None:
        """`path`: of the Parquet file; `found`: points that a run before this one had finished."""
        self._description = description
        self._table = table
        self._path = path
        self._found = found
        self._arrays: dict[str, NDArray[Any]] = {}

    def __reduce__(self) -> tuple[type[SweepResult], tuple[SweepDescription, pa.Table, Path | None, int]]:
        return type(self), (self._description, self._table, self._path, self._found)

    @property
    def description(self) -> SweepDescription:
        """The description of the sweep."""
        return self._description

    @property
    def path(self) -> Path | None:
        """The Parquet file; None where the sweep was kept in memory."""
        return self._path

    @property
    def found(self) -> int:
        """Points that a run before this one had finished."""
        return self._found

    @property
    def computed(self) -> int:
        """Points that were computed in this run."""
        return len(self) - self._found

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: axes, then results."""
        return tuple(self._table.column_names)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes in the order of the rows, the slowest first."""
        return Layout(self._description).axes

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """A column, which cannot be written to: numbers, NaN (-1 for reconfigurations) for no value, or text.

        Raises `InputError` that names `column`.
        """
        if column not in self._arrays:
            if column not in self.columns:
                raise unknown_name("column", column, self.columns)
            array = _as_numpy(self._table.column(column))
            array.flags.writeable = False
            self._arrays[column] = array
        return self._arrays[column]

    def grid(self, column: str) -> NDArray[Any]:
        """A column with a dimension for each of `axes`. Raises `InputError` that names `column`."""
        return self[column].reshape([len(axis.values) for axis in self.axes])

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a point: text and numbers, None for no value."""
        made: dict[str, list[Any]] = self._table.to_pydict()
        return made

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`. Raises `ImportError` that says what to install where there is no pandas."""
        library("pandas")
        return self._table.to_pandas()

    def to_polars(self) -> Any:
        """A `polars.DataFrame`. Raises `ImportError` that says what to install where there is no polars."""
        return library("polars").from_arrow(self._table)

    def to_arrow(self) -> pa.Table:
        """The table as Arrow has it."""
        return self._table

    def plot(self) -> list[Figure]:
        """The description's pictures; see `lightloom.plots_sweep`."""
        return pictures("SweepResult.plot", self)

    def _repr_html_(self) -> str:
        return html("SweepResult._repr_html_", self)

    def __repr__(self) -> str:
        points = f"{len(self)} points, {shape_words(self.axes)}"
        return f"SweepResult({self._description.name}, {self._description.engine}: {points})"


def _as_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    import pyarrow as pa

    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_dictionary(array.type):
        names = np.array([*array.dictionary.to_pylist(), ""], dtype=object)
        indices = array.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
        named: NDArray[Any] = names[indices]
        return named
    if pa.types.is_integer(array.type) and array.null_count:
        array = array.fill_null(-1)
    return np.array(array.to_numpy(zero_copy_only=False))

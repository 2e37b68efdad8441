"""The table of a sweep: a row for each point, with its axes and its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom.sweeps.parts import result_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from lightloom.sweeps.axes import Axis
    from lightloom.sweeps.layout import Layout

METADATA_KEY = b"lightloom.sweep"


def table_schema(layout: Layout) -> pa.Schema:
    """The columns: axes in the order of the rows, then results."""
    import pyarrow as pa

    fields = []
    for axis in layout.axes:
        if axis.labels:
            fields.append(pa.field(axis.key, pa.dictionary(pa.int32(), pa.string()), nullable=False))
        fields.append(pa.field(axis.column, _values(axis).type, nullable=False))
    return pa.schema([*fields, *result_schema(layout.description)])


def as_table(layout: Layout, rows: range, results: pa.Table) -> pa.Table:
    """The results of these rows with the columns of their axes before them."""
    import pyarrow as pa

    indices = layout.indices(rows)
    columns: list[pa.Array | pa.ChunkedArray] = []
    for axis in layout.axes:
        index = indices[axis.key]
        if axis.labels:
            columns.append(_dictionary(index, axis.labels))
        values = _values(axis)
        if pa.types.is_dictionary(values.type):
            columns.append(_dictionary(index, [str(value) for value in axis.values]))
        else:
            columns.append(values.take(pa.array(index)))
    return pa.table([*columns, *results.columns], schema=table_schema(layout))


def _values(axis: Axis) -> pa.Array:
    """An axis' values in the type of its column: floats, whole numbers, truths, or text."""
    import pyarrow as pa

    if axis.column in {"size_bytes", "size_bytes_per_pair"}:
        return pa.array([int(value) for value in axis.values], pa.int64())
    if axis.is_number:
        return pa.array(axis.values, pa.float64())
    first = axis.values[0]
    if isinstance(first, bool):
        return pa.array(axis.values, pa.bool_())
    if isinstance(first, int):
        return pa.array(axis.values, pa.uint64())
    return pa.array(axis.values, pa.string()).dictionary_encode()


def _dictionary(index: NDArray[np.intp], names: tuple[str, ...] | list[str]) -> pa.DictionaryArray:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(index.astype(np.int32)), pa.array(names, pa.string()))

"""Tokens by source rank and expert in Parquet files, as routers log them: a row for each count, in columns by name."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom._core import counted
from lightloom.base.errors import refuse
from lightloom.base.extras import missing
from lightloom.base.files import MIB, read_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["COLUMNS", "ITERATION", "SUFFIX", "read_counts"]

SUFFIX = ".parquet"
COLUMNS = ("source", "expert", "tokens")
ITERATION = "iteration"
MAX_FILE_BYTES, MAX_ROWS = 256 * MIB, 1 << 22
# Most bytes of the columns that are read, once they are unpacked, as the file states them.
MAX_UNPACKED = 512 * MIB
# Most bytes of names and lists in the file's description of itself.
MAX_THRIFT = 1 << 22
# Whole numbers up to which a float has them all.
EXACT = 1 << 53


def read_counts(field: str, path: str | os.PathLike[str], most: tuple[int, int, int]) -> NDArray[np.float64]:
    """Tokens `[iteration][source][expert]` of a Parquet file.

    The file has the columns of `COLUMNS`, and `iteration` where it has several; all count from 0. There are as many
    sources and experts as the largest ones say, and a row for each of both in every iteration, also without tokens:
    otherwise a last expert that got none would be left out unseen. most: iterations, sources and experts that are
    accepted. Raises `InputError` that names `field`.
    """
    table, has_iterations = _columns(field, path)
    places = [_places(field, path, name, values) for name, values in zip(COLUMNS[:2], table[:2], strict=True)]
    iterations = _places(field, path, ITERATION, table[3]) if has_iterations else np.zeros(len(places[0]), np.int64)
    axes = [iterations, *places]
    shape = tuple(int(axis.max()) + 1 for axis in axes)
    for name, count, limit in zip((ITERATION, *COLUMNS[:2]), shape, most, strict=True):
        if count > limit == 1:
            raise refuse(field, f"`{path}` has {name} {count - 1}; it takes one iteration, 0")
        if count > limit:
            raise refuse(field, f"`{path}` has {name} {count - 1}; it takes {name} 0 to {limit - 1}")
    if shape[0] * shape[1] * shape[2] > MAX_ROWS:
        told = " x ".join(map(str, shape))
        raise refuse(field, f"`{path}` has {told} iterations, sources and experts; it takes {MAX_ROWS} entries in all")
    flat = np.ravel_multi_index(axes, shape)
    if len(np.unique(flat)) < len(flat):
        raise refuse(field, f"`{path}` states some source and expert twice; it takes one row for each")
    tokens = np.zeros(shape)
    if len(flat) < tokens.size:
        first = np.setdiff1d(np.arange(tokens.size), flat, assume_unique=True)[0]
        iteration, source, expert = (int(place) for place in np.unravel_index(first, shape))
        where = f"source {source} and expert {expert}" + (f" in iteration {iteration}" if has_iterations else "")
        each = f"each of {counted(shape[1], 'source')} and {counted(shape[2], 'expert')}"
        raise refuse(field, f"`{path}` has no row for {where}; it takes a row for {each}, also for 0 tokens")
    tokens.ravel()[flat] = table[2]
    return tokens


def _columns(field: str, path: str | os.PathLike[str]) -> tuple[list[NDArray[Any]], bool]:
    """The columns of `COLUMNS`, then that of the iterations where there is one; and whether there is."""
    content = read_bytes(field, path, MAX_FILE_BYTES)
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise missing(field, "a Parquet file", "pyarrow") from error
    with _damage_refused(field, path):
        limits = {"thrift_string_size_limit": MAX_THRIFT, "thrift_container_size_limit": MAX_THRIFT}
        file = parquet.ParquetFile(arrow.BufferReader(content), **limits)
        types: dict[str, list[Any]] = {}
        for column in file.schema_arrow:
            types.setdefault(column.name, []).append(column.type)
        rows = file.metadata.num_rows
        wanted = [*COLUMNS, *([ITERATION] if ITERATION in types else [])]
        unpacked = _unpacked(file.metadata, wanted)
    for name in wanted:
        found = types.get(name, [])
        if len(found) != 1:
            form = f"{', '.join(COLUMNS)}, and {ITERATION} where there are several"
            raise refuse(field, f"`{path}` has {counted(len(found), 'column')} `{name}`; it takes columns {form}")
        if not (arrow.types.is_integer(found[0]) or arrow.types.is_floating(found[0])):
            raise refuse(field, f"column `{name}` of `{path}` is of type {found[0]}; it takes numbers")
    if not 1 <= rows <= MAX_ROWS:
        raise refuse(field, f"`{path}` has {rows} rows; it takes 1 to {MAX_ROWS}")
    if unpacked > MAX_UNPACKED:
        raise refuse(field, f"the columns of `{path}` unpack to more than {MAX_UNPACKED // MIB} MiB")
    with _damage_refused(field, path):
        table = file.read(columns=wanted, use_threads=False)
        gaps = sum(table.column(name).null_count for name in wanted)
        values = [table.column(name).to_numpy() for name in wanted]
    if gaps:
        raise refuse(field, f"`{path}` leaves values out; it takes a number in every row")
    return values, len(wanted) > len(COLUMNS)


@contextmanager
def _damage_refused(field: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of damaged files have many bases; here they are an `InputError` that names `field`."""
    try:
        yield
    except Exception as error:
        raise refuse(field, f"`{path}` is not a Parquet file, or a damaged one") from error


def _unpacked(metadata: Any, wanted: Sequence[str]) -> int:
    """Bytes that the columns unpack to, as the file states them."""
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    columns = (group.column(index) for group in groups for index in range(group.num_columns))
    return sum(column.total_uncompressed_size for column in columns if column.path_in_schema in wanted)


def _places(field: str, path: str | os.PathLike[str], name: str, values: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers from 0."""
    wrong = ~((values >= 0) & (values < EXACT) & (values == np.floor(values)))
    if wrong.any():
        raise refuse(field, f"column `{name}` of `{path}` has {values[wrong][0]}; it takes whole numbers from 0")
    places: NDArray[np.int64] = values.astype(np.int64)
    return places

"""Readers of All-to-All matrices: bytes from source (row) to destination (column)."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom.errors import refuse
from lightloom.files import MIB, read_bytes, read_text

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MAX_FILE_BYTES = 256 * MIB
MAX_GPUS = 4096
FORM = "a square matrix of bytes, one row per source and one column per destination"


def read_matrix(source: str | os.PathLike[str] | ArrayLike) -> NDArray[np.float64]:
    """A checked matrix `[src][dst]`, bytes, float64, from a `.npy` file, a CSV file or an array.

    CSV: one row a line, numbers separated by commas, semicolons or blanks; empty lines and lines that start with `#`
    are skipped. Raises `InputError` naming `matrix`, and the row at fault, when it is not square, not numeric, or has
    an entry that is negative or not finite.
    """
    if isinstance(source, (str, os.PathLike)):
        if Path(source).suffix.lower() == ".npy":
            return _checked(_read_npy(source))
        return _checked(_read_csv(source))
    try:
        return _checked(np.asarray(source))
    except ValueError as error:
        raise refuse("matrix", f"it takes {FORM}; {error}") from error


def _read_npy(path: str | os.PathLike[str]) -> NDArray[Any]:
    content = read_bytes("matrix", path, MAX_FILE_BYTES)
    if not content.startswith(b"\x93NUMPY"):
        raise refuse("matrix", f"`{path}` is not an NPY file")
    try:
        # A header may promise more than the file holds; numpy would allocate for the promise.
        stream = io.BytesIO(content)
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
        promised = dtype.itemsize
        for size in shape:
            promised *= int(size)
        if dtype.hasobject or promised > len(content):
            raise refuse("matrix", f"`{path}` holds Python objects or less data than its header says")
        return np.asarray(np.lib.format.read_array(io.BytesIO(content), allow_pickle=False))
    except (ValueError, EOFError, OverflowError, TypeError, SyntaxError) as error:
        raise refuse("matrix", f"`{path}` is not a readable NPY file: {error}") from error


def _read_csv(path: str | os.PathLike[str]) -> NDArray[np.float64]:
    text = read_text("matrix", path, MAX_FILE_BYTES)
    rows: list[NDArray[np.float64]] = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        where = f"row {len(rows)} (line {line_number} of `{path}`)"
        cells = content.replace(";", ",").split(",") if "," in content or ";" in content else content.split()
        try:
            row = np.array([float(cell) for cell in cells])
        except ValueError as error:
            raise refuse("matrix", f"{where} has an entry that is not a number: {str(error)[-80:]}") from error
        if rows and len(row) != len(rows[0]):
            raise refuse(
                "matrix", f"{where} has {len(row)} entries, the rows before it {len(rows[0])}; it takes {FORM}"
            )
        rows.append(row)
        if len(rows) > MAX_GPUS:
            raise refuse("matrix", f"`{path}` has more than {MAX_GPUS} rows")
    if not rows:
        raise refuse("matrix", f"`{path}` is empty; it takes {FORM}")
    return np.array(rows)


def _checked(matrix: NDArray[Any]) -> NDArray[np.float64]:
    if matrix.dtype.kind not in "iuf":
        raise refuse("matrix", f"its entries are of type {matrix.dtype}; it takes {FORM}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise refuse("matrix", f"its shape is {'x'.join(map(str, matrix.shape)) or 'a single number'}; it takes {FORM}")
    if not 2 <= len(matrix) <= MAX_GPUS:
        raise refuse("matrix", f"it has {len(matrix)} rows; it takes 2 to {MAX_GPUS}")
    values = np.ascontiguousarray(matrix, dtype=np.float64)
    wrong = np.argwhere(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        row, column = wrong[0]
        raise refuse(
            "matrix", f"row {row}, column {column} is {values[row, column]}; it takes finite bytes of at least 0"
        )
    return values

"""All-to-All matrices, read or generated: bytes from source (row) to destination (column)."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import MIB, read_lines
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.arrays import array_of
from lightloom.inputs.npy import read_npy
from lightloom.inputs.quantities import bytes_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["busiest_bytes", "checked_matrix", "generated_matrix", "read_matrix"]

MAX_FILE_BYTES = 256 * MIB
# Most rows, as the core takes them; and most columns, for experts of which each rank has several.
MAX_GPUS, MAX_COLUMNS = 512, 1 << 14
# Rows of numbers with all their digits, also of too many of them, and lines with remarks in addition to the rows.
MAX_LINE, MAX_LINES = 1 << 18, 1_000_000
FORM = (
    "a square matrix of bytes, one row per source and one column per destination; or tokens by expert, with the same "
    "number of columns for each row's experts"
)


def read_matrix(source: str | os.PathLike[str] | ArrayLike) -> NDArray[np.float64]:
    """A checked matrix `[src][dst]`, bytes, float64, from a `.npy` file, a CSV file or an array.

    Where there are several columns for each row, a multiple of the rows, they are tokens by expert, as routers of
    mixtures of experts count them: the first columns are the experts of rank 0, and so on, and are added up.

    CSV: one row a line, numbers separated by commas, semicolons or blanks; empty lines and lines that start with `#`
    are skipped. Raises `InputError` naming `matrix`, and the row at fault, when it is not square, not numeric, or has
    an entry that is negative or not finite.
    """
    if isinstance(source, (str, os.PathLike)):
        if str(source).lower().endswith(".npy"):
            accepted = f"2 to {MAX_GPUS} rows"
            return checked_matrix(read_npy("matrix", source, (MAX_GPUS, MAX_COLUMNS), FORM, accepted))
        return checked_matrix(_read_csv(source))
    try:
        given = array_of("matrix", source)
    except InputError:
        raise
    except Exception as error:  # whatever an object's own conversion raises
        raise refuse("matrix", f"`{shown(source)}` is not accepted; it takes {FORM}") from error
    return checked_matrix(given)


def generated_matrix(name: str, gpus: int, mean_size: str | float, *, seed: int = 0) -> NDArray[np.float64]:
    """A matrix `[src][dst]`, bytes, of one of `lightloom list workloads`, such as `"zipf:0.4"`.

    mean_size: of the pairs, `"32MiB"` or bytes; seed: of everything random. Raises `InputError` that names the
    argument.
    """
    gpus = whole_number("gpus", gpus, *WHOLE_RANGES["gpus"])
    seed = whole_number("seed", seed, *WHOLE_RANGES["seed"])
    return _core.workload_matrix(name, gpus, float(bytes_of("mean_size", mean_size)), seed)


def busiest_bytes(matrix: NDArray[np.float64]) -> int:
    """Whole bytes of a matrix's busiest GPU: the bytes that it sends or receives, its own block included."""
    return math.ceil(_core.Schedule.from_matrix(matrix)[1])


def _read_csv(path: str | os.PathLike[str]) -> NDArray[np.float64]:
    rows: list[NDArray[np.float64]] = []
    for line_number, line in read_lines("matrix", path, MAX_FILE_BYTES, longest=MAX_LINE, most=MAX_LINES):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        where = f"row {len(rows)} (line {line_number} of `{path}`)"
        if len(rows) == MAX_GPUS:
            raise refuse("matrix", f"`{path}` has more than {MAX_GPUS} rows; it takes 2 to {MAX_GPUS}")
        cells = content.replace(";", ",").split(",") if "," in content or ";" in content else content.split()
        if len(cells) > MAX_COLUMNS:
            raise refuse("matrix", f"{where} has {len(cells)} entries; it takes at most {MAX_COLUMNS}")
        try:
            row = np.array([float(cell) for cell in cells])
        except ValueError as error:
            raise refuse("matrix", f"{where} has an entry that is not a number: {str(error)[-80:]}") from error
        if rows and len(row) != len(rows[0]):
            raise refuse(
                "matrix", f"{where} has {len(row)} entries, the rows before it {len(rows[0])}; it takes {FORM}"
            )
        rows.append(row)
    if not rows:
        raise refuse("matrix", f"`{path}` is empty; it takes {FORM}")
    return np.array(rows)


def checked_matrix(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """The matrix as `read_matrix` gives it. Raises `InputError` that names `matrix`."""
    if matrix.dtype.kind not in "iuf":
        raise refuse("matrix", f"its entries are of type {matrix.dtype}; it takes {FORM}")
    if matrix.ndim != 2 or not len(matrix) or not matrix.shape[1] or matrix.shape[1] % len(matrix):
        raise refuse("matrix", f"its shape is {'x'.join(map(str, matrix.shape)) or 'a single number'}; it takes {FORM}")
    if not 2 <= len(matrix) <= MAX_GPUS:
        raise refuse("matrix", f"it has {_core.counted(len(matrix), 'row')}; it takes 2 to {MAX_GPUS}")
    with np.errstate(over="ignore"):  # numbers too large for a float are refused as infinite
        values = np.ascontiguousarray(matrix, dtype=np.float64)
    wrong = np.argwhere(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        row, column = wrong[0]
        raise refuse(
            "matrix", f"row {row}, column {column} is {values[row, column]}; it takes finite bytes of at least 0"
        )
    if values.shape[1] > len(values):
        with np.errstate(over="ignore"):  # what is refused in the next line
            values = np.ascontiguousarray(values.reshape(len(values), len(values), -1).sum(axis=2))
        if not np.isfinite(values).all():
            raise refuse("matrix", "the tokens of a rank's experts add up to infinity")
    return values

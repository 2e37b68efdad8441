"""All-to-All matrices, read or generated: bytes from source (row) to destination (column)."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import MIB, read_bytes, read_lines
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.inputs.arrays import array_of
from lightloom.inputs.quantities import bytes_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["busiest_bytes", "generated_matrix", "read_matrix"]

MAX_FILE_BYTES = 256 * MIB
# As many rows as the core takes; columns, of experts of which each rank has several.
MAX_GPUS, MAX_COLUMNS = 512, 1 << 14
# Rows of numbers with all their digits, also of too many of them, and lines with remarks in addition to the rows.
MAX_LINE, MAX_LINES = 1 << 18, 1_000_000
# Where an NPY file of each version says how long its header is, and in how many bytes.
NPY_LENGTHS = {b"\x01\x00": (8, 2), b"\x02\x00": (8, 4), b"\x03\x00": (8, 4)}
MAX_NPY_HEADER = 10_000
# The header that NumPy writes for a matrix of numbers; of anything else, no matrix can be made.
NPY_HEADER = re.compile(
    rb"\{'descr': '(?P<order>[<>|=]?)(?P<kind>[a-zA-Z])(?P<width>[0-9]{1,4})', "
    rb"'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<rows>[0-9]{1,9}), ?(?P<columns>[0-9]{1,9}),?\),? ?\}\s*"
)
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
            return _checked(_read_npy(source))
        return _checked(_read_csv(source))
    try:
        given = array_of("matrix", source)
    except InputError:
        raise
    except Exception as error:  # whatever an object's own conversion raises
        raise refuse("matrix", f"`{shown(source)}` is not accepted; it takes {FORM}") from error
    return _checked(given)


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


def _read_npy(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The numbers in an NPY file. Its header is a Python expression; NumPy would evaluate any, and allocate for it."""
    content = read_bytes("matrix", path, MAX_FILE_BYTES)
    if not content.startswith(b"\x93NUMPY"):
        raise refuse("matrix", f"`{path}` is not an NPY file")
    start, length = NPY_LENGTHS.get(content[6:8], (0, 0))
    first = start + length
    size = int.from_bytes(content[start:first], "little")
    header = NPY_HEADER.fullmatch(content[first : first + min(size, MAX_NPY_HEADER)])
    if not start or header is None:
        raise refuse("matrix", f"`{path}` has no header of an NPY file of numbers; it takes {FORM}")
    kind, width = header["kind"].decode(), int(header["width"])
    rows, columns = int(header["rows"]), int(header["columns"])
    if not (1 <= rows <= MAX_GPUS and 1 <= columns <= MAX_COLUMNS):
        raise refuse(
            "matrix", f"`{path}` has {rows} rows of {columns} entries; it takes 2 to {MAX_GPUS} rows, and {FORM}"
        )
    try:
        dtype = np.dtype(f"{header['order'].decode().replace('|', '=')}{kind}{width}")
    except TypeError:
        dtype = np.dtype(object)
    if dtype.hasobject:
        raise refuse("matrix", f"`{path}` has entries of type {kind}{width}; it takes {FORM}")
    if len(content) - first - size != rows * columns * dtype.itemsize:
        raise refuse("matrix", f"`{path}` does not hold the {rows} rows of {columns} that its header says")
    entries = np.frombuffer(content, dtype, offset=first + size)
    return entries.reshape((rows, columns), order="F" if header["fortran"] == b"True" else "C")


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


def _checked(matrix: NDArray[Any]) -> NDArray[np.float64]:
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

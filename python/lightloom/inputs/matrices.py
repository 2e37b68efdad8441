"""Matrices of an All-to-All by iteration: a trace in files or arrays, or matrices that are drawn and drift."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.base.files import usable_path
from lightloom.inputs.arrays import array_of
from lightloom.inputs.matrix import MAX_COLUMNS, MAX_GPUS, checked_matrix, generated_matrix, matrix_file, read_matrix
from lightloom.inputs.npy import read_npy
from lightloom.inputs.parquet import SUFFIX, read_counts
from lightloom.inputs.quantities import size_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MOST_BYTES",
    "MOST_ENTRIES",
    "MOST_ITERATIONS",
    "drawn_matrices",
    "read_matrices",
    "rows_and_columns",
    "scaled_matrices",
]

FIELD = "matrices"
PER_PAIR = "/pair"
# Entries of all matrices together.
MOST_ENTRIES = 1 << 22
MOST_ITERATIONS = 1 << 12
# Most bytes of one pair in one iteration, as the core takes them.
MOST_BYTES = 2.0**53
SUFFIXES = (".csv", ".npy", SUFFIX)
FORM = (
    "a folder of CSV, NPY and Parquet files, one for each iteration in the order of their names; an NPY file or an "
    "array of iterations x ranks x ranks bytes, or of iterations x ranks x experts tokens; a Parquet file with columns "
    "iteration, source, expert and tokens; or one of `lightloom list workloads`"
)


def read_matrices(source: str | os.PathLike[str] | ArrayLike | Sequence[ArrayLike]) -> NDArray[np.float64]:
    """The matrices of a trace, `[iteration][src][dst]`, as they are written: bytes, or tokens by rank and expert.

    source: a folder of files that `read_matrix` takes, in the order of their names; an NPY file of three axes, a
    Parquet file with iterations, or such an array. Raises `InputError` that names `matrices`, and the iteration at
    fault.
    """
    if not isinstance(source, (str, os.PathLike)):
        return _checked(_array(source))
    path = usable_path(FIELD, source)
    if path.is_dir():
        return _checked(_files(path))
    if path.suffix.lower() == ".npy":
        accepted = f"1 to {MOST_ITERATIONS} matrices of 2 to {MAX_GPUS} rows"
        return _checked(read_npy(FIELD, path, (MOST_ITERATIONS, MAX_GPUS, MAX_COLUMNS), FORM, accepted))
    if path.suffix.lower() == SUFFIX:
        return _checked(read_counts(FIELD, path, (MOST_ITERATIONS, MAX_GPUS, MAX_COLUMNS)))
    raise refuse(FIELD, f"`{shown(str(source))}` is not accepted; it takes {FORM}")


def drawn_matrices(
    name: str, gpus: int, mean_bytes: float, *, matrices: int, drift: float, seed: int
) -> NDArray[np.float64]:
    """Matrices of one of `lightloom list workloads`, `[iteration][src][dst]`, bytes.

    Of each but the first a share `drift` is drawn anew, with the next seed, and the rest is that of the matrix before.
    mean_bytes: of the pairs. Errors as for `generated_matrix`.
    """
    made: list[NDArray[np.float64]] = []
    for index in range(matrices):
        drawn = generated_matrix(name, gpus, mean_bytes, seed=seed + index)
        made.append(drawn if not made else (1.0 - drift) * made[-1] + drift * drawn)
    return np.array(made)


def scaled_matrices(matrices: NDArray[np.float64], size: str | float | None) -> NDArray[np.float64]:
    """The matrices, all times one number, so that they are of that size.

    size: of the largest buffer of any rank and iteration, `"64MiB"` or bytes; with `/pair`, the mean over all pairs of
    two ranks and all iterations; None leaves them as they are. Raises `InputError` that names `size`.
    """
    if size is None:
        return matrices
    text = size_text("size", size).strip()
    size_bytes = _core.parse_size("size", text.removesuffix(PER_PAIR))
    if text.endswith(PER_PAIR):
        ranks = matrices.shape[1]
        now = matrices[:, ~np.eye(ranks, dtype=bool)].mean()
    else:
        now = max(matrices.sum(axis=1).max(), matrices.sum(axis=2).max())
    # Entries near the least float, which would be infinite bytes, have been divided by the largest.
    largest = matrices.max()
    scaled: NDArray[np.float64] = matrices / largest * (size_bytes / (now / largest))
    return scaled


def rows_and_columns(path: Path) -> tuple[int, int] | None:
    """Numbers of rows and columns of the matrices in a file, or in a folder's first file; None if it cannot be read."""
    try:
        if path.is_dir():
            return rows_and_columns(path / _names(path)[0])
        if path.suffix.lower() == SUFFIX:
            shape = read_counts(FIELD, path, (MOST_ITERATIONS, MAX_GPUS, MAX_COLUMNS)).shape
            return shape[-2], shape[-1]
        try:
            shape = matrix_file(path).shape
        except InputError:
            shape = read_npy(FIELD, path, (MOST_ITERATIONS, MAX_GPUS, MAX_COLUMNS), FORM, "").shape
    except InputError:
        return None
    return shape[-2], shape[-1]


def _names(folder: Path) -> list[str]:
    """The files of a folder in the order of their iterations. Raises `InputError` where there are none."""
    try:
        names = sorted((entry.name for entry in folder.iterdir() if entry.suffix.lower() in SUFFIXES), key=_in_order)
    except OSError as error:
        raise refuse(FIELD, f"cannot read `{folder}`: {error.strerror}") from error
    if not names:
        raise refuse(FIELD, f"`{folder}` has no CSV, NPY or Parquet file; it takes {FORM}")
    return names


def _files(folder: Path) -> NDArray[np.float64]:
    names = _names(folder)
    _check_number(len(names), 2)
    made: list[NDArray[np.float64]] = []
    for name in names:
        try:
            matrix = read_matrix(folder / name)
        except InputError as error:
            raise refuse(FIELD, str(error).partition(": ")[2]) from error
        if made and len(matrix) != len(made[0]):
            _refuse_ranks(f"`{name}`", len(matrix), len(made[0]))
        made.append(matrix)
        _check_number(len(names), len(matrix))
    return np.array(made)


def _in_order(name: str) -> list[tuple[int, str]]:
    """Sorts `2.csv` before `10.csv`: numbers in a name by their values."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split("([0-9]+)", name)]


def _array(source: ArrayLike | Sequence[ArrayLike]) -> NDArray[Any]:
    try:
        return array_of(FIELD, source)
    except InputError:
        raise
    except Exception as error:  # whatever an object's own conversion raises
        raise refuse(FIELD, f"`{shown(source)}` is not accepted; it takes {FORM}") from error


def _checked(matrices: NDArray[Any]) -> NDArray[np.float64]:
    if matrices.ndim != 3 or not len(matrices):
        shape = "x".join(map(str, matrices.shape)) or "a single number"
        raise refuse(FIELD, f"its shape is {shape}; it takes {FORM}")
    _check_number(len(matrices), matrices.shape[1])
    made = []
    for index, matrix in enumerate(matrices):
        try:
            checked = checked_matrix(matrix)
        except InputError as error:
            raise refuse(FIELD, f"iteration {index}: {str(error).partition(': ')[2]}") from error
        if checked.max() > MOST_BYTES:
            raise refuse(FIELD, f"iteration {index} has an entry of {checked.max():g}; it takes at most 2^53")
        if not (checked[~np.eye(len(checked), dtype=bool)] > 0).any():
            raise refuse(FIELD, f"iteration {index} sends no bytes between two ranks; it takes some in each iteration")
        made.append(checked)
    return np.array(made)


def _check_number(iterations: int, ranks: int) -> None:
    most = min(MOST_ITERATIONS, MOST_ENTRIES // max(1, ranks * ranks))
    if iterations > most:
        raise refuse(
            FIELD, f"{iterations} iterations of {ranks} ranks are not accepted; it takes at most {max(1, most)}"
        )


def _refuse_ranks(name: str, ranks: int, others: int) -> NoReturn:
    raise refuse(FIELD, f"{name} has {ranks} rows and the files before it {others}; they must agree")

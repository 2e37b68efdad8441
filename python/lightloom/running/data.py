"""The data of a run: types, inputs and expected outputs of ranks, and the count of wrong elements.

As in NCCL's tests, data are whole numbers so small that sums are exact in every order of adding. None is 0, so that
missing data do not look right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from lightloom._core import counted
from lightloom.base.errors import refuse, shown, unknown_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.running.program import Program

    Array = NDArray[Any]

__all__ = [
    "DATA_TYPES",
    "REDUCTIONS",
    "DataType",
    "DrawnInputs",
    "Expected",
    "checked_inputs",
    "data_type",
    "expected",
    "reduced",
    "reduction_name",
    "wrong",
]

REDUCTIONS = ("sum", "max")
# Every byte of a workspace before data are put there: larger numbers than those of data, in every type.
UNWRITTEN = 0x7E


@dataclass(frozen=True, slots=True)
class DataType:
    """A type of elements.

    storage: how NumPy holds them; bfloat16, which NumPy does not have, by its bits. exact_bits: every whole number
    below 2 to this power is an element.
    """

    name: str
    storage: np.dtype[Any]
    exact_bits: int

    def unwritten(self, count: int) -> Array:
        """Elements of memory that nothing was put into: so large that to reduce with them does not look right."""
        return np.full(count * self.size_bytes, UNWRITTEN, dtype=np.uint8).view(self.storage)

    @property
    def size_bytes(self) -> int:
        """Bytes of an element."""
        return self.storage.itemsize

    @property
    def is_floating(self) -> bool:
        """Whether sums of elements are rounded."""
        return self.name != "int32"

    def numbers(self, array: Array) -> Array:
        """The elements as numbers that NumPy reckons with."""
        return (array.astype(np.uint32) << 16).view(np.float32) if self.name == "bfloat16" else array

    def elements(self, numbers: Array) -> Array:
        """The elements nearest to numbers; of two that are, the one whose last bit is 0."""
        if self.name != "bfloat16":
            return numbers.astype(self.storage)
        bits = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32)
        rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
        return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)


DATA_TYPES = {
    one.name: one
    for one in (
        DataType("float32", np.dtype(np.float32), 24),
        DataType("float64", np.dtype(np.float64), 53),
        DataType("int32", np.dtype(np.int32), 31),
        DataType("bfloat16", np.dtype(np.uint16), 8),
    )
}


def data_type(name: str) -> DataType:
    """The type of that name. Raises `InputError` that names `dtype`."""
    if name not in DATA_TYPES:
        raise unknown_name("dtype", name, DATA_TYPES)
    return DATA_TYPES[name]


def reduction_name(name: str) -> str:
    """The name, of a reduction. Raises `InputError` that names `reduction`."""
    if name not in REDUCTIONS:
        raise unknown_name("reduction", name, REDUCTIONS)
    return name


def reduced(kind: DataType, reduction: str, one: Array, other: Array) -> Array:
    """The elements of two arrays added, or the larger of each two; an element that is no number stays one."""
    combine = np.add if reduction == "sum" else np.maximum
    return kind.elements(combine(kind.numbers(one), kind.numbers(other)))


class DrawnInputs(Sequence["Array"]):
    """Inputs of a test, by rank: whole numbers from 1, drawn from `seed`, a number or several, and the rank when asked.

    Raises `InputError` that names `dtype` where sums over this many ranks are not exact.
    """

    def __init__(
        self, program: Program, kind: DataType, reduction: str = "sum", seed: int | tuple[int, ...] = 0
    ) -> None:
        self._kind, self._most = kind, (1 << kind.exact_bits) - 1
        self._seed = seed if isinstance(seed, tuple) else (seed,)
        if _reduces(program) and reduction == "sum":
            if program.ranks > self._most:
                reason = f"{kind.name} is exact up to {self._most}, too little for test data of {program.ranks} ranks"
                raise refuse("dtype", reason)
            self._most //= program.ranks
        self._sizes = (program.input_bytes // program.element_bytes).tolist()

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, rank: int) -> Array: ...
    @overload
    def __getitem__(self, rank: slice) -> list[Array]: ...
    def __getitem__(self, rank: int | slice) -> Array | list[Array]:
        if isinstance(rank, slice):
            return [self[one] for one in range(*rank.indices(len(self)))]
        draw = np.random.default_rng((*self._seed, range(len(self))[rank]))
        return self._kind.elements(draw.integers(1, self._most, self._sizes[rank], endpoint=True))


def checked_inputs(program: Program, arrays: Sequence[Array], kind: DataType) -> list[Array]:
    """The arrays, which must be one a rank, of the type and of the sizes of the program's inputs.

    Raises `InputError` that names `data`.
    """
    if not isinstance(arrays, Sequence | np.ndarray):
        raise refuse("data", f"`{shown(arrays)}` is not accepted; it takes a list of {program.ranks} arrays")
    if len(arrays) != program.ranks:
        raise refuse("data", f"it has {counted(len(arrays), 'array')}; it takes one for each of {program.ranks} ranks")
    sizes = (program.input_bytes // program.element_bytes).tolist()
    for rank, (array, size) in enumerate(zip(arrays, sizes, strict=True)):
        if not isinstance(array, np.ndarray) or array.dtype != kind.storage or array.shape != (size,):
            found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else shown(array)
            raise refuse(f"data[{rank}]", f"{found} is not accepted; it takes an array of {size} {kind.storage}")
    return [np.ascontiguousarray(array) for array in arrays]


class Expected(NamedTuple):
    """Outputs that ranks must have; tolerances: by how much elements may differ, None if not at all."""

    outputs: list[Array]
    tolerances: list[Array] | None


@np.errstate(invalid="ignore", over="ignore")  # data may be infinite, or no numbers
def expected(
    program: Program,
    inputs: Sequence[Array],
    kind: DataType,
    reduction: str = "sum",
    ranks: Sequence[int] | None = None,
) -> Expected:
    """Results of the collective on the inputs of all ranks, by NumPy; only for `ranks` if they are given.

    Sums of floating types are exact where all they add are whole numbers that add up to one that is exact in the type;
    elsewhere they may differ by the effect of the order of adding on rounding, n·2^(1 - exact_bits)·Σ|x| for n ranks.
    """
    asked = range(program.ranks) if ranks is None else ranks
    if not _reduces(program):
        return Expected(_moved(program, inputs, asked), None)
    whole = _total(inputs, kind, reduction)
    tolerance = _tolerance(inputs, kind) if reduction == "sum" and kind.is_floating else None
    shares = [_kept(program, whole, rank) for rank in asked]
    return Expected([whole[one] for one in shares], None if tolerance is None else [tolerance[one] for one in shares])


@np.errstate(invalid="ignore", over="ignore")
def wrong(found: Sequence[Array], wanted: Expected, kind: DataType) -> int:
    """The number of wrong elements in the outputs of all ranks; NaN equals NaN."""
    count = 0
    for rank, (output, right) in enumerate(zip(found, wanted.outputs, strict=True)):
        one, other = kind.numbers(output), kind.numbers(right)
        same = one == other
        if kind.is_floating:
            same |= np.isnan(one) & np.isnan(other)
        if wanted.tolerances is not None:
            same |= np.abs(one.astype(np.float64) - other) <= wanted.tolerances[rank]
        count += int(np.count_nonzero(~same))
    return count


def _reduces(program: Program) -> bool:
    return program.collective in {"all-reduce", "reduce-scatter", "reduce"}


def _moved(program: Program, inputs: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    if program.collective == "broadcast":
        whole = inputs[program.root or 0]
        return [whole for _ in ranks]
    if program.collective == "scatter":
        whole = inputs[program.root or 0]
        return [whole[_share(program, whole, rank)] for rank in ranks]
    if program.blocks is None:
        whole = np.concatenate(inputs)
        gathers = program.collective == "gather"
        return [whole[:0] if gathers and rank != program.root else whole for rank in ranks]
    received: list[list[Array]] = [[] for _ in ranks]
    for array, row in zip(inputs, program.blocks, strict=True):
        ends = np.cumsum(row)
        for rank, parts in zip(ranks, received, strict=True):
            parts.append(array[ends[rank] - row[rank] : ends[rank]].copy())
    return [np.concatenate(parts) for parts in received]


def _total(inputs: Sequence[Array], kind: DataType, reduction: str) -> Array:
    precise = np.float64 if kind.is_floating else kind.storage
    total = kind.numbers(inputs[0]).astype(precise)
    for rank in range(1, len(inputs)):
        if reduction == "sum":
            total += kind.numbers(inputs[rank])
        else:
            np.maximum(total, kind.numbers(inputs[rank]), out=total)
    return kind.elements(total)


def _tolerance(inputs: Sequence[Array], kind: DataType) -> Array:
    absolute = np.zeros(len(inputs[0]))
    are_whole = np.ones(len(inputs[0]), dtype=bool)
    for array in inputs:
        numbers = kind.numbers(array).astype(np.float64)
        absolute += np.abs(numbers)
        are_whole &= numbers == np.rint(numbers)
    is_exact = are_whole & (absolute < 2.0**kind.exact_bits)
    # A sum with an infinite or NaN term is the same in every order of addition.
    is_exact |= ~np.isfinite(absolute)
    return np.where(is_exact, 0.0, len(inputs) * 2.0 ** (1 - kind.exact_bits) * absolute)


def _kept(program: Program, whole: Array, rank: int) -> slice:
    """The part of the sum that a rank ends with."""
    if program.collective == "reduce":
        return slice(0, len(whole) if rank == program.root else 0)
    return slice(0, len(whole)) if program.collective == "all-reduce" else _share(program, whole, rank)


def _share(program: Program, whole: Array, rank: int) -> slice:
    return slice(rank * len(whole) // program.ranks, (rank + 1) * len(whole) // program.ranks)

"""Data of runs: types, drawn inputs, NumPy's results, and wrong elements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.running.data import (
    DATA_TYPES,
    DataType,
    DrawnInputs,
    checked_inputs,
    data_type,
    expected,
    reduced,
    reduction_name,
    wrong,
)
from lightloom.running.interpreter import interpret
from lightloom.running.program import Program, program_of

BFLOAT16 = DATA_TYPES["bfloat16"]
FLOATING = [kind for kind in DATA_TYPES.values() if kind.is_floating]


def program(collective: str, gpus: int, elements: int, kind: DataType) -> Program:
    return program_of(ll.plan(collective, elements * kind.size_bytes, fabric=ll.Fabric(gpus=gpus)), kind.size_bytes)


def test_elements_of_bfloat16_are_the_upper_bits_of_float32() -> None:
    """1 is 0x3f80, -2 is 0xc000; between two elements, the nearer, and halfway the one whose last bit is 0."""
    numbers = np.array([1, -2, 0, np.inf, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20], dtype=np.float32)
    elements = BFLOAT16.elements(numbers)
    assert elements.tolist() == [0x3F80, 0xC000, 0, 0x7F80, 0x3F80, 0x3F82, 0x3F81]
    assert BFLOAT16.numbers(elements)[:4].tolist() == [1, -2, 0, np.inf]
    assert np.isnan(BFLOAT16.numbers(BFLOAT16.elements(np.array([np.nan, -np.nan], dtype=np.float32)))).all()


@given(bits=st.integers(0, 0xFFFF))
def test_every_bfloat16_is_the_nearest_to_itself(bits: int) -> None:
    element = np.array([bits], dtype=np.uint16)
    again = BFLOAT16.elements(BFLOAT16.numbers(element))
    assert again == element or np.isnan(BFLOAT16.numbers(again)) == np.isnan(BFLOAT16.numbers(element)) == [True]


@pytest.mark.parametrize("kind", DATA_TYPES.values(), ids=DATA_TYPES)
def test_drawn_numbers_have_exact_sums_and_none_is_zero(kind: DataType) -> None:
    made = program("all-reduce", 8, 4096, kind)
    inputs = DrawnInputs(made, kind, seed=3)
    numbers = [kind.numbers(array).astype(np.float64) for array in inputs]
    assert all(array.dtype == kind.storage for array in inputs)
    assert all((array >= 1).all() and (array == np.rint(array)).all() for array in numbers)
    assert np.sum(numbers, axis=0).max() < 2.0**kind.exact_bits
    assert not np.array_equal(inputs[0], inputs[1])
    assert all(np.array_equal(*pair) for pair in zip(inputs, DrawnInputs(made, kind, seed=3), strict=True))
    assert expected(made, inputs, kind).tolerances is None or not np.any(expected(made, inputs, kind).tolerances)


def test_types_too_small_for_sums_of_so_many_are_refused() -> None:
    made = program("all-reduce", 256, 256, BFLOAT16)
    with pytest.raises(InputError, match=r"^dtype: bfloat16 is exact up to 255, .* 256 ranks$"):
        DrawnInputs(made, BFLOAT16)
    assert len(DrawnInputs(made, BFLOAT16, "max")) == 256


def test_what_numpy_expects_of_each_collective() -> None:
    """By hand: ranks 0, 1 and 2, and a buffer of 4 elements, whose shares are 1, 1 and 2."""
    kind = DATA_TYPES["int32"]

    def outputs(collective: str, inputs: list[list[int]], reduction: str = "sum") -> list[list[int]]:
        arrays = [np.array(row, dtype=np.int32) for row in inputs]
        return [array.tolist() for array in expected(program(collective, 3, 4, kind), arrays, kind, reduction).outputs]

    rows = [[1, 2, 3, 4], [10, 20, 30, 40], [200, 100, 300, 0]]
    assert outputs("all-reduce", rows) == [[211, 122, 333, 44]] * 3
    assert outputs("all-reduce", rows, "max") == [[200, 100, 300, 40]] * 3
    assert outputs("reduce-scatter", rows) == [[211], [122], [333, 44]]
    assert outputs("all-gather", [[1], [2], [3, 4]]) == [[1, 2, 3, 4]] * 3
    assert outputs("broadcast", [[1, 2, 3, 4], [], []]) == [[1, 2, 3, 4]] * 3
    assert outputs("reduce", rows) == [[211, 122, 333, 44], [], []]
    assert outputs("gather", [[1], [2], [3, 4]]) == [[1, 2, 3, 4], [], []]
    assert outputs("scatter", [[1, 2, 3, 4], [], []]) == [[1], [2], [3, 4]]
    assert outputs("all-to-all", rows) == [[1, 10, 200], [2, 20, 100], [3, 4, 30, 40, 300, 0]]


@pytest.mark.large
@settings(max_examples=40, deadline=None)
@given(kind=st.sampled_from(FLOATING), gpus=st.integers(2, 12), seed=st.integers(0, 1 << 30))
def test_sums_of_any_numbers_differ_by_rounding_alone(kind: DataType, gpus: int, seed: int) -> None:
    made = program("all-reduce", gpus, 200, kind)
    draw = np.random.default_rng(seed)
    inputs = [kind.elements(draw.normal(size=200) * 10.0 ** draw.integers(-3, 3)) for _ in range(gpus)]
    wanted = expected(made, inputs, kind)
    found = interpret(made, inputs, kind)
    assert wrong(found, wanted, kind) == 0
    # A rank's numbers that were not added are noticed.
    less = [kind.elements(kind.numbers(found[0]).astype(np.float64) - 1e4), *found[1:]]
    assert wrong(less, wanted, kind) == 200


@pytest.mark.parametrize("kind", FLOATING, ids=lambda kind: kind.name)
def test_what_is_no_number_stays_none(kind: DataType) -> None:
    made = program("all-reduce", 4, 3, kind)
    inputs = [kind.elements(np.array([1, np.inf, np.nan if rank == 2 else 4])) for rank in range(4)]
    for reduction in ("sum", "max"):
        found = interpret(made, inputs, kind, reduction)
        wanted = expected(made, inputs, kind, reduction)
        assert wrong(found, wanted, kind) == 0
        assert np.isnan(kind.numbers(found[1])).tolist() == [False, False, True]
        assert wrong([kind.elements(np.zeros(3))] * 4, wanted, kind) == 4 * 3


def test_reductions() -> None:
    one, other = (BFLOAT16.elements(np.array(row, dtype=np.float32)) for row in ([1, -3, 128], [2, -4, 127]))
    assert BFLOAT16.numbers(reduced(BFLOAT16, "sum", one, other)).tolist() == [3, -7, 255]
    assert BFLOAT16.numbers(reduced(BFLOAT16, "max", one, other)).tolist() == [2, -3, 128]


def test_names_and_arrays_that_are_not_taken_are_refused() -> None:
    with pytest.raises(InputError, match=r"^dtype: unknown name `float16`"):
        data_type("float16")
    with pytest.raises(InputError, match=r"^reduction: unknown name `mean`"):
        reduction_name("mean")
    kind = DATA_TYPES["float32"]
    made = program("all-reduce", 2, 5, kind)
    right = [np.ones(5, dtype=np.float32)] * 2
    assert len(checked_inputs(made, right, kind)) == 2
    with pytest.raises(InputError, match=r"^data: it has 1 array; it takes one for each of 2 ranks$"):
        checked_inputs(made, right[:1], kind)
    with pytest.raises(InputError, match=r"^data\[1\]: float64 of shape \(5,\) is not accepted; .* 5 float32$"):
        checked_inputs(made, [right[0], right[1].astype(float)], kind)
    with pytest.raises(InputError, match=r"^data\[0\]: 3 is not accepted"):
        checked_inputs(made, [3, right[1]], kind)  # type: ignore[list-item]

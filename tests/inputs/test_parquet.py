"""Tokens by source and expert in Parquet files: read as they are written, or refused in one line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from lightloom.base.errors import InputError
from lightloom.inputs import parquet as reader
from lightloom.inputs.matrices import read_matrices
from lightloom.inputs.matrix import read_matrix
from tests.conftest import RunCli

GOOD: dict[str, Any] = {
    "source": [0, 0, 0, 0, 1, 1, 1, 1],
    "expert": [0, 1, 2, 3, 0, 1, 2, 3],
    "tokens": [5, 0, 0, 7, 0, 11, 13, 0],
}


def written(path: Path, columns: dict[str, Any]) -> Path:
    parquet.write_table(arrow.table(columns), path)
    return path


def test_counts_are_added_up_by_the_ranks_of_the_experts(tmp_path: Path) -> None:
    # Experts 0 and 1 are of rank 0, experts 2 and 3 of rank 1.
    path = written(tmp_path / "one.parquet", GOOD | {"layer": ["a"] * 8})
    assert read_matrix(path).tolist() == [[5, 7], [11, 13]]


def test_iterations_are_matrices(tmp_path: Path) -> None:
    columns = {name: values * 2 for name, values in GOOD.items()} | {"iteration": [0] * 8 + [1] * 8}
    columns["tokens"] = [*GOOD["tokens"], 1.0, 0, 0, 2.0, 0, 3.0, 4.5, 0]
    path = written(tmp_path / "two.parquet", columns)
    assert read_matrices(path).tolist() == [[[5, 7], [11, 13]], [[1, 2], [3, 4.5]]]
    with pytest.raises(InputError, match=r"^matrix: `.*` has iteration 1; it takes one iteration, 0$"):
        read_matrix(path)
    (tmp_path / "folder").mkdir()
    written(tmp_path / "folder" / "0.parquet", GOOD)
    np.save(tmp_path / "folder" / "1.npy", np.ones((2, 2)))
    assert read_matrices(tmp_path / "folder").tolist() == [[[5, 7], [11, 13]], [[1, 1], [1, 1]]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokens": None}, "has 0 columns `tokens`; it takes columns source, expert, tokens, and iteration where "),
        ({"source": list("abcdefgh")}, "column `source` of `{path}` is of type string; it takes numbers"),
        ({"source": [0, 0, 0, 0, 1, 1, 1, -1]}, "column `source` of `{path}` has -1; it takes whole numbers from 0"),
        ({"expert": [0, 1, 2, 3, 0, 1, 2, 0.5]}, "column `expert` of `{path}` has 0.5; it takes whole numbers from 0"),
        (
            {"expert": [0, 1, 2, 3, 0, 1, 2, float("nan")]},
            "column `expert` of `{path}` has nan; it takes ",
        ),
        ({"expert": [0, 1, 2, 3, 0, 1, 1, 3]}, "states some source and expert twice; it takes one row for each"),
        ({"expert": [0, 1, 2, 3, 0, 1, 2, 1 << 40]}, "has expert 1099511627776; it takes expert 0 to 16383"),
        ({"tokens": [5, None, 0, 7, 0, 11, 13, 0]}, "leaves values out; it takes a number in every row"),
        ({"tokens": [5, 0, 0, -7, 0, 11, 13, 0]}, "row 0, column 3 is -7.0; it takes finite bytes of at least 0"),
        (
            {"expert": [0, 1, 2, 3, 0, 1, 2, 4]},
            "has no row for source 0 and expert 4; it takes a row for each ",
        ),
        ({"source": [0] * 3 + [1] * 3, "expert": [0, 1, 2] * 2, "tokens": [1] * 6}, "its shape is 2x3; it takes "),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    columns = {name: values for name, values in (GOOD | change).items() if values is not None}
    path = written(tmp_path / "wrong.parquet", columns)
    with pytest.raises(InputError) as error:
        read_matrix(path)
    assert str(error.value).startswith("matrix: ")
    assert said.format(path=path) in str(error.value)
    assert "\n" not in str(error.value)


def test_more_than_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "one.parquet", GOOD)
    monkeypatch.setattr(reader, "MAX_ROWS", 3)
    with pytest.raises(InputError, match=r"has 8 rows; it takes 1 to 3$"):
        read_matrix(path)
    monkeypatch.undo()
    monkeypatch.setattr(reader, "MAX_UNPACKED", 1)
    with pytest.raises(InputError, match=r"unpack to more than 0 MiB$"):
        read_matrix(path)
    (tmp_path / "none.parquet").write_bytes(b"PAR1 and nothing else PAR1")
    with pytest.raises(InputError, match=r"^matrix: `.*none\.parquet` is not a Parquet file, or a damaged one$"):
        read_matrix(tmp_path / "none.parquet")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6), cut=st.integers(0, 10_000))
def test_damaged_files_are_refused_or_read(tmp_path: Path, changes: list[tuple[int, int]], cut: int) -> None:
    whole = bytearray(written(tmp_path / "whole.parquet", GOOD | {"iteration": [0] * 8}).read_bytes())
    for place, value in changes:
        whole[place % len(whole)] = value
    path = tmp_path / "damaged.parquet"
    path.write_bytes(bytes(whole[: len(whole) - cut % len(whole)] if cut % 3 == 0 else whole))
    try:
        matrices = read_matrices(path)
    except InputError as error:
        assert str(error).startswith("matrices: ")
        assert "\n" not in str(error)
    else:
        assert matrices.ndim == 3


def test_a_plan_is_made_of_it(cli: RunCli, in_tmp: Path) -> None:
    written(in_tmp / "tokens.parquet", GOOD)
    np.savetxt("tokens.csv", [[5, 0, 0, 7], [0, 11, 13, 0]], delimiter=",")
    asked = ("--size", "1MiB", "--format", "json")
    read, same = (cli("plan", "--matrix", name, *asked) for name in ("tokens.parquet", "tokens.csv"))
    assert read.status == 0
    assert read.out == same.out


def test_without_the_package_its_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "one.parquet", GOOD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    needs = r"^matrix: a Parquet file needs the package `pyarrow`: pip install 'lightloom\[sweep\]'$"
    with pytest.raises(InputError, match=needs):
        read_matrix(path)

"""Matrices by iteration: what is read, their size, and one line for everything that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lightloom.base.errors import InputError
from lightloom.inputs.matrices import drawn_matrices, read_matrices, scaled_matrices
from lightloom.inputs.matrix import generated_matrix
from tests.draws import cases

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

TRACE = np.arange(36.0).reshape(4, 3, 3)


def test_a_trace_is_read_from_arrays_files_and_folders(tmp_path: Path) -> None:
    np.save(tmp_path / "trace.npy", TRACE)
    folder = tmp_path / "trace"
    folder.mkdir()
    (folder / "notes.txt").write_text("not a matrix")
    # In the order of the numbers in the names, of which no text is one: 2, 9, 10, 11.
    for name, matrix in zip((2, 9, 10), TRACE, strict=False):
        np.savetxt(folder / f"step-{name}.csv", matrix, delimiter=",")
    np.save(folder / "step-11.npy", TRACE[3])
    for source in (TRACE, TRACE.tolist(), tmp_path / "trace.npy", str(tmp_path / "trace.npy"), folder):
        assert np.array_equal(read_matrices(source), TRACE)


def test_tokens_by_expert_are_added_up_by_rank(tmp_path: Path) -> None:
    tokens = np.arange(2 * 3 * 6).reshape(2, 3, 6)
    np.save(tmp_path / "tokens.npy", tokens)
    wanted = [[[row[2 * rank] + row[2 * rank + 1] for rank in range(3)] for row in one] for one in tokens.tolist()]
    assert read_matrices(tmp_path / "tokens.npy").tolist() == wanted


def test_sizes() -> None:
    per_pair = scaled_matrices(TRACE, "1KiB/pair")
    apart = ~np.eye(3, dtype=bool)
    assert per_pair[:, apart].mean() == pytest.approx(1024.0)
    assert per_pair / per_pair[3, 2, 2] == pytest.approx(TRACE / TRACE[3, 2, 2])
    # The largest sum is that of the last row: 33 + 34 + 35.
    assert scaled_matrices(TRACE, "102KB") == pytest.approx(TRACE * 1000.0)
    assert scaled_matrices(TRACE, None) is TRACE


def test_drift_is_the_share_that_is_drawn_anew() -> None:
    first, second = (generated_matrix("random", 5, 1e6, seed=seed) for seed in (4, 5))
    made = drawn_matrices("random", 5, 1e6, matrices=2, drift=0.25, seed=4)
    assert np.array_equal(made[0], first)
    assert made[1] == pytest.approx(0.75 * first + 0.25 * second)
    still = drawn_matrices("random", 5, 1e6, matrices=3, drift=0.0, seed=4)
    assert np.array_equal(still, np.array([first] * 3))


WRONG = {
    "one matrix": (TRACE[0], "its shape is 3x3"),
    "no iteration": (TRACE[:0], "its shape is 0x3x3"),
    "not square": (TRACE[:, :2, :], "iteration 0: its shape is 2x3"),
    "below zero": (TRACE - 40.0, "iteration 0: row 0, column 0 is -40.0"),
    "silent": (np.array([TRACE[0], np.eye(3)]), "iteration 1 sends no bytes"),
    "too many bytes": (TRACE * 1e300, "iteration 0 has an entry of 8e+300; it takes at most 2^53"),
    "ragged": ([[[1, 2], [3, 4]], [[1]]], "is not accepted"),
    "words": ("zipf", "is not accepted; it takes a folder"),
    "too many": (np.ones((4097, 2, 2)), "4097 iterations of 2 ranks are not accepted; it takes at most 4096"),
    "too large": (np.ones((17, 512, 512)), "17 iterations of 512 ranks are not accepted; it takes at most 16"),
}


@pytest.mark.parametrize(("source", "words"), WRONG.values(), ids=WRONG)
def test_wrong_traces(source: object, words: str) -> None:
    with pytest.raises(InputError) as error:
        read_matrices(source)  # type: ignore[arg-type]
    assert error.value.field == "matrices"
    assert words in str(error.value)


def test_wrong_folders(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no CSV, NPY or Parquet file"):
        read_matrices(tmp_path / "empty")
    np.savetxt(tmp_path / "a.csv", np.ones((3, 3)), delimiter=",")
    np.savetxt(tmp_path / "b.csv", np.ones((4, 4)), delimiter=",")
    with pytest.raises(InputError, match=r"`b.csv` has 4 rows and the files before it 3"):
        read_matrices(tmp_path)
    (tmp_path / "a.csv").write_text("1,2\n3,x\n")
    with pytest.raises(InputError, match=r"^matrices: row 1 .*a.csv.* not a number"):
        read_matrices(tmp_path)
    with pytest.raises(InputError, match="matrices: "):
        read_matrices(tmp_path / "nowhere.npy")


SHAPES = st.sampled_from(["(2, 2, 2)", "(1, 2, 4)", "(2, 2)", "(2,)", "(9999999, 2, 2)", "(1, 2, 2, 2)", "(0, 2, 2)"])
TYPES = st.sampled_from(["<f8", "<f4", "|i1", "<M8[ns]", "O", "<c16", "f9"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=cases(150))
@given(shape=SHAPES, dtype=TYPES, data=st.binary(max_size=80))
@example("(2, 2, 2)", "<f8", np.ones(8).tobytes())
def test_any_npy_file_of_three_axes(tmp_path: Path, shape: str, dtype: str, data: bytes) -> None:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    (tmp_path / "m.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data)
    try:
        matrices = read_matrices(tmp_path / "m.npy")
    except InputError as error:
        assert error.field == "matrices"
        assert len(str(error)) < 700
    else:
        assert matrices.shape[1] == matrices.shape[2] >= 2


def test_the_command_line_refuses_in_one_line(in_tmp: Path, cli: RunCli) -> None:
    from tests.refusals import assert_refused

    (in_tmp / "trace").mkdir()
    (in_tmp / "trace" / "0.csv").write_text("0,5\n7,0\n")
    for arguments, field in (
        (("robust",), "matrices"),
        (("robust", "--matrices", "trace", "--gpus", 3), "matrices"),
        (("robust", "--matrices", "trace", "--drift", "much"), "drift"),
        (("robust", "--matrices", "trace", "--iterations", 2), "iterations"),
        (("robust", "--matrices", "trace", "--objective", "mean"), "objective"),
        (("robust", "--matrices", "trace", "--plot", "regret.txt"), "plot"),
        (("robust", "--matrices", "trace", "--output", "trace/0.csv/plan.json"), "output"),
        (("robust", "--matrices", "nowhere"), "matrices"),
    ):
        assert_refused(cli, in_tmp, *arguments, field=field)

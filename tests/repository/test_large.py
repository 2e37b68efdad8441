"""`make test` draws an eighth of the cases of large tests, and `make test-large` runs them all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TESTS = """
import pytest

@pytest.mark.large
@pytest.mark.parametrize("case", range(17))
def test_of_many_cases(case): ...

@pytest.mark.large
@pytest.mark.parametrize("case", range(17))
def test_of_the_same_cases(case): ...

@pytest.mark.large
@pytest.mark.parametrize("case", range(2))
def test_of_two_cases(case): ...

@pytest.mark.large
@pytest.mark.parametrize("case", [0, *(pytest.param(case, marks=pytest.mark.slow) for case in range(1, 6))])
def test_of_slow_cases(case): ...

@pytest.mark.large
def test_without_cases(): ...

@pytest.mark.parametrize("case", range(3))
def test_not_large(case): ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of tests, with the project's own hooks."""
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    large:\n    long:\n    slow:\n")
    (tmp_path / "test_them.py").write_text(TESTS)
    return tmp_path


def collected(folder: Path, *arguments: str) -> list[str]:
    """The tests that pytest would run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments, "test_them.py"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return [line.split("::")[1] for line in ran.stdout.splitlines() if "::" in line]


def cases(names: list[str], test: str) -> list[str]:
    """The cases of one test."""
    return [name.removeprefix(test) for name in names if name.startswith(f"{test}[")]


def test_an_eighth_of_the_cases_is_drawn_by_the_seed(folder: Path) -> None:
    drawn = {seed: collected(folder, "--large", "some", f"--hypothesis-seed={seed}") for seed in "12"}
    for names in drawn.values():
        assert len(cases(names, "test_of_many_cases")) == 3
        assert cases(names, "test_of_many_cases") == cases(names, "test_of_the_same_cases")
        assert len(cases(names, "test_of_two_cases")) == 1
        assert cases(names, "test_of_slow_cases") == ["[0]"]
        assert "test_without_cases" not in names
        assert len(cases(names, "test_not_large")) == 3
    assert len({tuple(names) for names in drawn.values()}) > 1
    assert drawn["1"] == collected(folder, "--large", "some", "--hypothesis-seed=1")


def test_nothing_is_left_out_by_itself(folder: Path) -> None:
    assert len(collected(folder)) == 17 + 17 + 2 + 6 + 1 + 3
    assert len(collected(folder, "-m", "large")) == 17 + 17 + 2 + 6 + 1

"""`make test` draws a sixteenth of the cases of large tests, and `make test-large` runs them all."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

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


@pytest.mark.large
def test_a_sixteenth_of_the_cases_is_drawn_by_the_seed(folder: Path) -> None:
    names = collected(folder, "--large", "some", "--hypothesis-seed=1")
    assert len(cases(names, "test_of_many_cases")) in {1, 2}
    assert cases(names, "test_of_many_cases") == cases(names, "test_of_the_same_cases")
    assert set(cases(names, "test_of_slow_cases")) <= {"[0]"}
    assert len(cases(names, "test_not_large")) == 3
    assert names == collected(folder, "--large", "some", "--hypothesis-seed=1")


class Case(NamedTuple):
    """A case of a large test."""

    nodeid: str
    slow: bool

    def get_closest_marker(self, name: str) -> bool:
        """Whether it is marked by a name."""
        return name == "large" or (name == "slow" and self.slow)


@pytest.mark.parametrize(
    ("number", "slow", "least", "most"), [(17, 0, 1, 2), (16, 0, 1, 1), (1, 0, 0, 1), (6, 5, 0, 1)]
)
def test_over_many_seeds_a_sixteenth_is_drawn(number: int, slow: int, least: int, most: int) -> None:
    undrawn = runpy.run_path(str(ROOT / "conftest.py"))["undrawn"]
    everything = [Case(f"test_it.py::test[{index}]", index >= number - slow) for index in range(number)]
    drawn = [set(everything) - undrawn(everything, str(seed)) for seed in range(2000)]
    assert {len(some) for some in drawn} == {least, most}
    assert not any(case.slow for some in drawn for case in some)
    # The standard deviation of the mean is at most 0.5 / √2000 = 0.011.
    assert fmean(map(len, drawn)) == pytest.approx(number / 16, abs=0.05)
    assert set.union(*drawn) == {case for case in everything if not case.slow}
    all_slow = [Case(f"test_it.py::test[{index}]", slow=True) for index in range(17)]
    assert undrawn(all_slow, "1") == set(all_slow)


@pytest.mark.large
def test_nothing_is_left_out_by_itself(folder: Path) -> None:
    assert len(collected(folder)) == 17 + 17 + 2 + 6 + 1 + 3
    assert len(collected(folder, "-m", "large")) == 17 + 17 + 2 + 6 + 1

"""The wheel that `make wheel` left in dist/, tried as somebody tries it who has no compiler."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.wheel import MOST_BYTES, installed, left_out, left_out_of_sources, plan_of, size_of

WHEELS = sorted((ROOT / "dist").glob("lightloom-*.whl"))
SOURCES = sorted((ROOT / "dist").glob("lightloom-*.tar.gz"))


@pytest.mark.slow
@pytest.mark.skipif(not WHEELS, reason="no wheel in dist/: make wheel")
def test_a_wheel_plans_in_an_empty_environment(tmp_path: Path) -> None:
    commands = installed(WHEELS[-1], tmp_path / "environment")
    told = plan_of(commands / "lightloom", tmp_path)
    assert isinstance(told, dict)
    assert told["total_s"] >= told["lower_bound_s"] > 0
    assert size_of(commands.parent) < MOST_BYTES


@pytest.mark.skipif(not SOURCES, reason="no sources in dist/: make wheel")
def test_files_of_the_package_are_in_the_wheel_and_the_sources() -> None:
    assert left_out(WHEELS[-1]) == []
    assert left_out_of_sources(SOURCES[-1]) == []

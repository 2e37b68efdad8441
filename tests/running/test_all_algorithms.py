"""A part of the runs of all algorithms, against the collectives' definitions."""

from __future__ import annotations

import sys
from itertools import islice

import pytest

from lightloom import _core
from tests.recompute.problems import ALGORITHMS
from tests.running.all_algorithms import PLANNERS, cases, executors, wrong_of

EVERY = 13


def test_no_algorithm_is_left_out() -> None:
    registered = {
        (collective, entry["name"])
        for entry in _core.registry()["algorithms"]
        for collective in entry["collectives"].split(", ")
    }
    assert {(case.collective, case.algorithm) for case in cases()} == registered
    assert registered == {(collective, name) for collective, names in ALGORITHMS.items() for name in names}


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="plans are run only on Linux")
@pytest.mark.parametrize("reduction", ["sum", "max"])
def test_ranks_end_with_what_collectives_mean(reduction: str) -> None:
    with executors()[reduction] as executor:
        for index, case in enumerate(islice(cases(), 0, None, EVERY)):
            planner = PLANNERS[index % len(PLANNERS)]
            assert wrong_of(executor, case, planner, reduction, index) == 0, (case, planner)

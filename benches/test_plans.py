"""Whole plans as a person asks for them: candidates, profiles, search, bound and verification."""

from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import lightloom as ll

CASES: dict[str, dict[str, Any]] = {
    "swing, 3-D torus of 64, 6 ports, all candidates": {
        "collective": "all-reduce",
        "algorithm": "swing",
        "fabric": ll.Fabric(dims="4x4x4", ports=6),
    },
    "recursive doubling, 64, one port": {
        "collective": "all-reduce",
        "algorithm": "recursive-doubling",
        "fabric": ll.Fabric(gpus=64),
    },
    "recursive doubling, 1024, one port": {
        "collective": "all-reduce",
        "algorithm": "recursive-doubling",
        "fabric": ll.Fabric(gpus=1024),
    },
    "direct all-to-all, 64, one port": {
        "collective": "all-to-all",
        "algorithm": "direct",
        "fabric": ll.Fabric(gpus=64),
    },
    "direct all-to-all, 1024, one port": {
        "collective": "all-to-all",
        "algorithm": "direct",
        "fabric": ll.Fabric(gpus=1024),
    },
}


@pytest.mark.parametrize("name", CASES)
def test_plan(benchmark: BenchmarkFixture, name: str) -> None:
    problem = CASES[name]
    plan = benchmark.pedantic(lambda: ll.plan(size="1MiB", planner="harvest", **problem), rounds=3, warmup_rounds=1)
    assert plan.total_s >= plan.lower_bound_s

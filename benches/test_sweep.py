"""The time of 10 000 (size, delay) points compared with one plan, and of a million with their table on disk."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import lightloom as ll
from lightloom.inputs.options import Settings

FABRIC = ll.Fabric(gpus=64, ports=2)
SETTINGS: Settings = {"algorithm": "swing", "planner": "harvest"}
POINTS = 100


def sweep() -> ll.Problem:
    """The whole job: profiles, then every point."""
    problem = ll.Problem("all-reduce", fabric=FABRIC, **SETTINGS)
    sizes = np.round(np.logspace(3, 9, POINTS))
    delays = np.logspace(-8, -2, POINTS)
    assert problem.sweep(sizes[:, None], delays).total_s.shape == (POINTS, POINTS)
    return problem


def test_sweep_of_ten_thousand_points(benchmark: BenchmarkFixture) -> None:
    def one_plan_s() -> float:
        started = time.perf_counter()
        ll.plan("all-reduce", size="1MiB", fabric=FABRIC, **SETTINGS)
        return time.perf_counter() - started

    plan_s = sorted(one_plan_s() for _ in range(5))[2]
    benchmark.pedantic(sweep, rounds=5, warmup_rounds=1)
    if benchmark.stats is None:  # --benchmark-disable
        return
    sweep_s = benchmark.stats.stats.median
    benchmark.extra_info["one plan, ms"] = round(plan_s * 1e3, 2)
    benchmark.extra_info["10 000 points over one plan"] = round(sweep_s / plan_s, 2)
    absolute = f"one plan {plan_s * 1e3:.1f} ms, 10 000 points {sweep_s * 1e3:.1f} ms"
    print(f"\n{absolute}: {sweep_s / plan_s:.2f} times one plan")


SIDE = 1000
FRESH = """
import json, sys, time
import lightloom as ll
started = time.process_time()
ll.sweep(json.loads(sys.argv[1]), output=sys.argv[2], restart=True)
print(time.process_time() - started)
"""
MILLION = {
    "name": "million",
    "metrics": ["time", "reconfigurations"],
    "axes": {
        "size": {"from": "1KiB", "to": "1GiB", "count": SIDE},
        "reconfiguration-delay": {"from": "10ns", "to": "10ms", "count": SIDE},
    },
    "plots": [],
}


@pytest.mark.parametrize(
    "settings",
    [
        {"algorithm": "swing", "dims": "4x4x4", "ports": 6},
        # Up to ten reconfigurations: many plans, where the first is best as it is.
        {"algorithm": "recursive-doubling", "gpus": 64, "ports": 1},
    ],
    ids=["swing on 4x4x4", "recursive doubling on one port"],
)
def test_a_million_points_to_parquet(benchmark: BenchmarkFixture, tmp_path: Path, settings: dict[str, object]) -> None:
    """From the description to the table on the disk in a fresh process: CPU seconds of all threads, with profiles."""
    described = {**MILLION, "settings": {"collective": "all-reduce", "planner": "harvest", **settings}}
    point: dict[str, Any] = {**described, "axes": {"size": ["1MiB"], "reconfiguration-delay": ["10us"]}}

    def cpu_s(description: dict[str, Any]) -> float:
        command = [sys.executable, "-c", FRESH, json.dumps(description), str(tmp_path)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    spent_s: list[float] = []
    benchmark.pedantic(lambda: spent_s.append(cpu_s(described)), rounds=3)
    one_s = sorted(cpu_s(point) for _ in range(3))[1]
    median_s = sorted(spent_s)[len(spent_s) // 2]
    rate = SIDE * SIDE / median_s
    benchmark.extra_info["points per second and core"] = round(rate)
    print(
        f"\n{SIDE * SIDE:,} points in {median_s:.2f} CPU seconds: {rate:,.0f} points a second and core, "
        f"{median_s / one_s:.1f} times a sweep of one point"
    )

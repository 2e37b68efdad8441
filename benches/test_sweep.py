"""What 10 000 (size, delay) points cost beside one plan: profiles are computed once."""

import time

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture

import lightloom as ll
from lightloom.requests import Settings

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

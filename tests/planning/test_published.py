"""Completion times that HARVEST's authors published, and an independent optimum at settings of our own choosing."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.conftest import RunCli
from tests.reference import shifted_rings

PUBLISHED_TOLERANCE = 1e-4  # their solver's


@pytest.mark.parametrize(
    ("collective", "algorithm", "published_s", "reconfigurations"),
    [("all-reduce", "recursive-doubling", 41.972e-6, 8), ("all-to-all", "direct", 134.650e-6, 60)],
)
def test_published_schedules_of_64_gpus(
    cli: RunCli, collective: str, algorithm: str, published_s: float, reconfigurations: int
) -> None:
    ran = cli(
        *("plan", "--collective", collective, "--algorithm", algorithm, "--gpus", 64, "--ports", 1, "--size", "1MiB"),
        *("--bandwidth", "800Gbps", "--startup", "500ns", "--hop-delay", "500ns", "--reconfiguration-delay", "1us"),
        *("--initial", "free", "--planner", "harvest", "--format", "json"),
    )
    assert ran.status == 0, ran.err
    plan = json.loads(ran.out)
    assert plan["total_s"] == pytest.approx(published_s, rel=PUBLISHED_TOLERANCE)
    assert plan["reconfigurations"] == reconfigurations


@settings(max_examples=40, deadline=None)
@given(
    log_gpus=st.integers(1, 7),
    size=st.integers(1, 1 << 30),
    startup=st.sampled_from([0.0, 5e-7, 1.7e-6]),
    hop_delay=st.sampled_from([0.0, 1e-7, 5e-7, 2e-6]),
    bandwidth=st.sampled_from([1e11, 8e11]),
    delay=st.sampled_from([0.0, 1e-8, 1e-6, 1e-5, 1e-4, 1e-2]),
    all_to_all=st.booleans(),
)
def test_harvest_is_optimal_over_shifted_rings(
    log_gpus: int, size: int, startup: float, hop_delay: float, bandwidth: float, delay: float, all_to_all: bool
) -> None:
    gpus = 1 << min(log_gpus, 6 if all_to_all else 7)
    steps = (shifted_rings.direct_all_to_all if all_to_all else shifted_rings.recursive_doubling)(gpus, size)
    expected = shifted_rings.best_time(
        gpus,
        steps,
        startup_s=startup,
        hop_delay_s=hop_delay,
        byte_s=8 / bandwidth,
        reconfiguration_delay_s=delay,
    )
    plan = ll.plan(
        "all-to-all" if all_to_all else "all-reduce",
        size=size,
        fabric=ll.Fabric(
            gpus=gpus, bandwidth=bandwidth, startup=startup, hop_delay=hop_delay, reconfiguration_delay=delay
        ),
        algorithm="direct" if all_to_all else "recursive-doubling",
        planner="harvest",
    )
    assert plan.total_s == pytest.approx(expected, rel=1e-12)
    assert plan.lower_bound_s <= plan.total_s * (1 + 1e-12)

"""Unequal All-to-All: against the planners that are given the matrix's decomposition, and against bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll


def matrix(
    seed: int, gpus: int, mean_bytes: float, skew: float, density: float
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Whole bytes; the larger the skew, the fewer pairs have most of them."""
    rng = np.random.default_rng(seed)
    drawn = rng.exponential(1.0, (gpus, gpus)) ** skew * (rng.random((gpus, gpus)) < density)
    np.fill_diagonal(drawn, 0.0)
    drawn[0, 1] += 1.0
    scaled: np.ndarray[Any, np.dtype[np.float64]] = np.ceil(drawn * mean_bytes / drawn.mean())
    return scaled


@pytest.mark.large
@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1 << 16),
    gpus=st.integers(2, 12),
    ports=st.integers(1, 4),
    mean_bytes=st.sampled_from([1.0, 1e3, 1e5, 1e8]),
    skew=st.sampled_from([0.3, 1.0, 3.0]),
    density=st.sampled_from([0.2, 1.0]),
    delay=st.sampled_from(["100ns", "10us", "1ms"]),
    initial=st.sampled_from(["free", "ring", "dark"]),
    overlap=st.sampled_from(["additive", "pipelined"]),
)
def test_no_planner_is_faster_and_no_bound_above(
    seed: int,
    gpus: int,
    ports: int,
    mean_bytes: float,
    skew: float,
    density: float,
    delay: str,
    initial: str,
    overlap: str,
) -> None:
    drawn = matrix(seed, gpus, mean_bytes, skew, density)
    fabric = ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay=delay, initial=initial)
    plan = ll.plan(matrix=drawn, fabric=fabric, overlap=overlap)
    others = ll.plan(matrix=drawn, fabric=fabric, overlap=overlap, planner="auto-given")
    assert plan.total_s <= others.total_s * (1 + 1e-9)
    assert plan.lower_bound_s <= plan.total_s
    assert plan.bound_class.startswith("any algorithm for all-to-all")
    assert all(check.passed for check in ll.verify(plan))
    assert plan.to_json() == ll.plan(matrix=drawn, fabric=fabric, overlap=overlap).to_json()


@pytest.mark.large
def test_small_blocks_from_a_ring_take_one_step() -> None:
    """Sixteen points, four sizes by four delays: several times as fast as planners that are given steps."""
    gains = []
    for mean_bytes in (16.0, 256.0, 4096.0, 16384.0):
        for delay in ("5us", "10us", "100us", "1ms"):
            drawn = matrix(3, 12, mean_bytes, 1.0, 1.0)
            fabric = ll.Fabric(gpus=12, ports=2, reconfiguration_delay=delay, initial="ring")
            plan = ll.plan(matrix=drawn, fabric=fabric)
            assert len(plan.steps) == 1
            others = ll.plan(matrix=drawn, fabric=fabric, planner="auto-given")
            gains.append(others.total_s / plan.total_s)
    assert np.exp(np.mean(np.log(gains))) >= 4.0


def test_a_start_that_serves_is_bounded_by_its_circuits() -> None:
    """By hand: 4 GPUs on a one-way ring, one block half-way round. It has two hops, and one circuit's bytes on each."""
    drawn = np.zeros((4, 4))
    drawn[0, 2] = 1e6
    fabric = ll.Fabric(gpus=4, ports=1, reconfiguration_delay="1s", initial="ring:one-way", bandwidth="800Gbps")
    plan = ll.plan(matrix=drawn, fabric=fabric)
    expected = 500e-9 + 2 * 500e-9 + 1e6 * 8 / 800e9
    assert plan.total_s == pytest.approx(expected, rel=1e-9)
    assert plan.lower_bound_s == pytest.approx(expected, rel=1e-3)


@pytest.mark.large
@pytest.mark.slow
def test_matrices_beyond_decompositions_are_planned() -> None:
    drawn = matrix(1, 300, 1e4, 1.0, 1.0)
    plan = ll.plan(matrix=drawn, fabric=ll.Fabric(gpus=300, ports=4, initial="ring"))
    assert plan.lower_bound_s <= plan.total_s <= 3 * plan.lower_bound_s

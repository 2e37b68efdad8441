"""A given start against a dark one: what runs from a dark fabric runs from any start after a change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll

pytestmark = pytest.mark.slow

COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "matrix")


def starts(gpus: int, ports: int) -> list[str]:
    """Topologies that a fabric may start on, `dark` first."""
    found = ["dark", "ring", "ring:one-way", "shifted-ring:2"]
    if ports > 1:
        found += ["kautz", "de-bruijn"]
    if ports > 3 and gpus % 2 == 0:
        found.append(f"torus:2x{gpus // 2}")
    return found


def drawn_matrix(seed: int, gpus: int, size: int, skew: float, density: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    matrix = np.round(rng.exponential(1.0, (gpus, gpus)) ** skew * size / gpus * (rng.random((gpus, gpus)) < density))
    np.fill_diagonal(matrix, 0.0)
    matrix[0, 1] = max(matrix[0, 1], 1.0)
    return matrix


@settings(max_examples=40, deadline=None)
@given(
    collective=st.sampled_from(COLLECTIVES),
    gpus=st.integers(3, 14),
    ports=st.integers(1, 4),
    size=st.sampled_from([1 << 8, 1 << 14, 1 << 20, 1 << 26]),
    delay=st.sampled_from([1e-7, 1e-6, 5e-6, 25e-6, 1e-4, 1e-3]),
    seed=st.integers(0, 1 << 16),
    skew=st.sampled_from([0.5, 1.0, 3.0]),
    density=st.sampled_from([0.2, 1.0]),
)
def test_a_start_is_never_worse_than_a_dark_one(
    collective: str, gpus: int, ports: int, size: int, delay: float, seed: int, skew: float, density: float
) -> None:
    given: dict[str, Any] = {"collective": collective, "size": size}
    if collective == "matrix":
        given = {"matrix": drawn_matrix(seed, gpus, size, skew, density)}

    def plan(initial: str) -> ll.Plan:
        return ll.plan(fabric=ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay=delay, initial=initial), **given)

    dark, *lit = starts(gpus, ports)
    most_s = plan(dark).total_s * (1 + 1e-9)
    for start in lit:
        found = plan(start)
        assert found.lower_bound_s <= found.total_s
        assert found.total_s <= most_s, start

"""A given start against others: a plan from a dark fabric, or from another start, runs from here after a change."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.names import names

pytestmark = pytest.mark.slow

COLLECTIVES = (*names("collectives"), "matrix")


def starts(gpus: int, ports: int) -> list[str]:
    """Topologies that fabrics start on, `dark` first: default candidates, and de Bruijn graphs."""
    found = ["dark", "ring", "ring:one-way", "shifted-ring:2"]
    if ports > 1:
        found += ["kautz", "de-bruijn"]
    side = max(side for side in range(1, isqrt(gpus) + 1) if gpus % side == 0)
    if ports > 3 and side > 1:
        found.append(f"torus:{gpus // side}x{side}")
    return found


def drawn_matrix(seed: int, gpus: int, size: int, skew: float, density: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    rng = np.random.default_rng(seed)
    matrix = np.round(rng.exponential(1.0, (gpus, gpus)) ** skew * size / gpus * (rng.random((gpus, gpus)) < density))
    np.fill_diagonal(matrix, 0.0)
    matrix[0, 1] = max(matrix[0, 1], 1.0)
    return matrix


@pytest.mark.large
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
@example(collective="broadcast", gpus=3, ports=2, size=1 << 26, delay=1e-7, seed=0, skew=1.0, density=1.0)
@example(collective="all-gather", gpus=5, ports=3, size=1 << 26, delay=5e-6, seed=0, skew=1.0, density=1.0)
@example(collective="matrix", gpus=5, ports=1, size=1 << 14, delay=1e-6, seed=7, skew=1.0, density=1.0)
def test_a_start_is_never_worse_than_another_one_and_a_change(
    collective: str, gpus: int, ports: int, size: int, delay: float, seed: int, skew: float, density: float
) -> None:
    given: dict[str, Any] = {"collective": collective, "size": size}
    if collective == "matrix":
        given = {"matrix": drawn_matrix(seed, gpus, size, skew, density)}

    def plan(initial: str) -> ll.Plan:
        return ll.plan(fabric=ll.Fabric(gpus=gpus, ports=ports, reconfiguration_delay=delay, initial=initial), **given)

    total_s = {}
    for start in [*starts(gpus, ports), "free"]:
        found = plan(start)
        assert found.lower_bound_s <= found.total_s
        total_s[start] = found.total_s
    for start, seconds in total_s.items():
        assert total_s["free"] <= seconds * (1 + 1e-9), start
        for other, other_s in total_s.items():
            # From where nothing is in force any topology is a change; a free start charges none.
            if other not in {start, "free"}:
                assert seconds <= (other_s if other == "dark" else other_s + delay) * (1 + 1e-9), (start, other)

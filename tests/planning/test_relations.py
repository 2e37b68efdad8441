"""No plan takes longer than what a simpler way or an easier problem takes, on random fabrics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from tests.draws import cases
from tests.planning import relations


@pytest.mark.large
@pytest.mark.parametrize("sides", relations.RELATIONS, ids=lambda sides: sides.__name__)
@settings(max_examples=cases(24))
@given(seed=st.integers(0, 2**32 - 1))
def test_a_relation_holds_among_up_to_forty_gpus(sides: relations.Sides, seed: int) -> None:
    problem = relations.drawn(np.random.default_rng(seed), 40)
    assert relations.over(sides, problem) <= relations.RELATIONS[sides], problem


def test_all_gather_of_nineteen_gpus_uses_all_ports_of_a_kautz_graph() -> None:
    # Four GPUs of the generalised Kautz graph would have a circuit to themselves; without these ports it takes 28.9 µs.
    fabric = ll.Fabric(gpus=19, ports=4, reconfiguration_delay="10us", initial="free")
    plan = ll.plan("all-gather", "8MiB", fabric=fabric)
    # 18 blocks over four circuits, and three steps of a startup and a hop.
    assert plan.total_s <= 3e-6 + 5 * 8 * (1 << 23) / 19 / 8e11

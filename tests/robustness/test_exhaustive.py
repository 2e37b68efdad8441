"""Plans that are made once against the best of all plans, which is found by trying all circuits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import lightloom as ll
from lightloom.robustness.fixed_circuits import FixedPlan
from lightloom.robustness.shares import with_best_shares
from tests.robustness.exhaustive import Costs, all_circuits, best_s, least_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_BPS = 800e9
BYTE_S = 8 / RATE_BPS
# By how much a plan that is made once may be slower than the best of all, and a plan for one iteration.
ONCE, EACH = 1.02, 1.05
COSTS = (
    Costs(2e-6, 5e-7, BYTE_S, 1e-6),
    Costs(2e-5, 2e-6, BYTE_S, 5e-6),
    Costs(1e-5, 5e-6, BYTE_S, 2e-5),
)


def trace(seed: int, ranks: int, iterations: int) -> NDArray[np.float64]:
    made = np.rint(np.random.default_rng(seed).uniform(1e6, 1e7, (iterations, ranks, ranks)))
    made[:, range(ranks), range(ranks)] = 0.0
    return made


def fabric(ranks: int, costs: Costs) -> ll.Fabric:
    return ll.Fabric(
        gpus=ranks,
        startup=costs.startup_s,
        hop_delay=costs.hop_s,
        reconfiguration_delay=costs.change_s,
        bandwidth=RATE_BPS,
    )


def held_to_the_optimum(seed: int, ranks: int, iterations: int, steps: int) -> None:
    costs = COSTS[seed % len(COSTS)]
    matrices = trace(seed, ranks, iterations)
    busiest = np.maximum(matrices.sum(axis=1).max(axis=1), matrices.sum(axis=2).max(axis=1))
    for worst in (False, True):
        optimum_s = best_s(matrices, costs, steps, worst=worst)
        least_s = costs.byte_s * (busiest.max() if worst else busiest.mean())
        more_steps_s = (steps + 1) * (costs.startup_s + costs.hop_s) + least_s
        found = ll.robust(matrices, fabric=fabric(ranks, costs), objective="worst" if worst else "expected")
        once = found.strategy("once")
        value_s = once.worst_s if worst else once.mean_s
        # Plans of more steps than were tried take at least so long.
        assert min(optimum_s, more_steps_s) * (1 - 1e-9) <= value_s <= ONCE * optimum_s, (seed, worst)
        for one, matrix in zip(found.iterations, matrices, strict=True):
            alone_s = best_s(matrix[None], costs, steps)
            assert min(alone_s, more_steps_s) * (1 - 1e-9) <= one.each_s <= EACH * alone_s, (seed, one.iteration)


def test_the_judge_agrees_with_what_can_be_computed_by_hand() -> None:
    costs = Costs(1e-6, 1e-7, 1e-9, 1e-5)
    two = np.array([[[0.0, 3000.0], [1000.0, 0.0]], [[0.0, 1000.0], [5000.0, 0.0]]])
    # One step and hop, and the larger direction of each iteration: 3000 and 5000 bytes.
    assert best_s(two, costs, 2) == pytest.approx(1.1e-6 + 4000e-9, rel=1e-9)
    assert best_s(two, costs, 2, worst=True) == pytest.approx(1.1e-6 + 5000e-9, rel=1e-9)
    # Both rings of three ranks; pairs and a rank without a circuit are parts of larger sets, but for none of these.
    assert sorted(map(len, all_circuits(3))) == [2, 2, 2, 3, 3]
    # On the ring 0 → 1 → 2 → 0 each circuit carries its neighbours' bytes, and two pairs over two hops.
    equal = np.ones((1, 3, 3)) - np.eye(3)
    ring = ((0, 1), (1, 2), (2, 0))
    assert least_bytes(equal, [ring], [2], worst=False) == pytest.approx(3.0)
    assert least_bytes(equal, [ring], [1], worst=False) == np.inf
    # With the other ring in a second step, every pair goes over its own circuit.
    assert least_bytes(equal, [ring, ((0, 2), (2, 1), (1, 0))], [1, 1], worst=False) == pytest.approx(2.0)


def test_plans_that_are_made_once_next_to_the_optimum() -> None:
    held_to_the_optimum(2, ranks=3, iterations=2, steps=2)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(6))
def test_plans_of_three_ranks_next_to_the_optimum(seed: int) -> None:
    held_to_the_optimum(seed, ranks=3, iterations=3, steps=3)


@pytest.mark.large
@pytest.mark.parametrize("seed", [1, 2])
def test_plans_of_four_ranks_next_to_the_optimum(seed: int) -> None:
    held_to_the_optimum(seed, ranks=4, iterations=2, steps=2)


@pytest.mark.parametrize("worst", [False, True], ids=["expected", "worst"])
@pytest.mark.parametrize("seed", range(4))
def test_shares_are_the_optimum_of_flows_on_the_same_circuits(seed: int, worst: bool) -> None:
    ranks = 4 + seed % 2
    matrices = trace(seed, ranks, 3)
    made = FixedPlan.of_plan(ll.plan("all-to-all", matrix=matrices.mean(axis=0), fabric=fabric(ranks, COSTS[0])))
    found = with_best_shares(made, matrices, worst=worst)
    assert found is not None
    sequence = [tuple((src, dst) for src, dst, _ in step.topology.links.tolist()) for step in made.steps]
    fixed_s = sum(COSTS[0].startup_s + COSTS[0].hop_s * hops for hops in found.hops)
    sums = [(found.steps_s(matrix) - fixed_s) / BYTE_S for matrix in matrices]
    optimum = least_bytes(matrices, sequence, made.hops, worst=worst)
    value = max(sums) if worst else sum(sums) / len(sums)
    # The mean counts a little next to the slowest iteration.
    assert value == pytest.approx(optimum, rel=1e-3 if worst else 1e-6)
    assert value >= optimum * (1 - 1e-6)

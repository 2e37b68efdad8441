"""Samples of times against closed forms: sums of normals, maxima of exponentials and uniforms, lognormals."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll

if TYPE_CHECKING:
    from lightloom import Plan, SampledPlan

SAMPLES = 20_000
# Deviations of an estimate that a right sampler exceeds once in about a million tests.
FIVE = 5.0
# Changes of topology of `_changing`, 10 µs each.
CHANGES = 4


def _plan(collective: str = "all-reduce", algorithm: str = "ring", gpus: int = 8, **settings: Any) -> Plan:
    fabric = ll.Fabric(gpus=gpus, startup="10us", hop_delay="0s", reconfiguration_delay=settings.pop("delay", "10us"))
    named = {"planner": "static", "topology": "ring"} | settings
    return ll.plan(collective, "1KiB", fabric=fabric, algorithm=algorithm, **named)


def _changing(**settings: Any) -> Plan:
    """Recursive doubling on the matching of each step: all circuits change but before the first and the fourth step."""
    made = _plan("all-reduce", "recursive-doubling", planner="bvn", topology=None, **settings)
    assert made.reconfigurations == CHANGES
    return made


def _is_mean(found: SampledPlan, mean_s: float, deviation_s: float) -> None:
    assert abs(found.mean.seconds - mean_s) < FIVE * deviation_s / math.sqrt(len(found.totals_s))
    assert found.deviation_s == pytest.approx(deviation_s, rel=0.05)


def _is_quantile(found: SampledPlan, probability: float, value_s: float) -> None:
    """Whether about that share of the samples is at most the value."""
    share = float(np.mean(found.totals_s <= value_s))
    assert abs(share - probability) < FIVE * math.sqrt(probability * (1 - probability) / len(found.totals_s))


def test_independent_changes_add_up_to_a_normal() -> None:
    plan = _changing()
    found = ll.sample(plan, "reconfiguration_delay=normal:0.1", samples=SAMPLES, seed=1)
    deviation_s = math.sqrt(CHANGES) * 1e-6
    _is_mean(found, plan.total_s, deviation_s)
    for probability in (0.01, 0.5, 0.95, 0.99):
        _is_quantile(found, probability, plan.total_s + deviation_s * NormalDist().inv_cdf(probability))


def test_one_delay_for_a_run_does_not_average_out() -> None:
    plan = _changing()
    found = ll.sample(plan, "reconfiguration_delay=normal:0.1@run", samples=SAMPLES, seed=2)
    _is_mean(found, plan.total_s, CHANGES * 1e-6)


def test_lognormal_quantiles() -> None:
    plan = _changing()
    found = ll.sample(plan, "reconfiguration_delay=lognormal:0.7@run", samples=SAMPLES, seed=3)
    for probability in (0.05, 0.5, 0.95, 0.99):
        factor = math.exp(0.7 * NormalDist().inv_cdf(probability))
        _is_quantile(found, probability, plan.total_s + CHANGES * 10e-6 * (factor - 1))
    assert found.p50.seconds == pytest.approx(plan.total_s, rel=0.02)


def test_a_step_waits_for_the_last_of_exponential_startups() -> None:
    plan = _plan(gpus=8)
    found = ll.sample(plan, "startup=exponential:0.5", samples=SAMPLES, seed=4)
    # The maximum of n exponentials has mean H_n and variance 1 + 1/4 + ... + 1/n², in units of their mean.
    steps = len(plan.steps)
    mean_s = 5e-6 * steps * sum(1 / rank for rank in range(1, 9))
    deviation_s = 5e-6 * math.sqrt(steps * sum(1 / rank**2 for rank in range(1, 9)))
    _is_mean(found, plan.total_s + mean_s, deviation_s)


def test_times_are_added_where_they_have_a_unit() -> None:
    plan = _plan(gpus=8)
    steps = len(plan.steps)
    found = ll.sample(plan, "barrier=exponential:2us,startup=uniform:1us@step", samples=SAMPLES, seed=5)
    _is_mean(found, plan.total_s + 2e-6 * steps, math.sqrt(steps * (4e-12 + 1e-12 / 3)))
    changing = _changing()
    found = ll.sample(changing, "control=exponential:2us", samples=SAMPLES, seed=5)
    _is_mean(found, changing.total_s + CHANGES * 2e-6, math.sqrt(CHANGES) * 2e-6)


def test_a_step_waits_for_the_slowest_of_uniform_rates() -> None:
    plan = _plan("broadcast", "binomial-tree", gpus=2)
    (step,) = plan.steps
    found = ll.sample(plan, "bandwidth=uniform:0.5", samples=SAMPLES, seed=6)
    # One circuit: the rate is uniform from one half to three halves.
    for probability in (0.1, 0.5, 0.9):
        _is_quantile(found, probability, plan.total_s + step.transmission_s * (1 / (1.5 - probability) - 1))
    ring = _plan("all-to-all", "direct", gpus=8)
    (last,) = [one for one in ring.steps if one.index == 6]
    found = ll.sample(ring, "bandwidth=uniform:0.5@run", samples=SAMPLES, seed=6)
    transmission_s = sum(one.transmission_s for one in ring.steps)
    assert last.transmission_s
    _is_quantile(found, 0.9, ring.total_s + transmission_s * (1 / 0.6 - 1))


def test_the_largest_of_many_switches_and_ports() -> None:
    fabric = ll.Fabric(gpus=8, ports=1, reconfiguration_delay="10us")
    plan = ll.plan("all-reduce", "1KiB", fabric=fabric, algorithm="recursive-doubling", planner="bvn")
    found = ll.sample(plan, "reconfiguration_delay=uniform:0.5@port", samples=SAMPLES, seed=7)
    # The maximum of n uniforms on 0 to 1 has mean n / (n + 1) and variance n / ((n + 1)² (n + 2)).
    each_s, changes = 10e-6, plan.reconfigurations
    mean_s = plan.total_s + changes * each_s * (8 / 9 - 0.5)
    _is_mean(found, mean_s, each_s * math.sqrt(changes * 8 / (81 * 10)))


def test_stragglers_are_slow_for_the_whole_run() -> None:
    plan = _plan(gpus=8)
    found = ll.sample(plan, "straggler=0.1:3", samples=SAMPLES, seed=8)
    slow_s = 3 * plan.total_s
    assert set(np.round(found.totals_s / plan.total_s, 9)) == {1.0, round(slow_s / plan.total_s, 9)}
    _is_quantile(found, 0.9**8, 2 * plan.total_s)
    assert np.all(ll.sample(plan, "straggler=0:3", samples=100).totals_s == pytest.approx(plan.total_s))
    assert np.all(ll.sample(plan, "straggler=1:2", samples=100).totals_s == pytest.approx(2 * plan.total_s))


def test_intervals_hold_the_true_quantile_as_often_as_they_say() -> None:
    plan = _changing()
    true_s = plan.total_s + math.sqrt(CHANGES) * 1e-6 * NormalDist().inv_cdf(0.95)
    held = 0
    for seed in range(300):
        one = ll.sample(plan, "reconfiguration_delay=normal:0.1", samples=200, seed=seed).p95
        assert one.low_s is not None
        held += one.low_s <= true_s <= (math.inf if one.high_s is None else one.high_s)
    # Binomial about 95 % or more: 300 intervals hold it at least 270 times but once in thousands of tests.
    assert held >= 270

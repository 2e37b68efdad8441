"""Samples of plans: against a sampler that draws every part for itself, and what options and files are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lightloom as ll
from tests.picture_checks import faults
from tests.refusals import assert_refused
from tests.uncertainty import reference

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom import Plan
    from tests.conftest import RunCli

# Problems of every kind of fabric and of steps.
Problem = tuple[str, str, dict[str, Any], dict[str, Any]]
PROBLEMS: tuple[Problem, ...] = (
    ("all-reduce", "1MiB", {"gpus": 6, "ports": 2}, {}),
    ("broadcast", "1MiB", {"gpus": 7, "ports": 1, "initial": "ring"}, {}),
    ("all-to-all", "1MiB", {"gpus": 5, "ports": 2}, {"matrix": "zipf:0.4:1"}),
    ("all-reduce", "1KiB", {"gpus": 8, "ports": 1}, {"algorithm": "recursive-doubling", "planner": "bvn"}),
    ("all-reduce", "256KiB", {"gpus": 8, "ports": 2}, {"algorithm": "halving-doubling", "planner": "harvest"}),
)
HIDING: tuple[Problem, ...] = (
    ("all-gather", "1MiB", {"gpus": 6, "ports": 2, "window": "1=1us", "background_reconfiguration": True}, {}),
    ("broadcast", "64KiB", {"gpus": 4, "ports": 2, "reconfiguration_delay": "1us,2us", "barrier": "1us"}, {}),
    ("all-reduce", "1MiB", {"gpus": 8, "initial": "repeated", "reconfiguration_delay": "1us+20ns/port"}, {}),
    ("all-reduce", "1MiB", {"gpus": 8, "reconfiguration_delay": "1us"}, {"overlap": "pipelined"}),
)


def _plan(collective: str, size: str, fabric: dict[str, Any], settings: dict[str, Any]) -> Plan:
    return ll.plan(collective, size, fabric=ll.Fabric(**fabric), **settings)


@pytest.mark.parametrize("problem", [*PROBLEMS, *HIDING])
def test_nothing_uncertain_is_the_plans_time(problem: Problem) -> None:
    plan = _plan(*problem)
    found = ll.sample(plan, "startup=normal:0", samples=3)
    assert found.nominal_s == pytest.approx(plan.total_s, rel=1e-12)
    assert found.totals_s == pytest.approx([plan.total_s] * 3, rel=1e-12)
    assert sum(found.mean_terms_s.values()) == pytest.approx(plan.total_s, rel=1e-12)


@pytest.mark.parametrize("level", ["packet", "flow"])
def test_nothing_uncertain_is_the_simulated_time(level: str) -> None:
    plan = _plan(*PROBLEMS[0])
    found = ll.sample(plan, "startup=normal:0", samples=1, level=level, header_size="64B", barrier="1us")
    simulated = ll.simulate(plan, level=level, header_size="64B", barrier="1us")
    assert found.nominal_s == pytest.approx(simulated.total_s, rel=1e-9)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_largest_of_many_draws_is_that_of_a_sampler_that_draws_each(
    problem: Problem,
) -> None:
    plan, samples = _plan(*problem), 3000
    drawn = reference.totals_s(plan, samples, 1, startup=0.2, bandwidth=0.3, delay=0.5, straggler=(0.1, 3.0))
    uncertain = "startup=normal:0.2,bandwidth=uniform:0.3,reconfiguration_delay=lognormal:0.5@port,straggler=0.1:3"
    found = ll.sample(plan, uncertain, samples=samples, seed=2).totals_s
    # Kolmogorov and Smirnov: two samples of one distribution are as far apart as this once in 20 000 times.
    places = np.concatenate([drawn, found])
    shares = [np.searchsorted(np.sort(of), places, side="right") / samples for of in (drawn, found)]
    assert np.abs(shares[0] - shares[1]).max() < 2.3 * np.sqrt(2 / samples)


def test_seeds_say_all_and_threads_nothing() -> None:
    plan = _plan(*PROBLEMS[0])
    first, again, other = (
        ll.sample(plan, "startup=normal:0.2,straggler=0.1:3", samples=1000, seed=seed) for seed in (5, 5, 6)
    )
    assert np.array_equal(first.totals_s, again.totals_s)
    assert not np.array_equal(first.totals_s, other.totals_s)
    # Fewer samples are the first of more.
    fewer = ll.sample(plan, "startup=normal:0.2,straggler=0.1:3", samples=200, seed=5)
    assert np.array_equal(fewer.totals_s, first.totals_s[:200])


def test_measured_samples_come_from_a_file(tmp_path: Path) -> None:
    plan = _plan("all-gather", "1KiB", {"gpus": 2, "ports": 1}, {})
    (step,) = plan.steps
    file = tmp_path / "startups.csv"
    file.write_text("run,startup_us\n1,1\n2,2\n3,9\n")
    found = ll.sample(plan, f"startup=samples:{file}@step", samples=3000)
    rest_s = plan.total_s - step.startup_s
    values, counts = np.unique(np.round((found.totals_s - rest_s) * 1e6, 6), return_counts=True)
    assert values.tolist() == [1, 2, 9]
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(3000 * 2 / 9)
    file.write_text("factor\n2\n")
    assert ll.sample(plan, f"startup=samples:{file}", samples=1).totals_s[0] == pytest.approx(
        rest_s + 2 * step.startup_s
    )
    file.write_text("bandwidth_Gbps\n400\n")
    slow_s = ll.sample(plan, f"bandwidth=samples:{file}", samples=1).totals_s[0]
    assert slow_s == pytest.approx(plan.total_s + step.transmission_s)


@pytest.mark.large
@pytest.mark.parametrize("objective", ["nominal", "mean", "p50", "p95", "p99"])
def test_no_candidate_is_better_by_the_objective(objective: str) -> None:
    fabric = ll.Fabric(gpus=16)
    uncertain = "reconfiguration_delay=lognormal:1.2,startup=normal:0.2"
    found = ll.sample_plans("all-reduce", "1MiB", uncertain=uncertain, objective=objective, fabric=fabric, samples=2000)
    nominal = ll.plan("all-reduce", "1MiB", fabric=fabric)
    values = [one.nominal_s if objective == "nominal" else one.estimate(objective).seconds for one in found.plans]
    assert min(values) == pytest.approx(values[0], rel=1e-12)
    if objective == "nominal":
        assert found.best.plan.to_json() == nominal.to_json()
    # The plan for the nominal times is a candidate, and samples of a plan do not depend on the others.
    again = ll.sample(nominal, uncertain, samples=2000)
    assert values[0] <= (again.nominal_s if objective == "nominal" else again.estimate(objective).seconds) * (1 + 1e-12)
    all_s = np.array([one.totals_s for one in found.plans])
    assert found.regrets_s == pytest.approx((all_s - all_s.min(0)).mean(1), abs=1e-15)


def test_rare_long_delays_are_met_by_fewer_changes() -> None:
    fabric = ll.Fabric(gpus=64)
    by = {
        objective: ll.sample_plans(
            "all-reduce", "1MiB", uncertain="reconfiguration_delay=lognormal:1", objective=objective, fabric=fabric
        ).best
        for objective in ("nominal", "p99")
    }
    assert by["p99"].plan.reconfigurations < by["nominal"].plan.reconfigurations
    assert by["p99"].p99.seconds < by["nominal"].p99.seconds


def test_the_command_line_samples_compares_and_plans(cli: RunCli, tmp_path: Path) -> None:
    file, picture = tmp_path / "plan.json", tmp_path / "runs.svg"
    problem = ["--collective", "all-reduce", "--size", "64KiB", "--gpus", "8"]
    uncertain = ["--uncertain", "reconfiguration_delay=lognormal:0.5,straggler=0.01:2", "--samples", "500"]
    told = json.loads(cli("plan", *problem, *uncertain, "--objective", "p95", "-o", str(file), "--format", "json").out)
    assert told["sampled"]["plans"][0]["algorithm"] == told["algorithm"]
    assert ll.Plan.from_json(json.dumps(told)) == ll.Plan.from_json(file.read_text())
    sampled = json.loads(cli("simulate", str(file), *uncertain, "--format", "json").out)
    assert sampled["p95"] == told["sampled"]["plans"][0]["p95"]
    assert "p99" in cli("simulate", str(file), *uncertain, "--plot", str(picture)).out
    assert "regret" in cli("compare", *problem, *uncertain).out
    assert picture.exists()


@pytest.mark.large
def test_pictures_show_what_they_say() -> None:
    fabric = ll.Fabric(gpus=8)
    found = ll.sample_plans("all-reduce", "64KiB", uncertain="startup=normal:0.2", fabric=fabric, samples=300)
    for figure in (found.plot(), found.best.plot()):
        assert not faults(figure)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("startup", "uncertain"),
        ("startup=normal:-1", "uncertain"),
        ("startup=normal:nan", "uncertain"),
        ("startup=normal:1,startup=normal:1", "uncertain"),
        ("startup=normal:0.1@port", "uncertain"),
        ("bandwidth=normal:2us", "uncertain"),
        ("control=lognormal:1", "uncertain"),
        ("straggler=0.5", "uncertain"),
        ("straggler=2:3", "uncertain"),
        ("delay=normal:1", "uncertain"),
        ("startup=samples:nowhere.csv", "uncertain"),
    ],
)
def test_wrong_distributions_are_refused(given: str, field: str) -> None:
    plan = _plan(*PROBLEMS[0])
    with pytest.raises(ll.InputError) as raised:
        ll.sample(plan, given)
    assert raised.value.field == field


def test_options_that_do_not_go_together_are_refused(cli: RunCli, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    _plan(*PROBLEMS[0]).save(file)
    problem = ["--collective", "all-reduce", "--size", "64KiB", "--gpus", "8"]
    uncertain = ["--uncertain", "startup=normal:0.1"]
    assert_refused(cli, tmp_path, "simulate", str(file), "--samples", "10", field="samples")
    assert_refused(cli, tmp_path, "simulate", str(file), *uncertain, "--header-size", "64B", field="header_size")
    assert_refused(
        cli, tmp_path, "simulate", str(file), *uncertain, "--level", "packet", "--sync", "dataflow", field="sync"
    )
    assert_refused(cli, tmp_path, "simulate", str(file), *uncertain, "--links", field="links")
    assert_refused(cli, tmp_path, "plan", *problem, "--objective", "p99", field="objective")
    assert_refused(cli, tmp_path, "plan", *problem, *uncertain, "--budget", "1s", field="budget")
    assert_refused(cli, tmp_path, "compare", *problem, "--plot", "a.png", field="plot")
    empty = tmp_path / "empty.csv"
    empty.write_text("factor\n")
    assert_refused(cli, tmp_path, "simulate", str(file), "--uncertain", f"startup=samples:{empty}", field="uncertain")

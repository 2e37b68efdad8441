"""The tables of plans on fabrics whose times are uncertain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_time
from lightloom.uncertainty.result import ESTIMATES
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.problem import what_is_planned

if TYPE_CHECKING:
    from rich.table import Table

    from lightloom.uncertainty.result import Drawn, Estimate, SampledPlan, SampledPlans

OF_ONE = ("time", "95 % interval", "over nominal")
TERM_COLUMNS = ("nominal", "mean")
OF_PLANS = ("reconfig.", "nominal", *ESTIMATES, "regret")


def sampled_table(found: SampledPlan) -> str:
    """The mean and the quantiles of one plan, and its terms in the mean."""
    plan = found.plan
    title = (
        f"{what_is_planned(plan, plan.root, plan.members)} ({plan.algorithm}, {plan.planner}): "
        f"{show_time(found.mean.seconds)} on average, p99 {show_time(found.p99.seconds)}"
    )
    return render(heading(title), Text(_drawn(found.drawn, found.level)), _estimates(found), _terms(found))


def sampled_plans_table(found: SampledPlans) -> str:
    """A row a plan, the best by the objective first."""
    plan = found.best.plan
    made = table("planner", "algorithm", *OF_PLANS, right=OF_PLANS)
    for one, regret_s in zip(found.plans, found.regrets_s, strict=True):
        times = [one.nominal_s, *(one.estimate(name).seconds for name in ESTIMATES), regret_s]
        names = one.plan.planner, one.plan.algorithm, str(one.plan.reconfigurations)
        made.add_row(*names, *map(show_time, times))
    title = f"{what_is_planned(plan, plan.root, plan.members)}: plans by {found.objective}"
    note = "regret: time less that of the fastest of these plans in the same run, in the mean"
    return render(heading(title), Text(_drawn(found.drawn, "model")), made, Text(note))


def _drawn(drawn: Drawn, level: str) -> str:
    basis = "" if level == "model" else f", step times of the simulation ({level} level)"
    return f"{drawn.samples:,} samples of {drawn.uncertain}, seed {drawn.seed}{basis}"


def _estimates(found: SampledPlan) -> Table:
    made = table("", *OF_ONE, right=OF_ONE)
    made.add_row("nominal", show_time(found.nominal_s), "", factor(1.0))
    for name in ESTIMATES:
        one = found.estimate(name)
        made.add_row(name, show_time(one.seconds), _interval(one), factor(one.seconds / found.nominal_s))
    return made


def _interval(one: Estimate) -> str:
    ends = ["?" if end is None else show_time(end) for end in (one.low_s, one.high_s)]
    return " to ".join(ends)


def _terms(found: SampledPlan) -> Table:
    """The terms of the time: as planned, and in the mean."""
    made = table("term", *TERM_COLUMNS, right=TERM_COLUMNS)
    for name, mean_s in found.mean_terms_s.items():
        nominal_s = sum(getattr(step, name) for step in found.plan.steps)
        if nominal_s or mean_s:
            nominal = show_time(nominal_s) if found.level == "model" else ""
            made.add_row(name.removesuffix("_s"), nominal, show_time(mean_s))
    return made

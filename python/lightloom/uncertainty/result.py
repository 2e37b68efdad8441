"""Samples of the completion times of plans, with their mean and quantiles."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom._core import counted, show_time
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.plans.steps import TERMS

if TYPE_CHECKING:
    import os
    from typing import Self

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lightloom._core import SampledTuple
    from lightloom.plans import Plan

__all__ = ["Estimate", "SampledPlan", "SampledPlans"]

SCHEMA, PLANS_SCHEMA = "lightloom.samples/1", "lightloom.sampled-plans/1"
# Quantiles by their names.
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
# The estimates of a plan, as columns and as keys of JSON.
ESTIMATES = ("mean", *QUANTILES)


class Estimate(NamedTuple):
    """A mean or a quantile, seconds, with the ends of its 95 % confidence interval.

    An end is None where the samples are too few to say: the 99th percentile has no upper end below 368 samples.
    """

    seconds: float
    low_s: float | None
    high_s: float | None


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The source of the samples: the uncertain quantities as text, the number of samples and the seed."""

    uncertain: str
    samples: int
    seed: int


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledPlan(Table):
    """A plan with samples of its completion time; immutable, seconds. Made by `lightloom.sample`.

    drawn: what the samples were drawn from. level: where the steps' nominal times come from, the plan's terms (`model`)
    or a simulation (`packet`, `flow`). totals_s: the samples, float64, in the order in which they were drawn; those of
    equal place and seed share the slow GPUs and what is drawn once a run. nominal_s: the time where nothing is
    uncertain. deviation_s: the standard deviation of the samples. mean_terms_s: the terms of the time by their names,
    in the mean. mean, p50, p95, p99: estimates.
    """

    plan: Plan
    drawn: Drawn
    level: str
    totals_s: NDArray[np.float64] = field(repr=False)
    nominal_s: float
    deviation_s: float
    mean_terms_s: dict[str, float]
    mean: Estimate
    p50: Estimate
    p95: Estimate
    p99: Estimate

    @classmethod
    def of(cls, plan: Plan, drawn: Drawn, level: str, told: SampledTuple) -> Self:
        """The samples as the core tells them."""
        totals_s, (nominal_s, deviation_s), terms, mean, quantiles = told
        totals_s.flags.writeable = False
        known = {probability: Estimate(*estimate) for probability, estimate in quantiles}
        return cls(
            plan=plan,
            drawn=drawn,
            level=level,
            totals_s=totals_s,
            nominal_s=nominal_s,
            deviation_s=deviation_s,
            mean_terms_s=dict(zip(TERMS, terms, strict=True)),
            mean=Estimate(*mean),
            **{name: known[probability] for name, probability in QUANTILES.items()},
        )

    def estimate(self, name: str) -> Estimate:
        """The estimate of that name: `mean`, `p50`, `p95` or `p99`."""
        found: Estimate = getattr(self, name)
        return found

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a sample: its completion time."""
        return {"sample": list(range(len(self.totals_s))), "total_s": self.totals_s.tolist()}

    def to_json(self) -> str:
        """The estimates as JSON of schema `lightloom.samples/1`; times in seconds. `to_columns` has the samples."""
        told = {"schema": SCHEMA, "level": self.level, **vars(self.drawn), **plan_keys(self)}
        return json.dumps(told, indent=1, ensure_ascii=False)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The share of runs by the time that they keep, with the quantiles; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("SampledPlan.plot", self, path)

    def __repr__(self) -> str:
        return (
            f"SampledPlan({self.plan.collective}, {self.plan.gpus} GPUs, {counted(len(self.totals_s), 'sample')}: "
            f"{show_time(self.mean.seconds)} on average, p99 {show_time(self.p99.seconds)})"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledPlans(Table):
    """Plans of one problem with samples of their completion times, the best by `objective` first; immutable, seconds.

    Made by `lightloom.sample_plans`. drawn: what the samples were drawn from. plans: the plans with their samples.
    regrets_s: how much longer each takes than the fastest of them, in the mean over all samples.
    """

    objective: str
    drawn: Drawn
    plans: tuple[SampledPlan, ...]
    regrets_s: tuple[float, ...]

    @property
    def best(self) -> SampledPlan:
        """The plan that is the best by the objective."""
        return self.plans[0]

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a plan: estimates and regrets."""
        rows = self.rows()
        return {
            key: [row[key]["seconds"] if isinstance(row[key], dict) else row[key] for row in rows]
            for key in rows[0]
            if key != "mean_terms"
        }

    def rows(self) -> list[dict[str, Any]]:
        """Values by key of the JSON, one dictionary a plan."""
        each = zip(self.plans, self.regrets_s, strict=True)
        return [{**plan_keys(one), "regret_s": regret_s} for one, regret_s in each]

    def to_json(self) -> str:
        """The plans' estimates as JSON of schema `lightloom.sampled-plans/1`; times in seconds."""
        told = {"schema": PLANS_SCHEMA, "objective": self.objective, **vars(self.drawn), "plans": self.rows()}
        return json.dumps(told, indent=1, ensure_ascii=False)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The share of runs by the time that they keep, a line a plan; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `plot` when the file cannot be written.
        """
        return picture("SampledPlans.plot", self, path)

    def __repr__(self) -> str:
        plans = counted(len(self.plans), "plan")
        return f"SampledPlans({plans} by {self.objective}, the best: {self.best!r})"


def plan_keys(one: SampledPlan) -> dict[str, Any]:
    """The keys of JSON about one plan and its samples."""
    plan = one.plan
    return {
        "collective": plan.collective,
        "algorithm": plan.algorithm,
        "planner": plan.planner,
        "gpus": plan.gpus,
        "size_bytes": plan.size_bytes,
        "reconfigurations": plan.reconfigurations,
        "nominal_s": one.nominal_s,
        "deviation_s": one.deviation_s,
        **{name: one.estimate(name)._asdict() for name in ESTIMATES},
        "mean_terms": one.mean_terms_s,
    }

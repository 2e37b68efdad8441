"""The table that the verb `plan` prints."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

from rich.text import Text

from lightloom._core import show_size, show_time
from lightloom.views.tables.page import bar, heading, render, table, why
from lightloom.views.tables.ratios import are_equal, gap_words, versus
from lightloom.views.tables.step_groups import group_steps, reconfiguration_caption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from lightloom import Fabric, Plan
    from lightloom.comparison import Row
    from lightloom.steps import Step
    from lightloom.views.tables.step_groups import StepGroup

TERMS = ("startup_s", "propagation_s", "transmission_s", "reconfiguration_s")
COLUMNS = (
    "step",
    "topology",
    "bytes",
    "hops",
    "load",
    "startup",
    "propagation",
    "transmission",
    "reconfig.",
    "total",
    "share",
)
RIGHT = COLUMNS[:1] + COLUMNS[2:-1]
GB = 1e9


def plan_table(plan: Plan, baselines: Sequence[Row], fabric: Fabric) -> str:
    """The problem, a row per step, the total, and how it compares with the bound and the baselines.

    baselines: every planner at its best algorithm; fabric: what the plan was made for.
    """
    lines = [heading(_title(plan)), Text(_fabric_line(plan, fabric))]
    return render(*lines, _steps(plan), *(Text(line) for line in _summary(plan, baselines)))


def _title(plan: Plan) -> str:
    reconfigurations = f"{plan.reconfigurations} reconfiguration{'s' * (plan.reconfigurations != 1)}"
    return (
        f"{plan.collective} of {show_size(plan.size_bytes)} on {plan.gpus} GPUs: {show_time(plan.total_s)}, "
        f"{len(plan.steps)} step{'s' * (len(plan.steps) != 1)}, {reconfigurations} ({plan.algorithm}, {plan.planner})"
    )


def _fabric_line(plan: Plan, fabric: Fabric) -> str:
    return ", ".join(
        [
            f"{plan.ports} port{'s' * (plan.ports != 1)} of {plan.bandwidth_bps / GB:g} Gbit/s",
            f"startup {show_time(fabric.startup_s)}",
            f"hop delay {show_time(fabric.hop_delay_s)}",
            f"reconfiguration delay {fabric.reconfiguration}{_hiding(fabric)}",
            f"initial topology {plan.initial}",
            f"routing {plan.routing}",
        ]
    )


def _hiding(fabric: Fabric) -> str:
    every_s, by_step = fabric.windows_s
    windows = [show_time(every_s)] * bool(every_s) + [f"{index + 1}={show_time(it)}" for index, it in by_step.items()]
    hidden_by = ["the step before"] * fabric.background_reconfiguration
    hidden_by += [f"windows of {', '.join(windows)}"] * bool(windows)
    return f" hidden behind {' and '.join(hidden_by)}" if hidden_by else ""


def _steps(plan: Plan) -> Table:
    groups = group_steps(plan.steps, _appearance)
    made = table(*COLUMNS, right=RIGHT, footer=True)
    for group in groups:
        made.add_row(*_row(group, plan.total_s))
    sums = [fsum(getattr(step, term) for step in plan.steps) for term in TERMS]
    for column, text in zip(made.columns[5:10], [*map(_time, sums), _time(plan.total_s)], strict=True):
        column.footer = text
    made.columns[1].footer = "sum"
    made.caption, made.caption_justify = reconfiguration_caption(groups), "left"
    return made


def _appearance(step: Step) -> tuple[object, ...]:
    """What a row shows of a step beside its number and topology."""
    return step.reconfigured, step.hops, f"{step.transfer_bytes:.6g} {step.load:.6g} {step.total_s:.6g}"


def _row(group: StepGroup[Step], total_s: float) -> list[str | Text]:
    spent_s = group.total("total_s")
    return [
        group.numbers,
        group.marked_topologies,
        _span(group.span("transfer_bytes"), show_size),
        _span(group.span("hops"), lambda hops: f"{hops:.0f}"),
        _span(group.span("load"), lambda load: f"{load:.4g}"),
        *(_time(group.total(term)) for term in TERMS),
        _time(spent_s),
        bar(spent_s / total_s if total_s else 0.0) + Text(f" {spent_s / total_s if total_s else 0.0:.0%}"),
    ]


def _span(span: tuple[float, float], show: Any) -> str:
    first, last = (show(value) for value in span)
    return first if first == last else f"{first} - {last}"


def _time(seconds: float) -> str:
    return show_time(seconds) if seconds else "-"


def _summary(plan: Plan, baselines: Sequence[Row]) -> list[str]:
    lines = [
        f"total        {show_time(plan.total_s)}",
        f"lower bound  {_bound(plan, plan.lower_bound_s, plan.bound_class)}",
    ]
    if plan.narrow_bound is not None:
        lines.append(f"             {_bound(plan, *plan.narrow_bound)}")
    lines += [f"algbw        {plan.algbw / GB:.4g} GB/s", f"busbw        {plan.busbw / GB:.4g} GB/s"]
    others = [_baseline(plan, row) for row in baselines if not _is_the_plan(plan, row)]
    return lines + [f"{'baselines' if index == 0 else '':<12} {line}" for index, line in enumerate(others)]


def _bound(plan: Plan, lower_bound_s: float, bound_class: str) -> str:
    above = f"; the plan {gap_words(plan.total_s, lower_bound_s)}" if lower_bound_s else ""
    return f"{show_time(lower_bound_s)}{above} ({bound_class})"


def _is_the_plan(plan: Plan, row: Row) -> bool:
    """Whether a baseline is the plan itself: of its planner, or of one that keeps the best of all."""
    keeps_it = row.keeps_the_best and row.algorithm == plan.algorithm
    return row.planner == plan.planner or (keeps_it and are_equal(row.total_s or 0.0, plan.total_s))


def _baseline(plan: Plan, row: Row) -> str:
    name = f"{row.planner} {row.topology}".strip()
    if row.total_s is None:
        return f"{name}: {why(row.reason)}"
    ratio = row.total_s / plan.total_s if plan.total_s else 1.0
    return f"{name} ({row.algorithm}) {versus(ratio)}, {show_time(row.total_s)}"

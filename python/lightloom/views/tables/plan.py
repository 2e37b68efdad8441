"""The table that the verb `plan` prints."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

from rich.text import Text

from lightloom._core import counted, left_out, show_size, show_time
from lightloom.views.ratios import ATTAINED, are_equal, gap_words, versus
from lightloom.views.refusals import why
from lightloom.views.tables.explanations import explanation_lines
from lightloom.views.tables.page import bar, heading, render, table, width
from lightloom.views.tables.problem import GIGA, fabric_words, failed_words, gigabytes, what_is_planned
from lightloom.views.tables.step_groups import group_steps, reconfiguration_caption
from lightloom.views.tables.terms import shown_terms
from lightloom.views.verdict import best_of_all, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from lightloom.formats.harvest_schedule.read import StatedSequence
    from lightloom.plans import Plan
    from lightloom.plans.comparison import Row
    from lightloom.plans.steps import Step
    from lightloom.views.tables.step_groups import StepGroup

# Names of columns that are shorter than those of their terms.
HEADERS = {"reconfiguration": "reconfig."}
SHARES = "share"
# Runs of GPUs that the line of a fabric names.
MOST_RUNS = 8
# Beginning of the names of bounds' classes that hold for every algorithm.
ANY_ALGORITHM = "any algorithm"
# The terms have columns where there is room for them, else a line.
WIDE = 108


def plan_table(plan: Plan, baselines: Sequence[Row], *, all_steps: bool = False) -> str:
    """The problem, a row per run of equal steps, the total, and how it compares with the bound and the baselines.

    baselines: every planner at its best algorithm; all_steps: a row per step.
    """
    return render(*plan_parts(plan, baselines, all_steps=all_steps, is_wide=width() >= WIDE))


def stated_line(plan: Plan, stated: StatedSequence) -> str:
    """The cost of a plan's topologies as their file states it, and their cost here at the file's delay."""
    changes = counted(stated.reconfigurations, "reconfiguration")
    said = f"stated       {show_time(stated.total_s)}, {changes} of {show_time(stated.delay_s)} ({stated.path})"
    here = plan.reconfiguration_delay.scalar_s
    if here is None or not are_equal(here, stated.delay_s):
        rest_s = fsum(step.total_s - step.reconfiguration_s for step in plan.steps)
        at_delay_s = rest_s + plan.reconfigurations * stated.delay_s
        said += f"; at that delay this plan takes {show_time(at_delay_s)}"
    return said


def plan_parts(
    plan: Plan, baselines: Sequence[Row] = (), *, all_steps: bool = False, is_wide: bool
) -> list[RenderableType]:
    """The parts of `plan_table`."""
    under = [*explanation_lines(plan, plan.steps, every=all_steps), "", *_summary(plan, baselines, is_wide=is_wide)]
    table_of_steps = _steps(plan, all_steps=all_steps, is_wide=is_wide)
    return [heading(_title(plan)), Text(_fabric_line(plan)), table_of_steps, *map(Text, under)]


def _title(plan: Plan) -> str:
    return (
        f"{what_is_planned(plan, plan.root, plan.members)}: {show_time(plan.total_s)}, "
        f"{counted(len(plan.steps), 'step')}, "
        f"{counted(plan.reconfigurations, 'reconfiguration')} ({plan.algorithm}, {plan.planner})"
    )


def _fabric_line(plan: Plan) -> str:
    core = plan.core.fabric
    fabric = fabric_words(plan.ports, plan.rates_bps, core, core.pair_ranges)
    more = f"{_islands(plan)}{failed_words(plan.failed)}"
    return f"{_ranks(plan)}{fabric}{more}, initial topology {plan.initial}{_first_charge(plan)}, routing {plan.routing}"


def _ranks(plan: Plan) -> str:
    """`ranks are GPUs 0–15, 32–47 of 64, `; empty where all GPUs take part."""
    if plan.ranks is None:
        return ""
    runs: list[list[int]] = []
    for gpu in plan.ranks:
        if runs and gpu == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], gpu]
        else:
            runs.append([gpu])
    shown = ", ".join("–".join(map(str, run)) for run in runs[:MOST_RUNS])
    more = ", …" if len(runs) > MOST_RUNS else ""
    forward = ", whose other GPUs forward" if plan.gpus > plan.members else ""
    return f"ranks are GPUs {shown}{more} of {plan.fabric_gpus}{forward}; "


def _islands(plan: Plan) -> str:
    """`, islands of 8 GPUs round electrical switches of 3600 Gbit/s, hop delay 100.0 ns`; empty without islands."""
    if plan.electrical is None:
        return ""
    gpus, bandwidth_bps, hop_delay_s = plan.electrical
    rate = f"{bandwidth_bps / GIGA:g} Gbit/s"
    return f", islands of {gpus} GPUs round electrical switches of {rate}, hop delay {show_time(hop_delay_s)}"


def _first_charge(plan: Plan) -> str:
    """The charge before the first step, if the name of the initial topology does not show it."""
    if plan.initial == "free":
        return " (the first topology is not charged)"
    return " (the change back to the first topology is charged)" if plan.initial == "repeated" else ""


def _steps(plan: Plan, *, all_steps: bool, is_wide: bool) -> Table:
    groups = group_steps(plan.steps, _appearance, all_steps=all_steps)
    terms = [HEADERS.get(term.name, term.name) for term in shown_terms(plan.steps)] if is_wide else []
    numbers = ("bytes", "hops", "load", *terms, "total")
    tiers = ("tiers",) if plan.uses_electrical else ()
    made = table("step", "topology", *tiers, *numbers, SHARES, right=("step", *numbers), footer=True)
    for group in groups:
        made.add_row(*_row(group, plan, is_wide=is_wide))
    sums = [_time(second) for second in _sums(plan)] if is_wide else []
    footers = {"topology": "sum", **dict(zip(terms, sums, strict=True)), "total": _time(plan.total_s)}
    for column in made.columns:
        column.footer = footers.get(str(column.header), "")
    made.caption, made.caption_justify = reconfiguration_caption(groups), "left"
    return made


def _sums(plan: Plan) -> list[float]:
    return [fsum(getattr(step, term.attribute) for step in plan.steps) for term in shown_terms(plan.steps)]


def _appearance(step: Step) -> tuple[object, ...]:
    """The properties of a step that a row shows in addition to its number and topology."""
    return step.reconfigured, step.hops, f"{step.transfer_bytes:.6g} {step.load:.6g} {step.total_s:.6g}"


def _row(group: StepGroup[Step], plan: Plan, *, is_wide: bool) -> list[str | Text]:
    spent_s = group.total("total_s")
    share = spent_s / plan.total_s if plan.total_s else 0.0
    terms = [_time(group.total(term.attribute)) for term in shown_terms(plan.steps)] if is_wide else []
    return [
        group.numbers,
        group.marked_topologies,
        *_tiers(group, plan),
        _span(group.span("transfer_bytes"), lambda size_bytes: show_size(size_bytes, plan.size_bytes)),
        _span(group.span("hops"), lambda hops: f"{hops:.0f}"),
        _span(group.span("load"), lambda load: f"{load:.4g}"),
        *terms,
        _time(spent_s),
        bar(share) + Text(f" {share:.0%}"),
    ]


def _tiers(group: StepGroup[Step], plan: Plan) -> list[str]:
    """`electrical`, `optical`, or both, the one that takes longer first; nothing where all data is on circuits."""
    if plan.electrical is None or not plan.uses_electrical:
        return []
    seconds = {
        "electrical": fsum(step.transfer_bytes * step.electrical_load for step in group.steps)
        / plan.electrical.bandwidth_bps,
        "optical": fsum(step.transfer_bytes * step.load for step in group.steps) / max(plan.rates_bps),
    }
    return [", ".join(sorted((tier for tier in seconds if seconds[tier]), key=seconds.__getitem__, reverse=True))]


def _span(span: tuple[float, float], show: Any) -> str:
    first, last = (show(value) for value in span)
    return first if first == last else f"{first}–{last}"


def _time(seconds: float) -> str:
    return show_time(seconds) if seconds else "-"


def _summary(plan: Plan, baselines: Sequence[Row], *, is_wide: bool) -> list[str]:
    lines = [f"total        {show_time(plan.total_s)}"]
    if not is_wide:
        said = (f"{term.name} {_time(sum_s)}" for term, sum_s in zip(shown_terms(plan.steps), _sums(plan), strict=True))
        lines[0] += f": {', '.join(said)}"
    if plan.initial != "repeated" and not are_equal(plan.repeated_s, plan.total_s):
        lines.append(f"repeated     {show_time(plan.repeated_s)} each time: {_closing_change(plan)}")
    lines.append(f"lower bound  {_bound(plan, plan.lower_bound_s, plan.bound_class, baselines)}")
    if plan.narrow_bound is not None:
        lines.append(f"             {_bound(plan, *plan.narrow_bound, baselines)}")
    if not_looked_at := left_out(plan.planner, plan.gpus, plan.ports):
        lines.append(f"left out     {not_looked_at}")
    paying = verdict(plan, baselines)
    if paying:
        lines.append(f"verdict      {paying}")
    lines += [f"algbw        {gigabytes(plan.algbw)} GB/s", f"busbw        {gigabytes(plan.busbw)} GB/s"]
    others = [_baseline(plan, row) for row in baselines if not _is_the_plan(plan, row)]
    return lines + [f"{'baselines' if index == 0 else '':<12} {line}" for index, line in enumerate(others)]


def _closing_change(plan: Plan) -> str:
    """The difference of the charge before the first step where the plan is repeated."""
    if plan.repeated_s < plan.total_s:
        return "the change from the initial topology is made once"
    return "the change back to the first topology is charged"


def _bound(plan: Plan, lower_bound_s: float, bound_class: str, baselines: Sequence[Row]) -> str:
    """The bound, how far the plan is from it, and its class; an algorithm below the bound of the plan's steps."""
    if not lower_bound_s:
        return f"{show_time(lower_bound_s)} ({bound_class})"
    steps = counted(len(plan.steps), "step")
    attains = plan.total_s / lower_bound_s <= 1 + ATTAINED
    if attains and not bound_class.startswith(ANY_ALGORITHM):
        said = f"no sequence of topologies is faster for {'this' if len(plan.steps) == 1 else 'these'} {steps}"
        best = best_of_all(baselines)
        if best is not None and (best.total_s or 0.0) < plan.total_s * (1 - ATTAINED):
            said += f", but another algorithm is: {best.algorithm}, {show_time(best.total_s or 0.0)}"
        return f"{show_time(lower_bound_s)}; {said} ({bound_class})"
    return f"{show_time(lower_bound_s)}; the plan {gap_words(plan.total_s, lower_bound_s)} ({bound_class})"


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

"""What the verb `plan` does with a plan that is to be repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.cli.options import given_of
from lightloom.cli.progress import with_progress
from lightloom.views.documents import plan_document
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom.plans import Plan


def repaired_plan(
    before: str, options: dict[str, Any], output_format: str, *, baselines: bool, all_steps: bool
) -> tuple[Plan, str]:
    """The repaired plan, and the text that is printed. options: all others that describe a problem.

    Raises `InputError` for options of a problem, which the plan states, and where nothing failed.
    """
    from lightloom.faults.repair import repair

    failed = options.pop("failed", None)
    for name in given_of(options):
        raise refuse(name, "it cannot be combined with --repair, whose plan states the problem; --failed goes with it")
    if failed is None:
        raise refuse("failed", "missing; with --repair it says what failed, such as --failed port:5.1")
    found = with_progress("repairing", lambda: repair(before, failed, compare_anew=baselines))
    if output_format == "json":
        return found.plan, plan_document(found.plan, None, repair=found)
    if output_format == "csv":
        return found.plan, as_csv(found.plan.to_columns())
    from lightloom.views.tables.plan import plan_table
    from lightloom.views.tables.repair import repair_lines

    return found.plan, f"{plan_table(found.plan, [], all_steps=all_steps)}\n{repair_lines(found)}"

"""Whether changing circuits pays: a plan compared with the best plan whose circuits never change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom import _core
from lightloom._core import counted, show_time
from lightloom.views.ratios import are_equal, factor
from lightloom.views.refusals import why

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom.plans import Plan
    from lightloom.plans.comparison import Row

# A plan that is faster by less than this factor is not worth changing circuits for.
PAYS = 1.01


def unchanging(rows: Iterable[Row]) -> Row | None:
    """The row of the best plan whose circuits never change; None if there is none, or it has no time."""
    found = _of_unchanging(rows)
    return None if found is None or found.total_s is None else found


def _of_unchanging(rows: Iterable[Row]) -> Row | None:
    """The row of circuits that never change, with or without a time."""
    for row in rows:
        able = _core.capabilities(row.planner) if row.planner else None
        if able is not None and able["never_changes"]:
            return row
    return None


def best_of_all(rows: Iterable[Row]) -> Row | None:
    """The row of the best plan over all algorithms and planners, where there is one."""
    return next((row for row in rows if row.keeps_the_best and row.total_s is not None), None)


def verdict(plan: Plan, rows: Sequence[Row]) -> str:
    """A sentence; where no plan leaves circuits as they are, why not; empty where the rows have no word of that.

    rows: the baselines of the plan, the best plan of all algorithms and the best that changes nothing among them.
    """
    still = _of_unchanging(rows)
    if still is None:
        return ""
    if still.total_s is None:
        return why(still.reason)
    changes = changes_after_start(plan)
    return _of_changes(plan, still, changes) if changes else _of_none(plan, still, best_of_all(rows))


def _of_none(plan: Plan, still: Row, best: Row | None) -> str:
    """The verdict on a plan that changes nothing."""
    after = " after the first setting of the circuits" if _sets_up(plan) else ""
    if best is None or are_equal(best.total_s or 0.0, plan.total_s):
        return f"changing circuits does not pay here: the best plan leaves them as they are{after}"
    return f"this plan leaves circuits as they are{after}; the best that does takes {taking(still)}"


def _of_changes(plan: Plan, still: Row, changes: int) -> str:
    """The verdict on a plan that changes circuits so often."""
    others = f"circuits that never change ({taking(still)})"
    ratio = (still.total_s or 0.0) / plan.total_s if plan.total_s else 1.0
    often = "once" if changes == 1 else "twice" if changes == 2 else counted(changes, "time")
    if ratio >= PAYS:
        return f"changing circuits {often} makes it {factor(ratio)} as fast as {others}"
    if ratio >= 1:
        return f"changing circuits {often} saves less than 1 % of the time of {others}"
    return f"changing circuits does not pay here: this plan takes {factor(1 / ratio)} the time of {others}"


def changes_after_start(plan: Plan) -> int:
    """Changes of circuits, but for the one that sets up circuits where a plan starts without any."""
    return plan.reconfigurations - _sets_up(plan)


def _sets_up(plan: Plan) -> bool:
    """Whether a plan that starts without circuits is charged for its first ones."""
    return plan.initial == "dark" and plan.steps[0].reconfigured


def taking(row: Row) -> str:
    """`113.7 µs: composed on ring`."""
    on = f" on {row.topology}" if row.topology and row.topology != row.algorithm else ""
    return f"{show_time(row.total_s or 0.0)}: {row.algorithm}{on}"

"""The table that the verb `compare` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_time
from lightloom.views.tables.page import bar, heading, render, table, why
from lightloom.views.tables.ratios import are_equal, gap_words

if TYPE_CHECKING:
    from lightloom import Comparison


def comparison_table(comparison: Comparison) -> str:
    """A row per planner and algorithm, fastest first; then the bound, and what could not be served and why."""
    made = table(
        "",
        "planner",
        "algorithm",
        "topology",
        "time",
        "reconf.",
        "vs best",
        "time over the slowest",
        right=("time", "reconf.", "vs best"),
    )
    times = [row.total_s for row in comparison.rows if row.total_s is not None]
    best_s, worst_s = min(times, default=0.0), max(times, default=0.0)
    for row in comparison.rows:
        if row.total_s is None:
            continue
        is_best = are_equal(row.total_s, best_s)
        made.add_row(
            "*" if is_best else "",
            row.planner,
            row.algorithm,
            row.topology,
            show_time(row.total_s),
            str(row.reconfigurations),
            "best" if is_best else f"{row.total_s / best_s:.3g}x",
            bar(row.total_s / worst_s),
            style="bold" if is_best else "",
        )
    above = f"; the best {gap_words(best_s, comparison.lower_bound_s)}" if comparison.lower_bound_s else ""
    bound = f"lower bound  {show_time(comparison.lower_bound_s)}{above} ({comparison.bound_class})"
    lines = [Text(bound)] if times else [heading("nothing serves this problem")]
    return render(*([made] if times else []), *lines, *(Text(line) for line in _not_applicable(comparison)))


def _not_applicable(comparison: Comparison) -> list[str]:
    """One line per reason, with all that it holds for."""
    by_reason: dict[str, list[str]] = {}
    for row in comparison.rows:
        if row.total_s is None:
            by_reason.setdefault(why(row.reason), []).append(f"{row.planner} {row.algorithm}".strip())
    return [f"not applicable: {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in by_reason.items()]

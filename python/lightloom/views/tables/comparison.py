"""The table that the verb `compare` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_time
from lightloom.views.tables.page import heading, render, table, why, width
from lightloom.views.tables.ratios import are_equal, gap_words
from lightloom.views.tables.terms import TERMS, legend, split_bar, terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from lightloom import Comparison
    from lightloom.comparison import Row

# Cells of the best time's bar; of a bar at least and at most, the longer ones are cut; of the columns beside names and
# bars.
BEST_CELLS = 8
LEAST_CELLS, MOST_CELLS = 12, 40
OTHER_COLUMNS = 40
# A term that differs by less than this share of the time decides nothing.
NIL = 1e-3


def comparison_table(comparison: Comparison, *, all_rows: bool = False) -> str:
    """The best row of every planner, fastest first; why the best wins; the bound; what could not be served and why.

    all_rows: every planner with every algorithm, and all that could not be served.
    """
    return render(*comparison_parts(comparison, all_rows=all_rows, columns=width()))


def comparison_parts(comparison: Comparison, *, all_rows: bool = False, columns: int) -> list[RenderableType]:
    """What `comparison_table` shows on so many columns, part by part."""
    served = [row for row in comparison.rows if row.total_s is not None]
    rows = served if all_rows else comparison.by_planner()
    under = [why_the_best_wins(comparison), _bound(comparison), *_not_applicable(comparison, all_rows=all_rows)]
    if not rows:
        return [heading("nothing serves this problem"), *map(Text, under[2:])]
    more = len(served) - len(rows)
    parts: list[RenderableType] = [
        rows_table(rows, columns),
        legend(f"a cell is 1/{BEST_CELLS} of the best time"),
        Text(""),
    ]
    if more:
        under.append(f"{more} more row{'s' * (more != 1)} of other algorithms and topologies: --all")
    return parts + [Text(line) for line in under if line]


def rows_table(rows: Sequence[Row], columns: int) -> Table:
    """A row per planner and algorithm, in their order, the fastest marked; all have a time."""
    times = [row.total_s or 0.0 for row in rows]
    best_s = min(times, default=0.0)
    numbers = ("time", "vs best", "reconf.")
    made = table("", "planner", "algorithm", *numbers, "terms", right=numbers)
    names = sum(
        max((len(name) for name in named), default=0)
        for named in ([row.planner for row in rows], [*map(_algorithm, rows)])
    )
    room = max(LEAST_CELLS, min(MOST_CELLS, columns - OTHER_COLUMNS - names))
    made.columns[-1].min_width = room
    for row, time_s in zip(rows, times, strict=True):
        is_best = are_equal(time_s, best_s)
        made.add_row(
            "*" if is_best else "",
            row.planner,
            _algorithm(row),
            show_time(time_s),
            "best" if is_best or not best_s else f"{time_s / best_s:.3g}x",
            str(row.reconfigurations),
            split_bar(terms_of(row), BEST_CELLS / best_s if best_s else 0.0, room),
            style="bold" if is_best else "",
        )
    return made


def why_the_best_wins(comparison: Comparison) -> str:
    """One sentence: which terms the best saves and which it pays for, against the next planner that is slower."""
    rows = comparison.by_planner()
    if len(rows) < 2:
        return ""
    best = rows[0]
    best_s = best.total_s or 0.0
    equal = [row.planner for row in rows if are_equal(row.total_s or 0.0, best_s)]
    slower = next((row for row in rows if row.planner not in equal), None)
    if slower is None:
        return f"{_joined(equal)} are equally fast"
    differences = [
        (other - own, term.name) for own, other, term in zip(terms_of(best), terms_of(slower), TERMS, strict=True)
    ]
    told = [(seconds, name) for seconds, name in differences if abs(seconds) > NIL * best_s] or differences
    saved = [f"{show_time(seconds)} of {name}" for seconds, name in sorted(told, reverse=True) if seconds > 0]
    paid = [f"{show_time(-seconds)} more {name}" for seconds, name in sorted(told) if seconds < 0]
    win = f"{_joined(equal)} win{'s' * (len(equal) == 1)} by {_joined(saved)}"
    return f"{win} for {_joined(paid)} than {_name(slower)}" if paid else f"{win} over {_name(slower)}"


def _name(row: Row) -> str:
    return f"{row.planner} ({_algorithm(row)})"


def _algorithm(row: Row) -> str:
    """The algorithm, and the topology of a static plan."""
    return f"{row.algorithm} on {row.topology}" if row.topology else row.algorithm


def _joined(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _bound(comparison: Comparison) -> str:
    best_s = comparison.best.total_s if comparison.best else None
    above = f"; the best {gap_words(best_s, comparison.lower_bound_s)}" if best_s and comparison.lower_bound_s else ""
    return f"lower bound {show_time(comparison.lower_bound_s)}{above} ({comparison.bound_class})"


def _not_applicable(comparison: Comparison, *, all_rows: bool) -> list[str]:
    """One line per reason, with all that it holds for.

    Unless `all_rows`, only planners without any row, if they plan this collective, and algorithms of the collective:
    what one may have looked for in vain.
    """
    refused = [row for row in comparison.rows if row.total_s is None]
    served = {row.planner for row in comparison.rows if row.total_s is not None}
    by_reason: dict[str, list[str]] = {}
    told = set()
    for row in refused:
        name, telling = f"{row.planner} {row.algorithm}".strip(), row
        if not all_rows and row.planner:
            if row.planner in served or row.planner in told or not row.is_for_collective:
                continue
            told.add(row.planner)
            name, telling = row.planner, _telling([other for other in refused if other.planner == row.planner])
        by_reason.setdefault(why(telling.reason), []).append(name)
    return [f"not applicable: {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in by_reason.items()]


def _telling(rows: Sequence[Row]) -> Row:
    """The row of a planner whose reason holds for the fewest algorithms: that of the algorithm which it would take."""
    reasons = [row.reason.replace(row.algorithm, "") if row.algorithm else row.reason for row in rows]
    return min(zip(rows, reasons, strict=True), key=lambda one: reasons.count(one[1]))[0]

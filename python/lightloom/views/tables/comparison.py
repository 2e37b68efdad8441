"""The table that the verb `compare` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, left_out, show_time
from lightloom.views.ratios import are_equal, factor, gap_words
from lightloom.views.refusals import why
from lightloom.views.tables.page import heading, render, table, width
from lightloom.views.tables.problem import all_fabric_words, what_is_planned
from lightloom.views.tables.terms import TERMS, legend, shown_terms, split_bar, terms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from lightloom.inputs.fabric import Fabric
    from lightloom.plans.comparison import Comparison, Row

# Cells of the best time's bar; least and most of a bar, longer ones are cut; cells of the columns other than names and
# bars.
BEST_CELLS = 8
LEAST_CELLS, MOST_CELLS = 12, 40
OTHER_COLUMNS = 40
# A term that differs by less than this share of the time decides nothing.
NIL = 1e-3


def comparison_table(comparison: Comparison, fabric: Fabric, *, all_rows: bool = False) -> str:
    """The fabric; the best row of every planner, fastest first; why the best wins; the bound; what has no time.

    all_rows: every planner with every algorithm, and all that could not be served.
    """
    title, *parts = comparison_parts(comparison, all_rows=all_rows, columns=width())
    notes = [Text(line) for line in _not_looked_at(comparison, fabric.ports)]
    return render(title, Text(all_fabric_words(fabric)), *parts, *notes)


def _not_looked_at(comparison: Comparison, ports: int) -> list[str]:
    """A line for every planner with a time that leaves choices of its own kind out for the effort."""
    planners = dict.fromkeys(row.planner for row in comparison.rows if row.total_s is not None)
    said = ((planner, left_out(planner, comparison.gpus, ports)) for planner in planners)
    return [f"left out: {planner}: {choices}" for planner, choices in said if choices]


def comparison_parts(comparison: Comparison, *, all_rows: bool = False, columns: int) -> list[RenderableType]:
    """The parts of `comparison_table` on this many columns, without the fabric."""
    title = heading(what_is_planned(comparison))
    served = [row for row in comparison.rows if row.total_s is not None]
    rows = served if all_rows else comparison.by_planner()
    under = [why_the_best_wins(comparison), _bound(comparison), *_without_time(comparison, all_rows=all_rows)]
    if not rows:
        return [title, Text("nothing serves this problem"), *map(Text, under[2:])]
    more = len(served) - len(rows)
    parts: list[RenderableType] = [
        title,
        rows_table(rows, columns),
        legend(shown_terms(rows), f"a cell is 1/{BEST_CELLS} of the best time"),
        Text(""),
    ]
    if more:
        under.append(f"{counted(more, 'more row')} of other algorithms and topologies: --all")
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
            "best" if is_best or not best_s else factor(time_s / best_s),
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
    saved = [f"{show_time(seconds)} less {name}" for seconds, name in sorted(told, reverse=True) if seconds > 0]
    paid = [f"{show_time(-seconds)} more {name}" for seconds, name in sorted(told) if seconds < 0]
    faster = f"{_joined(equal)} {'is' if len(equal) == 1 else 'are'} faster: {_joined([*saved, *paid])}"
    return f"{faster} than {_name(slower)}"


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


def _without_time(comparison: Comparison, *, all_rows: bool) -> list[str]:
    return [*_left_out(comparison, all_rows=all_rows), *_not_applicable(comparison, all_rows=all_rows)]


def _left_out(comparison: Comparison, *, all_rows: bool) -> list[str]:
    """A line for planners that are slower than the best and were not solved to the end.

    Unless `all_rows`, one for each planner that could be faster so than in its own row: that which may be the fastest.
    """
    shown_s = {row.planner: row.total_s or 0.0 for row in comparison.by_planner()}
    by_least = sorted(
        (row.at_least_s, place) for place, row in enumerate(comparison.rows) if row.at_least_s is not None
    )
    told: dict[str, Row] = {}
    for least_s, place in by_least:
        row = comparison.rows[place]
        if all_rows:
            told[str(place)] = row
        elif least_s < shown_s.get(row.planner, math.inf):
            told.setdefault(row.planner, row)
    return [f"left out: {_name(row)}: {why(row.reason)}" for row in told.values()]


def _not_applicable(comparison: Comparison, *, all_rows: bool) -> list[str]:
    """One line per reason, with all that it holds for.

    Unless `all_rows`, only planners without any row, if they plan this collective, and algorithms of the collective:
    those that a reader may miss.
    """
    refused = [row for row in comparison.rows if row.total_s is None and row.at_least_s is None]
    served = {row.planner for row in comparison.rows if row.total_s is not None or row.at_least_s is not None}
    by_reason: dict[str, list[str]] = {}
    for planner in dict.fromkeys(row.planner for row in refused):
        own = [row for row in refused if row.planner == planner]
        reasons = dict.fromkeys(why(row.reason) for row in own)
        if not planner:
            names = {reason: [row.algorithm for row in own if why(row.reason) == reason] for reason in reasons}
        elif planner in served or (all_rows and len(reasons) > 1):
            algorithms = {reason: [row.algorithm for row in own if why(row.reason) == reason] for reason in reasons}
            names = {reason: [f"{planner} ({', '.join(of)})"] for reason, of in algorithms.items()} if all_rows else {}
        else:
            is_told = all_rows or own[0].is_for_collective
            names = {why(_telling(own).reason): [planner]} if is_told else {}
        for reason, named in names.items():
            by_reason.setdefault(reason, []).extend(named)
    return [f"not applicable: {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in by_reason.items()]


def _telling(rows: Sequence[Row]) -> Row:
    """The row of a planner whose reason holds for the fewest algorithms: it names what the planner would take."""
    reasons = [row.reason.replace(row.algorithm, "") if row.algorithm else row.reason for row in rows]
    return min(zip(rows, reasons, strict=True), key=lambda one: reasons.count(one[1]))[0]

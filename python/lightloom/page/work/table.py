"""Tables, as the verbs print them with `--format csv`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.base.errors import unknown_name
from lightloom.page.arguments import arguments_of, checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.compare import comparison_of
from lightloom.page.work.map import swept
from lightloom.page.work.results import advice_of, circuits_of, plan_of, simulation_of, training_of
from lightloom.views.documents import bound_document
from lightloom.views.rows import as_csv, rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

CSV = "text/csv; charset=utf-8"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """The table `of` a plan, a comparison, bounds, a simulation, circuits, training, a break-even or a map."""
    asked = dict(asked)
    subject, kind = asked.pop("of", "plan"), asked.pop("format", "csv")
    if kind != "csv":
        raise unknown_name("format", kind, ("csv",))
    if subject not in list(ROWS):
        raise unknown_name("of", subject, ROWS)
    return Outcome(DONE, (ROWS[subject](asked, limits) + "\n").encode(), CSV, f"{subject}.csv")


def _bounds(asked: dict[str, Any], limits: Limits) -> str:
    arguments, _ = arguments_of(checked("bound", asked), limits)
    rows = bound_document(ll.bound(**arguments))["bounds"]
    return rows_as_csv({key: value for key, value in row.items() if key != "segments"} for row in rows)


def _break_even(asked: dict[str, Any], limits: Limits) -> str:
    _, found = training_of({**asked, "break_even": True}, limits, lambda _done, _total: None)
    assert found is not None  # noqa: S101 (it was asked for)
    return as_csv(found.to_columns())


ROWS: dict[str, Callable[[dict[str, Any], Limits], str]] = {
    "plan": lambda asked, limits: as_csv(plan_of(asked, limits).to_columns()),
    "compare": lambda asked, limits: as_csv(comparison_of(asked, limits).to_columns()),
    "bound": _bounds,
    "simulate": lambda asked, limits: as_csv(simulation_of(asked, limits)[0].to_columns()),
    "circuits": lambda asked, limits: as_csv(circuits_of(asked, limits).to_columns()),
    "advise": lambda asked, limits: as_csv(advice_of(asked, limits).to_columns()),
    "train": lambda asked, limits: as_csv(training_of(asked, limits, lambda _done, _total: None)[0].to_columns()),
    "break-even": _break_even,
    "map": lambda asked, limits: as_csv(swept(asked, limits).to_columns()),
}

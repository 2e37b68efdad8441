"""Every planner and the lower bound, as the verb `compare` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.page.arguments import arguments_of, checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.say import Kind
from lightloom.views.documents import comparison_document, comparison_row

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say
    from lightloom.plans.comparison import Comparison, Row


def work(asked: dict[str, Any], limits: Limits, say: Say) -> Outcome:
    """Compare; every row that has a time is told when it is found."""
    return Outcome(DONE, comparison_document(comparison_of(asked, limits, say)).encode())


def comparison_of(asked: dict[str, Any], limits: Limits, say: Say | None = None) -> Comparison:
    """The comparison that the options ask for. Raises `InputError`."""
    arguments, _ = arguments_of(checked("compare", asked), limits)

    def report(row: Row) -> None:
        if say is not None and row.total_s is not None:
            say(Kind.ROW, comparison_row(row))

    return ll.compare(**arguments, report=report)

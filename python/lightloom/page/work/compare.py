"""Every planner and the lower bound, as the verb `compare` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.page.arguments import arguments_of, checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import problem_code
from lightloom.page.work.say import Kind
from lightloom.page.work.subject import Subject
from lightloom.views.documents import comparison_document, comparison_row
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
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


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    flags, arguments = problem_code("compare", options, code)
    code.commands.append(f"lightloom compare{flags}")
    code.lines += [
        f"comparison = ll.compare({arguments})",
        "for row in comparison.rows:",
        "    print(row)",
        "print(comparison.lower_bound_s, comparison.bound_class)",
    ]


SUBJECTS = {
    "compare": Subject(table=lambda asked, limits: as_csv(comparison_of(asked, limits).to_columns()), code=_code)
}

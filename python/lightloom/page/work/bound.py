"""Lower bounds, as the verb `bound` prints them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.page.arguments import arguments_of, checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import problem_code
from lightloom.page.work.subject import Subject
from lightloom.views.documents import bound_document
from lightloom.views.rows import rows_as_csv

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Bound, without a plan."""
    arguments, _ = arguments_of(checked("bound", asked), limits)
    return Outcome(DONE, json.dumps(bound_document(ll.bound(**arguments)), indent=1).encode())


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    flags, arguments = problem_code("bound", options, code)
    code.commands.append(f"lightloom bound{flags}")
    code.lines += [f"bounds = ll.bound({arguments})", "print(bounds.lower_bound_s, bounds.bound_class)"]


def _rows(asked: dict[str, Any], limits: Limits) -> str:
    arguments, _ = arguments_of(checked("bound", asked), limits)
    rows = bound_document(ll.bound(**arguments))["bounds"]
    return rows_as_csv({key: value for key, value in row.items() if key != "segments"} for row in rows)


SUBJECTS = {"bound": Subject(table=_rows, code=_code)}

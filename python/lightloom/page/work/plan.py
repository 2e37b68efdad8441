"""A plan, as the verb `plan` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom import planning
from lightloom.page.arguments import arguments_of, checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import problem_code
from lightloom.page.work.results import plan_of
from lightloom.page.work.subject import Subject
from lightloom.views.documents import plan_document

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Plan, and with `baselines` plan with every other planner too."""
    given = checked("plan", asked)
    plan = plan_of({key: value for key, value in asked.items() if key != "baselines"}, limits)
    others = None
    if given.pop("baselines", False):
        arguments, of_plan = arguments_of(given, limits)
        others = planning.baselines(**arguments, beside=None if of_plan else plan)
    return Outcome(DONE, plan_document(plan, others).encode())


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    flags, arguments = problem_code("plan", options, code)
    code.commands.append(f"lightloom plan{flags}")
    code.lines += [f"plan = ll.plan({arguments})", "print(plan.to_json())"]


SUBJECTS = {"plan": Subject.of_result(plan_of, _code)}

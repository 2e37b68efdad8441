"""Circuits of a plan or an iteration on the ports of switches, as the verb `circuits` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import planned_first
from lightloom.page.work.iterations import iteration_of
from lightloom.page.work.results import circuits_of
from lightloom.page.work.subject import Subject

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Plan, or take the plan that is given, and put its circuits on ports; of an iteration those of all groups."""
    iteration = iteration_of(asked, limits)
    circuits = circuits_of(asked, limits) if iteration is None else ll.circuits(iteration)
    return Outcome(DONE, circuits.to_json().rstrip("\n").encode())


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    planned_first(options, set(), code)
    code.commands.append("lightloom circuits plan.json")
    code.lines += ["circuits = ll.circuits(plan)", "print(circuits.to_json())"]


SUBJECTS = {"circuits": Subject.of_result(circuits_of, _code)}

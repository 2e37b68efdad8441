"""A plan that is made once for many iterations, as the verb `robust` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.base.errors import refuse
from lightloom.page.arguments import checked, fabric_of
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import Bare, arguments_text, fabric_line, flags_text
from lightloom.page.work.subject import Subject

if TYPE_CHECKING:
    from lightloom import RobustPlan
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Plan once for the matrices that are asked about."""
    return Outcome(DONE, _planned(asked, limits).to_json().encode())


def _planned(asked: dict[str, Any], limits: Limits) -> RobustPlan:
    """The plan. Raises `InputError`."""
    asked = dict(asked)
    told = asked.pop("matrices") if isinstance(asked.get("matrices"), list) else None
    given = checked("robust", asked)
    fabric = fabric_of(given)
    matrices = given.pop("matrices", None) if told is None else told
    if matrices is None:
        raise refuse("matrices", "missing; it takes one of `lightloom list workloads`, or matrices by iteration")
    if told is None:
        limits.check_gpus(fabric.sized().gpus)
    elif told and isinstance(told[0], list):
        limits.check_gpus(len(told[0]), "matrices")
    return ll.robust(matrices, given.pop("size", None), fabric=fabric, **given)


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    if isinstance(options.get("matrices"), list):
        raise refuse("matrices", "code is written for a matrix by its name; save others as files")
    given = checked("robust", options)
    code.commands.append(f"lightloom robust{flags_text('robust', given)}")
    code.lines.append(fabric_line(given))
    arguments = arguments_text({**given, "fabric": Bare("fabric")}, ("matrices", "size"))
    code.lines += [f"found = ll.robust({arguments})", "print(found.to_json())"]


SUBJECTS = {"robust": Subject.of_result(_planned, _code)}

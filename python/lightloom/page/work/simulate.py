"""A plan simulated, as the verb `simulate` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.inputs.options import SIMULATION
from lightloom.page.arguments import checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import arguments_text, flags_text, planned_first
from lightloom.page.work.results import simulation_of
from lightloom.page.work.subject import Subject

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Plan, or take the plan that is given, and simulate it."""
    simulation, more = simulation_of(asked, limits)
    return Outcome(DONE, simulation.to_json(**more).encode())


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    names = {option.name for option in SIMULATION} | {"links", "explain"}
    given = checked("simulate", planned_first(options, names, code))
    code.commands.append(f"lightloom simulate plan.json{flags_text('simulate', given)}")
    more: dict[str, Any] = {name: given.pop(name) for name in ("links", "explain") if name in given}
    arguments = ", ".join(part for part in ("plan", arguments_text(given)) if part)
    code.lines += [f"simulation = ll.simulate({arguments})", f"print(simulation.to_json({arguments_text(more)}))"]


SUBJECTS = {"simulate": Subject.of_result(lambda asked, limits: simulation_of(asked, limits)[0], _code)}

"""Plans, and what is made of them, which several tasks draw, export or look into; the last ones are kept."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.base.errors import refuse, shown
from lightloom.inputs.options import SIMULATION
from lightloom.page.arguments import arguments_of, checked

if TYPE_CHECKING:
    from lightloom.page.limits import Limits

__all__ = ["circuits_of", "plan_of", "simulation_of"]

# Plans that are looked into again: step after step, as a picture, as a table.
MOST_PLANS = 8
_PLANS: OrderedDict[str, ll.Plan] = OrderedDict()


def plan_of(asked: dict[str, Any], limits: Limits) -> ll.Plan:
    """The plan that is given as JSON under `plan`, or that the options ask for. Raises `InputError`."""
    key = json.dumps(asked, sort_keys=True)
    if key not in _PLANS:
        _PLANS[key] = _read_plan(asked, limits) if "plan" in asked else _planned(asked, limits)
        while len(_PLANS) > MOST_PLANS:
            _PLANS.popitem(last=False)
    _PLANS.move_to_end(key)
    return _PLANS[key]


def _planned(asked: dict[str, Any], limits: Limits) -> ll.Plan:
    given = checked("plan", asked)
    given.pop("baselines", None)
    arguments, of_plan = arguments_of(given, limits)
    return ll.plan(**arguments, **of_plan)


def _read_plan(asked: dict[str, Any], limits: Limits) -> ll.Plan:
    asked = dict(asked)
    told = asked.pop("plan")
    for name in asked:
        raise refuse(name, "it cannot be combined with plan, which states its own options")
    if not isinstance(told, dict):
        raise refuse("plan", f"`{shown(told)}` is not accepted; it takes a plan's JSON")
    limits.check_gpus(told["gpus"] if isinstance(told.get("gpus"), int) else None, "plan.gpus")
    # Comparisons that `plan` is asked for are no part of the plan itself.
    return ll.Plan.from_json(json.dumps({key: value for key, value in told.items() if key != "baselines"}))


def simulation_of(asked: dict[str, Any], limits: Limits) -> tuple[ll.Simulation, dict[str, bool]]:
    """The plan simulated, and whether `links` and `explain` are asked for. Raises `InputError`."""
    names = {option.name for option in SIMULATION} | {"links", "explain"}
    own = {key: value for key, value in asked.items() if key.replace("-", "_") in names}
    settings = checked("simulate", own)
    more = {name: settings.pop(name, False) for name in ("links", "explain")}
    plan = plan_of({key: value for key, value in asked.items() if key not in own}, limits)
    return ll.simulate(plan, **settings), more


def circuits_of(asked: dict[str, Any], limits: Limits) -> ll.Circuits:
    """The circuits of the plan on ports: of its own optical layer, or of `optics` if a plan is given."""
    asked = dict(asked)
    optics = checked("circuits", {"optics": asked.pop("optics")} if "plan" in asked and "optics" in asked else {})
    return ll.circuits(plan_of(asked, limits), **optics)

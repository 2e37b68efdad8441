"""Results of requests, which other tasks draw, tabulate, export or look into; the last one is kept."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.advice.job import Job
from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.inputs.catalogue import named_switches, switches_of_text
from lightloom.inputs.options import SIMULATION
from lightloom.inputs.workloads.model import model_workload, preset_workload
from lightloom.page.arguments import arguments_of, checked, fabric_of
from lightloom.training.break_even import DELAYS_S, break_even, delay_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.page.limits import Limits
    from lightloom.training.break_even import BreakEven

__all__ = ["advice_of", "circuits_of", "plan_of", "simulation_of", "training_of", "workload_of"]

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


def advice_of(asked: dict[str, Any], limits: Limits) -> ll.Advice:
    """The advice on the job that is given as TOML. Raises `InputError`."""
    asked = dict(asked)
    job = Job.of_text(text_of("job", asked.pop("job", None)))
    limits.check_gpus(job.gpus)
    named, own = asked.pop("switches", None), asked.pop("own_switches", None)
    found = named_switches("all" if named is None else text_of("switches", named))
    more = () if own is None else switches_of_text(text_of("own_switches", own))
    return ll.advise(job, switches=[*found, *more], **checked("advise", asked))


def workload_of(asked: dict[str, Any], limits: Limits) -> ll.Workload:
    """The workload of `model`, `description` or `workload`, taken out of the request. Raises `InputError`."""
    ranks = checked("train", {"ranks": asked.pop("ranks")} if "ranks" in asked else {}).get("ranks")
    limits.check_gpus(ranks, "ranks")
    said = {name: asked.pop(name) for name in ("model", "description", "workload") if asked.get(name) is not None}
    if len(said) != 1:
        raise refuse("model", "it takes one of three: model, a name; description, a model's TOML text; workload, JSON")
    ((kind, value),) = said.items()
    if kind == "workload":
        if not isinstance(value, dict):
            raise refuse(kind, f"`{shown(value)}` is not accepted; it takes JSON of lightloom.workload/1")
        if ranks is not None:
            raise refuse("ranks", "the workload states the number of ranks; leave it out")
        limits.check_gpus(value["ranks"] if isinstance(value.get("ranks"), int) else None, "workload.ranks")
        workload = ll.Workload.of(value)
    else:
        if not isinstance(value, str):
            raise refuse(kind, f"`{shown(value)}` is not accepted; it takes text")
        # A text of several lines is no file's name.
        told = preset_workload(value, ranks=ranks) if kind == "model" else model_workload(f"{value}\n", ranks=ranks)
        workload = ll.Workload.of(told)
    limits.check_gpus(workload.ranks, "ranks")
    return workload


def training_of(
    asked: dict[str, Any], limits: Limits, report: Callable[[int, int], None]
) -> tuple[ll.Training, BreakEven | None]:
    """The iteration, and its time against the delay where `break_even` is asked for. Raises `InputError`.

    report: is told how many of how many iterations are planned.
    """
    asked = dict(asked)
    wanted = asked.pop("break_even", False)
    if not isinstance(wanted, bool):
        raise refuse("break_even", f"`{shown(wanted)}` is not accepted; it takes true or false")
    delays_s = _delays(asked.pop("delays", None), wanted, limits)
    workload = workload_of(asked, limits)
    given = checked("train", asked)
    policy = given.pop("policy", "carry")
    fabric = fabric_of(given)
    for name in given:
        raise unknown_name("option", name, ("policy", "ranks", "fabric"))
    total = 1 + len(delays_s)
    training = ll.train(workload, fabric=fabric, policy=policy)
    report(1, total)
    if not wanted:
        return training, None
    done = 1

    def advance(more: int) -> None:
        nonlocal done
        done += more
        report(done, total)

    from dataclasses import replace

    found = break_even(
        lambda delay_s: ll.train(workload, fabric=replace(fabric, reconfiguration_delay=delay_s), policy=policy),
        delays_s,
        advance,
    )
    return training, found


def _delays(told: object, wanted: bool, limits: Limits) -> tuple[float, ...]:
    if told is None:
        return DELAYS_S if wanted else ()
    if not wanted:
        raise refuse("delays", "it is used only together with break_even")
    if not isinstance(told, str):
        raise refuse("delays", f"`{shown(told)}` is not accepted; it takes times such as 1us,10us,1ms")
    found = delay_list(told)
    limits.check_points("delays", found)
    return found

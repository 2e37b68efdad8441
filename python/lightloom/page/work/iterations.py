"""Training iterations of requests: the workload, its plan, and its time against the delay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.inputs.workloads.model import model_workload, preset_workload
from lightloom.page.arguments import checked, fabric_of
from lightloom.training.break_even import DELAYS_S, break_even, delay_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.page.limits import Limits
    from lightloom.training.break_even import BreakEven

__all__ = ["iteration_of", "training_of", "workload_of"]

# The ways to name an iteration's workload, of which a request has one.
WORKLOADS = ("model", "description", "workload")


def workload_of(asked: dict[str, Any], limits: Limits) -> ll.Workload:
    """The workload of `model`, `description` or `workload`, taken out of the request. Raises `InputError`."""
    ranks = checked("train", {"ranks": asked.pop("ranks")} if "ranks" in asked else {}).get("ranks")
    limits.check_gpus(ranks, "ranks")
    said = {name: asked.pop(name) for name in WORKLOADS if asked.get(name) is not None}
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

    found = break_even(
        lambda delay_s: ll.train(workload, fabric=fabric.varied(reconfiguration_delay=delay_s), policy=policy),
        delays_s,
        advance,
    )
    return training, found


def iteration_of(asked: dict[str, Any], limits: Limits) -> ll.Training | None:
    """The iteration that is asked for; None where it is a plan. Raises `InputError`."""
    if not any(asked.get(name) is not None for name in WORKLOADS):
        return None
    return training_of(asked, limits, lambda _done, _total: None)[0]


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

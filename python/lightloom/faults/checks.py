"""Checks of a file of fallbacks: of every plan, by the judge of plans, and of what the plans are for."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from lightloom._core import counted
from lightloom.base.errors import InputError
from lightloom.faults.kinds import Wanted, given_faults
from lightloom.planning import Check, verify
from lightloom.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.faults.reader import Parts

__all__ = ["checks_of"]

# Keys of a plan's fabric that any fault may change; and those that depend on the number of ranks, which a dead GPU
# changes: costs of barriers and rounds of signals grow with it.
OF_FAULTS = {"failed", "initial"}
OF_RANKS = {"dims", "barrier_s", "reconfiguration_delay_s"}
# Keys that say the rates of pairs of ranks, which are compared by GPUs where one is dead.
OF_PAIRS = {"pair_rates", "bandwidth_bps", "hop_delay_s"}


def checks_of(parts: Parts) -> list[Check]:
    """The checks of all plans, one for each name of a check; that each plan is for its fault, and that none lacks."""
    named = {"healthy": parts.healthy, **parts.plans}
    results: dict[str, list[tuple[str, Check]]] = {}
    for name, document in named.items():
        for check in _checks_of_plan(document):
            results.setdefault(check.name, []).append((name, check))
    return [
        *(_joined(name, found) for name, found in results.items()),
        _each_for_its_fault(parts),
        _one_problem(parts),
        _every_fault(parts),
    ]


def _checks_of_plan(document: dict[str, Any]) -> list[Check]:
    try:
        return verify(Plan.from_json(json.dumps(document)))
    except InputError as error:
        return [Check("readable", False, str(error))]


def _joined(name: str, found: list[tuple[str, Check]]) -> Check:
    """One check for all plans: the first that fails, or how many pass."""
    for fault, check in found:
        if not check.passed:
            return Check(name, False, f"{fault}: {check.detail}")
    return Check(name, True, f"{counted(len(found), 'plan')}; {found[0][0]}: {found[0][1].detail}")


def _each_for_its_fault(parts: Parts) -> Check:
    """Whether every plan is made for the faults that are there in any case and its own, no others."""
    name = "own-fault"
    for fault, document in _plans(parts):
        own = (*parts.given, *([] if fault == "healthy" else [fault]))
        fabric = document.get("fabric")
        stated = fabric.get("failed", []) if isinstance(fabric, dict) else []
        if set(stated) != set(own):
            return Check(name, False, f"{fault}: the plan keeps off {', '.join(map(str, stated)) or 'nothing'}")
    return Check(name, True, f"each of {counted(len(parts.plans), 'plan')} is for the fault that it is listed under")


def _one_problem(parts: Parts) -> Check:
    """Whether collective, size and all of the fabric but its faults are those of the plan without a single fault."""
    wanted = _problem(parts.healthy)
    pairs = _rates_by_gpus(parts.healthy) if "pair_rates" in wanted else {}
    for fault, document in _plans(parts):
        found = _problem(document)
        compared = {*wanted, *found} - OF_FAULTS
        if fault.startswith("gpu:"):
            compared -= OF_RANKS | (OF_PAIRS if pairs else set())
            if pairs and not _rates_by_gpus(document).items() <= pairs.items():
                return Check(
                    "one-problem", False, f"{fault}: pairs of GPUs have other rates than without a single fault"
                )
        if key := next((key for key in sorted(compared) if wanted.get(key) != found.get(key)), None):
            return Check("one-problem", False, f"{fault}: {key} is another than in the plan without a single fault")
    return Check("one-problem", True, "collective, size and fabric are the same in all plans")


def _problem(document: dict[str, Any]) -> dict[str, Any]:
    fabric = document.get("fabric")
    told = fabric if isinstance(fabric, dict) else {}
    return {**told, "collective": document.get("collective"), "size_bytes": document.get("size_bytes")}


def _rates_by_gpus(document: dict[str, Any]) -> dict[tuple[int, int], tuple[float, float]]:
    """Bit/s and hop delay in s by two GPUs; of a plan that cannot be read none, which another check says."""
    try:
        plan = Plan.from_json(json.dumps(document))
    except InputError:
        return {}
    gpus = plan.ranks or range(plan.gpus)
    rates = plan.core.rates_by_pair or [(max(plan.rates_bps), plan.hop_delay_s)] * plan.gpus**2
    every = zip(itertools.product(gpus, gpus), rates, strict=True)
    return {pair: rate for pair, rate in every if pair[0] != pair[1]}


def _every_fault(parts: Parts) -> Check:
    """Whether every single fault of the kinds has a plan, or a reason why there is none, which is not judged."""
    given = given_faults(parts.given)
    every = Wanted(parts.kinds, given).faults(parts.gpus, parts.ports)
    listed = {*parts.plans, *parts.unserved}
    if (missed := next((fault for fault in every if fault not in listed), None)) is not None:
        return Check("every-fault", False, f"{missed} has neither a plan nor a reason why there is none")
    if other := listed.difference(every):
        return Check("every-fault", False, f"{min(other)} is no fault of {', '.join(parts.kinds)}")
    unserved = f"; {counted(len(parts.unserved), 'fault')} stated to have none, not checked" if parts.unserved else ""
    return Check("every-fault", True, f"{counted(len(every), 'fault')} of {', '.join(parts.kinds)}{unserved}")


def _plans(parts: Parts) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "healthy", parts.healthy
    yield from parts.plans.items()

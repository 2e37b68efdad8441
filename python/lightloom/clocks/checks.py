"""Checks of a timeline in continuous time, from its own numbers: every circuit, and all data, are followed."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lightloom._core import counted, show_time
from lightloom.base.errors import InputError
from lightloom.clocks.bound import lower_bound_s, pairs_of
from lightloom.clocks.content import data_fault
from lightloom.clocks.rates import rates_of
from lightloom.planning import Check, verify
from lightloom.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.clocks.parts import Parts

__all__ = ["checks_of"]

# Largest difference that counts as rounding: of times over the total time, of bytes over the bytes of a circuit.
ROUNDING = 1e-9


class Numbers(NamedTuple):
    """The fabric's numbers that a timeline keeps to: seconds, and bytes a second."""

    gpus: int
    ports: int
    startup_s: float
    hop_s: float
    rate: float
    turn_s: float


def checks_of(parts: Parts) -> list[Check]:
    """The checks of the plan, by the judge of plans, and those of the timeline; these end at the first that fails."""
    try:
        plan = Plan.from_json(json.dumps(parts.plan))
    except InputError as error:
        return [Check("plan", False, str(error))]
    checks = verify(plan)
    fabric = parts.plan["fabric"]
    numbers = Numbers(
        plan.gpus,
        plan.ports,
        plan.startup_s,
        plan.hop_delay_s,
        plan.bandwidth_bps / 8.0,
        float(fabric["reconfiguration_delay_s"]),
    )
    known: list[tuple[str, Callable[[], str | None], str]] = [
        ("switch-circuits", lambda: _circuits_fault(parts, numbers), "every switch joins each port at most once"),
        ("switch-turns", lambda: _turns_fault(parts, numbers), "every turn takes its time, in which nothing is held"),
        ("switch-start", lambda: _start_fault(parts, plan), "the switches begin as the fabric does"),
        ("lit", lambda: _lit_fault(parts, numbers), "all traffic has its circuits from a startup before it to its end"),
        ("rates", lambda: _rates_fault(parts, numbers), "no circuit carries more than its rate at any time"),
        ("data", lambda: data_fault(parts, plan, numbers.startup_s, numbers.hop_s), "all data are sent and received"),
        ("timeline-total", lambda: _total_fault(parts, plan, numbers), "the last byte is there at the total"),
        ("recomputed-bound", lambda: _bound_fault(parts, plan), "the lower bound is what it is computed to be again"),
    ]
    for name, fault, passed in known:
        found = fault()
        checks.append(Check(name, found is None, passed if found is None else found))
        if found is not None:
            break
    return checks


def _circuits_fault(parts: Parts, numbers: Numbers) -> str | None:
    if len(parts.switches) != numbers.ports:
        return f"{counted(numbers.ports, 'port')} of each GPU, but as many switches as {len(parts.switches)}"
    for k, switch in enumerate(parts.switches):
        for i, one in enumerate(switch):
            for side in (0, 1):
                ends = [circuit[side] for circuit in one.circuits]
                if len(set(ends)) != len(ends) or any(gpu >= numbers.gpus for gpu in ends):
                    return f"switch {k}, configuration {i}: a port is joined twice, or of no GPU"
            if any(u == v for u, v in one.circuits):
                return f"switch {k}, configuration {i}: a GPU is joined to itself"
    return None


def _turns_fault(parts: Parts, numbers: Numbers) -> str | None:
    slack_s = ROUNDING * parts.total_s
    for k, switch in enumerate(parts.switches):
        free_s = -numbers.turn_s
        for i, one in enumerate(switch):
            if one.end_s < one.ready_s or one.ready_s < free_s + numbers.turn_s - slack_s:
                return f"switch {k}, configuration {i}: ready at {show_time(one.ready_s)}, before its turn is over"
            free_s = one.end_s
    return None


def _start_fault(parts: Parts, plan: Plan) -> str | None:
    """A free start is any; else the first configurations are the fabric's, or dark."""
    if plan.initial == "free":
        return None
    if plan.initial == "repeated":
        return "the fabric's start is repeated, which switches on clocks of their own do not take"
    first = [switch[0] for switch in parts.switches if switch]
    if len(first) < len(parts.switches) or any(one.ready_s > 0.0 for one in first):
        return "a switch has no configuration at the beginning"
    held: defaultdict[tuple[int, int], int] = defaultdict(int)
    for one in first:
        for circuit in one.circuits:
            held[circuit] += 1
    index = parts.plan["initial_topology"]
    links = plan.topologies[index].links.tolist()
    wanted = {(src, dst): count for src, dst, count in links}
    return None if dict(held) == wanted else "the first configurations are not the topology that the fabric begins with"


def _lit_fault(parts: Parts, numbers: Numbers) -> str | None:
    slack_s = ROUNDING * parts.total_s
    ready = [[one.ready_s - slack_s for one in switch] for switch in parts.switches]
    circuits = [[set(one.circuits) for one in switch] for switch in parts.switches]
    for index, one in enumerate(parts.transmissions):
        where = f"transmission {index}"
        if not one.path:
            return f"{where} has no path"
        if any(before[2] != after[1] for before, after in zip(one.path, one.path[1:], strict=False)):
            return f"{where}: its path is not connected"
        for hop, (k, u, v) in enumerate(one.path, start=1):
            if k >= len(parts.switches):
                return f"{where}: there is no switch {k}"
            at = bisect_right(ready[k], one.start_s - numbers.startup_s) - 1
            if at < 0 or (u, v) not in circuits[k][at]:
                return f"{where}: switch {k} has no circuit from {u} to {v} a startup before it"
            if one.start_s + one.duration_s + hop * numbers.hop_s > parts.switches[k][at].end_s + slack_s:
                return f"{where}: switch {k} gives up its circuit from {u} to {v} before all is through"
    return None


def _rates_fault(parts: Parts, numbers: Numbers) -> str | None:
    """Sums the rates on each circuit between all moments at which one begins or ends."""
    on: defaultdict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for index, one in enumerate(parts.transmissions):
        if one.size_bytes > 0.0 and one.duration_s == 0.0:
            return f"transmission {index} takes no time"
        for hop, (k, u, _) in enumerate(one.path):
            begin_s = one.start_s + hop * numbers.hop_s
            rate = one.size_bytes / one.duration_s if one.duration_s else 0.0
            on[k, u] += [(begin_s, rate), (begin_s + one.duration_s, -rate)]
    most = numbers.rate * (1.0 + ROUNDING)
    for (k, u), changes in on.items():
        rate, since_s, excess = 0.0, 0.0, 0.0
        for at_s, change in sorted(changes):
            excess = max(0.0, excess + (rate - most) * (at_s - since_s)) if rate > most else 0.0
            if excess > ROUNDING * numbers.rate * max(parts.total_s, 1e-12):
                return f"switch {k}: the circuit out of GPU {u} carries more than its rate at {show_time(since_s)}"
            rate, since_s = rate + change, at_s
    return None


def _total_fault(parts: Parts, plan: Plan, numbers: Numbers) -> str | None:
    slack_s = ROUNDING * parts.total_s
    ends = [one.start_s + one.duration_s + len(one.path) * numbers.hop_s for one in parts.transmissions]
    if abs(max(ends, default=0.0) - parts.total_s) > slack_s:
        return f"the last byte is there at {show_time(max(ends, default=0.0))}, not at {show_time(parts.total_s)}"
    if parts.total_s > plan.total_s + slack_s:
        return f"{show_time(parts.total_s)} is more than the plan's {show_time(plan.total_s)}"
    return "its lower bound is above its time" if parts.lower_bound_s > parts.total_s + slack_s else None


def _bound_fault(parts: Parts, plan: Plan) -> str | None:
    """Computes the lower bound again, by the code that stated it; what it states is no more than the time."""
    again_s = min(lower_bound_s(plan, pairs_of(plan), rates_of(plan, parts.plan)), parts.total_s)
    if abs(again_s - parts.lower_bound_s) > ROUNDING * parts.total_s:
        return f"computed again, the lower bound is {show_time(again_s)}, not {show_time(parts.lower_bound_s)}"
    return None

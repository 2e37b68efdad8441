"""The circuits of a timeline on the ports of its switches, and whether circuits carry a timeline."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.inputs.optics import Optics
from lightloom.optics.port_maps import Circuits, PortLabels
from lightloom.planning import Check

if TYPE_CHECKING:
    import os

    from lightloom.clocks.parts import Parts
    from lightloom.plans import Plan

__all__ = ["circuit_checks", "circuits_of"]

# Largest part of the total time that counts as rounding.
ROUNDING = 1e-9


def circuits_of(parts: Parts, plan: Plan, optics: Optics | str | os.PathLike[str] | None) -> Circuits:
    """A configuration of all switches for each moment at which one of them begins to turn; the others keep theirs.

    A switch begins to turn as late as it may. Raises `InputError` that names `optics`, which is a switch for each port.
    """
    described = Optics.load(optics if optics is not None else "parallel")
    if described.kind != "parallel":
        raise refuse("optics", f"`{shown(described.kind)}` is not accepted for a timeline; it takes parallel")
    of_plan, _, (kind, numbering), ends = _core.circuits(
        plan.core, described.kind, list(described.names), described.switch_ports
    )
    names = [{"name": name, "ports": ports} for name, ports in of_plan.switches]
    moments = _moments(parts, float(parts.plan["fabric"]["reconfiguration_delay_s"]))
    held: list[list[list[int]]] = [[] for _ in parts.switches]
    topologies: dict[str, int] = {}
    configurations = []
    for time_s, turned in moments:
        before = list(held)
        for k, i in turned:
            held[k] = sorted([u + 1, v + 1] for u, v in parts.switches[k][i].circuits)
        settings = [
            {
                "name": name["name"],
                "connections": now,
                "connect": [one for one in now if one not in was],
                "disconnect": [one for one in was if one not in now],
            }
            for name, now, was in zip(names, held, before, strict=True)
        ]
        topology = topologies.setdefault(json.dumps(held), len(topologies))
        configurations.append({"topology": topology, "steps": [], "time_s": time_s, "switches": settings})
    told = {"schema": "lightloom.circuits/1", "switches": names, "configurations": configurations}
    core = _core.Circuits.from_json(json.dumps(told))
    return Circuits(core, labels=PortLabels(kind, numbering, tuple(map(tuple, ends))))


def _moments(parts: Parts, turn_s: float) -> list[tuple[float, list[tuple[int, int]]]]:
    """Times at which switches begin to turn, each with the switches and their new configurations.

    The first is what is there from the start. Times that differ by rounding are one.
    """
    rows = [(one.ready_s, k, i) for k, switch in enumerate(parts.switches) for i, one in enumerate(switch)]
    moments = [(0.0, [(k, i) for ready_s, k, i in rows if ready_s == 0.0])]
    for ready_s, k, i in sorted(row for row in rows if row[0] > 0.0):
        time_s = max(0.0, ready_s - turn_s)
        if len(moments) == 1 or time_s > moments[-1][0] + ROUNDING * parts.total_s:
            moments.append((time_s, []))
        moments[-1][1].append((k, i))
    return moments


def circuit_checks(circuits: Circuits, parts: Parts, plan: Plan) -> list[Check]:
    """Whether circuits carry a timeline: their changes are followed from dark switches on, ports by number.

    Each transmission has its connections, untouched, from a startup before its first byte until its last is through.
    """
    try:
        fault = _fault(circuits, parts, plan)
    except InputError as error:
        fault = str(error)
    return [Check("timeline-circuits", fault is None, fault or "all traffic has its connections, in time")]


def _fault(circuits: Circuits, parts: Parts, plan: Plan) -> str | None:
    if len(circuits.switches) != len(parts.switches):
        return f"there are circuits of as many switches as {len(circuits.switches)}, and {len(parts.switches)} in time"
    turn_s, slack_s = float(parts.plan["fabric"]["reconfiguration_delay_s"]), ROUNDING * parts.total_s
    # By switch, what it holds from which moment on: a switch is dark while it turns, the first setting is there before.
    since_s: list[list[float]] = [[] for _ in parts.switches]
    joined: list[list[set[tuple[int, int]]]] = [[] for _ in parts.switches]
    for place, configuration in enumerate(circuits.configurations):
        for k, setting in enumerate(configuration.switches):
            connect, disconnect = (
                set(map(tuple, setting.connect.tolist())),
                set(map(tuple, setting.disconnect.tolist())),
            )
            now = ((joined[k][-1] if joined[k] else set()) - disconnect) | connect
            if joined[k] and not connect and not disconnect:
                continue
            since_s[k].append(configuration.time_s + (turn_s if place else 0.0))
            joined[k].append(now)
    for index, one in enumerate(parts.transmissions):
        for hop, (k, u, v) in enumerate(one.path, start=1):
            at = bisect_right(since_s[k], one.start_s - plan.startup_s + slack_s) - 1
            where = f"transmission {index}: switch {circuits.switches[k].name}"
            if at < 0 or (u + 1, v + 1) not in joined[k][at]:
                return f"{where} does not join ingress {u + 1} to egress {v + 1} a startup before it"
            through_s = one.start_s + one.duration_s + hop * plan.hop_delay_s
            if at + 1 < len(since_s[k]) and since_s[k][at + 1] - turn_s < through_s - slack_s:
                return f"{where} turns before its bytes are through"
    return None

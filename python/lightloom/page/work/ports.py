"""What the switches join during each step of a plan, with the GPUs at their ports and the ports that are broken."""

from __future__ import annotations

import json
from bisect import bisect
from typing import TYPE_CHECKING, Any

from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.results import circuits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.optics.port_maps import Circuits, Configuration
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

SCHEMA = "lightloom.ports/1"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """The configurations of the switches of the plan that is given, or that the options ask for."""
    return Outcome(DONE, json.dumps(ports(circuits_of(asked, limits)), ensure_ascii=False).encode())


def ports(circuits: Circuits) -> dict[str, Any]:
    """The configurations of the switches, as the server tells them."""
    return {
        "schema": SCHEMA,
        "numbering": "" if circuits.labels is None else circuits.labels.numbering,
        "switches": _switches(circuits),
        "configurations": [_configuration(one) for one in circuits.configurations],
    }


def _switches(circuits: Circuits) -> list[dict[str, Any]]:
    plan, labels = circuits.plan, circuits.labels
    failed = () if plan is None else plan.failed
    # Where each port of a GPU is on a switch of its own, the switch says which port it is.
    one_each = plan is not None and len(circuits.switches) == plan.ports
    absent = sorted(int(fault.removeprefix("gpu:")) for fault in failed if fault.startswith("gpu:"))
    found = []
    for index, switch in enumerate(circuits.switches):
        ends: Sequence[str] = () if labels is None else labels.ends[index]
        owners = [_owner(end, index if one_each else 0) for end in ends]
        found.append(
            {
                "name": switch.name,
                "ports": switch.ports,
                "ends": list(ends),
                "ranks": [_rank(gpu, absent) for gpu, _ in owners],
                "failed_ingress": [port + 1 for port, owner in enumerate(owners) if _is_failed(owner, "port", failed)],
                "failed_egress": [
                    port + 1 for port, owner in enumerate(owners) if _is_failed(owner, "receiver", failed)
                ],
            }
        )
    return found


def _owner(end: str, port: int) -> tuple[int | None, int | None]:
    """The GPU at a port and the number of its own port, `port` if the label says none; None for an island."""
    gpu, _, own = end.partition(".")
    return (int(gpu), int(own) if own else port) if gpu.isdecimal() else (None, None)


def _rank(gpu: int | None, absent: Sequence[int]) -> int | None:
    """The GPU's place among those that work; None where it is none of them."""
    return None if gpu is None or gpu in absent else gpu - bisect(absent, gpu)


def _is_failed(owner: tuple[int | None, int | None], half: str, failed: Sequence[str]) -> bool:
    gpu, port = owner
    return not {f"gpu:{gpu}", f"{half}:{gpu}.{port}", f"switch:{port}"}.isdisjoint(failed)


def _configuration(one: Configuration) -> dict[str, Any]:
    return {
        "steps": list(one.steps),
        "switches": [
            {
                "connections": switch.connections.tolist(),
                "connect": switch.connect.tolist(),
                "disconnect": switch.disconnect.tolist(),
            }
            for switch in one.switches
        ],
    }

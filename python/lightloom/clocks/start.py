"""The matchings of a plan's topologies on a switch for each port, and what the switches hold before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom.optics.port_maps import circuits

if TYPE_CHECKING:
    from lightloom.clocks.rates import Matching
    from lightloom.plans import Plan

__all__ = ["OnSwitches"]


class OnSwitches(NamedTuple):
    """Matchings by switch.

    held: one after the other, by switch, the first of them what is held before the plan begins; of_step: which of them
    a step has. before: what each switch holds at first; None where the start is free.
    """

    held: tuple[tuple[Matching, ...], ...]
    of_step: tuple[int, ...]
    before: tuple[Matching, ...] | None

    @classmethod
    def of_plan(cls, plan: Plan) -> OnSwitches:
        """The assignment that `lightloom circuits --optics parallel` makes."""
        made = circuits(plan, optics="parallel").configurations
        held, of_step = [], [0] * len(plan.steps)
        for configuration in made:
            for step in configuration.steps:
                of_step[step] = configuration.index
            by_switch = []
            for switch in configuration.switches:
                receivers = [-1] * plan.gpus
                for ingress, egress in switch.connections.tolist():
                    receivers[ingress - 1] = egress - 1
                by_switch.append(tuple(receivers))
            held.append(tuple(by_switch))
        if plan.initial == "dark":
            held.insert(0, ((-1,) * plan.gpus,) * plan.ports)
            of_step = [index + 1 for index in of_step]
        return cls(tuple(held), tuple(of_step), None if plan.initial == "free" else held[0])

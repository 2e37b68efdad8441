"""The lines under a table of steps that say what their topologies are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom.plans import Plan
    from lightloom.views.tables.step_groups import AnyStep

# Topologies that are explained; more of them differ little from these.
MOST_EXPLAINED = 8


def explanation_lines(plan: Plan, steps: Iterable[AnyStep], *, every: bool = False) -> list[str]:
    """A line for each topology of the plan's steps, in the order of use: its name, and what its circuits are.

    every: however many they are.
    """
    said = plan.explanations
    used = list(dict.fromkeys((step.topology_name, said[step.topology_index]) for step in steps))
    shown = used if every else used[:MOST_EXPLAINED]
    longest = max(len(name) for name, _ in shown)
    lines = [f"{name:<{longest}}  {explanation}" for name, explanation in shown]
    more = len(used) - len(shown)
    return lines + [f"and {counted(more, 'more topology')}: --all-steps"] * bool(more)

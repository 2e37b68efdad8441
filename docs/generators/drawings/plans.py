"""Plans: the circuits of each step below its transfers, and the search over steps and topologies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from docs.generators.drawings.families import circuits
from docs.generators.drawings.schedules import steps
from docs.generators.drawings.svg import (
    COLOURS,
    FAINT,
    INK,
    Arrow,
    Panel,
    document,
    drawing,
    on_a_circle,
    on_a_grid,
    text,
)

import lightloom as ll
from lightloom import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docs.generators.drawings.svg import Place

# Pixels of the search: left of the first step, between steps and between topologies, and a state.
LEFT, ACROSS, DOWN, TOP = 150, 104, 64, 44
BOX = (68, 26)


@cache
def doubling() -> ll.Plan:
    """HARVEST's example in small: recursive doubling on one port, a change of topology at 1 µs."""
    fabric = ll.Fabric(gpus=8, reconfiguration_delay="1us")
    return ll.plan("all-reduce", "256KiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")


@cache
def composed() -> ll.Plan:
    """Phases along two coordinates, each on its own topology."""
    return ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="5us"), planner="weave")


def doubling_drawing() -> str:
    """The plan's steps on a circle."""
    return plan_drawing(doubling(), on_a_circle(8))


def composed_drawing() -> str:
    """The plan's steps on a square of GPUs."""
    return plan_drawing(composed(), on_a_grid(4, 4))


def plan_drawing(plan: ll.Plan, places: Sequence[Place]) -> str:
    """A panel for each run of steps on one topology with the same pairs."""
    panels: list[Panel] = []
    first, total_s, seen = 0, 0.0, None
    for step in plan.steps:
        arrows = tuple(Arrow(one.source, one.destination, one.operation) for one in plan.transfers(step.index))
        if seen == (step.topology_index, arrows):
            panels.pop()
            total_s += step.total_s
        else:
            first, total_s, seen = step.index, step.total_s, (step.topology_index, arrows)
        hops = f"{step.hops} hop" + "s" * (step.hops > 1)
        title, line = f"{steps(first + 1, step.index + 1)}: {step.topology_name}", f"{hops}, {_core.show_time(total_s)}"
        below = [one for one in circuits(step.topology) if (one.source, one.destination) not in _pairs(arrows)]
        changed = plan.steps[first].reconfigured
        panels.append(Panel(title, line, places, [*below, *arrows], changed))
    return drawing(panels, f"{plan!r}, step by step")


def _pairs(arrows: Sequence[Arrow]) -> set[tuple[int, int]]:
    return {(one.source, one.destination) for one in arrows}


class Search(NamedTuple):
    """Steps by topologies: the seconds of each step on each, and which of them the plan takes."""

    names: list[str]
    costs_s: list[list[float]]
    chosen: list[int]
    change_s: float


def search_of(plan: ll.Plan) -> Search:
    """Every step of a plan on every shifted ring of recursive doubling, priced by its front."""
    gpus, ports = plan.gpus, plan.ports
    names = ["ring", "shifted-ring:2", "shifted-ring:4"]
    fabric = ll.Fabric(gpus=gpus, ports=ports)
    costs = []
    for step in plan.steps:
        traffic = [(one.source, one.destination, 1.0) for one in plan.transfers(step.index)]
        sent_s = 8 * step.transfer_bytes / plan.bandwidth_bps
        row = []
        for name in names:
            front = ll.profile(name, traffic, fabric=fabric)
            paths = [plan.hop_delay_s * point.hops + sent_s * point.load for point in front]
            row.append(plan.startup_s + min(paths, default=float("inf")))
        costs.append(row)
    change_s = plan.reconfiguration_delay.scalar_s
    assert change_s is not None
    return Search(names, costs, [names.index(step.topology_name) for step in plan.steps], change_s)


def search_drawing() -> str:
    """A column for each step, a row for each topology, the path that the plan takes."""
    search = search_of(doubling())
    count, rows = len(search.chosen), len(search.names)
    body = [text((LEFT + ACROSS * step, 20), f"step {step + 1}", 12, bold=True) for step in range(count)]
    body += [text((8, TOP + DOWN * row + 17), name, 12, anchor="start") for row, name in enumerate(search.names)]
    for step in range(1, count):
        for before in range(rows):
            for after in range(rows):
                taken = (before, after) == (search.chosen[step - 1], search.chosen[step])
                if feasible(search, step - 1, before) and feasible(search, step, after):
                    body.append(_edge(step, before, after, taken=taken))
                if taken and before != after:
                    place = (LEFT + ACROSS * (step - 0.5) + 5, TOP + DOWN * (before + after) / 2 + BOX[1] / 2 + 4)
                    change = f"+ {_core.show_time(search.change_s)}"
                    body.append(text(place, change, 10, colour=COLOURS["change"], anchor="start"))
    for step in range(count):
        for row in range(rows):
            body.append(_state(search, step, row))
    width, height = LEFT + ACROSS * (count - 1) + BOX[0] / 2 + 12, TOP + DOWN * (rows - 1) + BOX[1] + 12
    return document(width, height, "Every step on every topology, and the cheapest path", body)


def feasible(search: Search, step: int, row: int) -> bool:
    """Whether the step has its paths on the topology."""
    return search.costs_s[step][row] != float("inf")


def _edge(step: int, before: int, after: int, *, taken: bool) -> str:
    start = (LEFT + ACROSS * (step - 1) + BOX[0] / 2, TOP + DOWN * before + BOX[1] / 2)
    end = (LEFT + ACROSS * step - BOX[0] / 2, TOP + DOWN * after + BOX[1] / 2)
    colour = "#DDDDDD" if not taken else COLOURS["change"] if before != after else INK
    return (
        f'<line class="{"taken" if taken else "other"}" x1="{start[0]:g}" y1="{start[1]:g}" '
        f'x2="{end[0]:g}" y2="{end[1]:g}" stroke="{colour}" stroke-width="{2.4 if taken else 1}"/>'
    )


def _state(search: Search, step: int, row: int) -> str:
    left, top = LEFT + ACROSS * step - BOX[0] / 2, TOP + DOWN * row
    taken = search.chosen[step] == row
    if not feasible(search, step, row):
        return text((left + BOX[0] / 2, top + 17), "no path", 10.5, colour=FAINT)
    return (
        f'<rect x="{left:g}" y="{top:g}" width="{BOX[0]}" height="{BOX[1]}" rx="5" '
        f'fill="{"#CFE6F5" if taken else "#ffffff"}" '
        f'stroke="{INK if taken else "#999999"}" stroke-width="{1.6 if taken else 1}"/>'
        + text((left + BOX[0] / 2, top + 17), _core.show_time(search.costs_s[step][row]), 10.5)
    )

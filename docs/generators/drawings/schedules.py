"""Every algorithm on eight GPUs: its steps, their transfers, and their shares of the buffer."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from docs.generators.drawings.svg import Arrow, Panel, drawing, on_a_circle, on_a_grid

from lightloom import InputError, Schedule, _core

GPUS = 8
# For algorithms that serve only grids.
GRID = (2, 4)


class Run(NamedTuple):
    """Steps in a row that are alike: the first and last, counted from 1, the transfers, and m_i / m."""

    first: int
    last: int
    transfers: tuple[tuple[int, int, str], ...]
    share: float


def names() -> list[str]:
    """Every algorithm, as the registry has them."""
    return [entry["name"] for entry in _core.registry()["algorithms"]]


def collective_of(name: str) -> str:
    """The collective of an algorithm that is drawn: the first that it serves."""
    entry = next(entry for entry in _core.registry()["algorithms"] if entry["name"] == name)
    return entry["collectives"].split(", ")[0]


def schedule_of(name: str) -> tuple[Schedule, bool]:
    """The algorithm's schedule for eight GPUs, and whether they are a grid."""
    collective = collective_of(name)
    try:
        return Schedule.build(name, collective, GPUS, [GPUS]), False
    except InputError:
        return Schedule.build(name, collective, GPUS, list(GRID)), True


def runs(schedule: Schedule) -> list[Run]:
    """The steps, with those in a row that are alike taken together."""
    found: list[Run] = []
    for step, share in enumerate(schedule.shares, 1):
        transfers = tuple(sorted({(source, to, kind) for source, to, kind, _ in schedule.transfers(step - 1)}))
        if found and found[-1].transfers == transfers and found[-1].share == share:
            found[-1] = found[-1]._replace(last=step)
        else:
            found.append(Run(step, step, transfers, float(share)))
    return found


def algorithm_drawing(name: str) -> str:
    """A panel for each run of steps."""
    schedule, is_grid = schedule_of(name)
    places = on_a_grid(*GRID) if is_grid else on_a_circle(GPUS)
    panels = []
    for run in runs(schedule):
        arrows = [Arrow(*transfer) for transfer in run.transfers]
        panels.append(Panel(steps(run.first, run.last), f"{part(run.share)} in each transfer", places, arrows))
    return drawing(panels, f"{name}: {collective_of(name)} on {GPUS} GPUs, step by step")


def steps(first: int, last: int) -> str:
    """Counted from 1: `step 1`, `steps 2 to 8`."""
    return f"step {first}" if first == last else f"steps {first} to {last}"


def part(share: float) -> str:
    """A share of the buffer m, as a fraction."""
    whole = Fraction(share).limit_denominator(64)
    return "m" if whole == 1 else f"{whole.numerator if whole.numerator > 1 else ''}m/{whole.denominator}"

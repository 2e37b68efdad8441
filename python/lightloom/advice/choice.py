"""The recommendation of a switch, by the times of all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightloom.advice.result import FIXED
from lightloom.advice.times import fixed_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lightloom.advice.times import MixTime
    from lightloom.inputs.catalogue import Switch

__all__ = ["NEAR", "Option", "choose", "options_at", "why_not"]

# Switches whose time is this close to the fastest, relatively, do as well.
NEAR = 0.05


@dataclass(frozen=True)
class Option:
    """Something that can be bought: a switch, or circuits that never change; its time, delay and the cost of all."""

    switch: str
    ports: int
    total_s: float
    delay_s: float
    cost: float | None


def why_not(switch: Switch, gpus: int) -> str:
    """Why a switch cannot be recommended for this many GPUs; empty where it can.

    Port k of every GPU is on switch k, so that a switch takes all GPUs or is too small.
    """
    if switch.reconfiguration_delay_s is None:
        return "its reconfiguration delay is unknown; give it in a TOML file"
    if switch.radix is not None and switch.radix < gpus:
        return f"it joins {switch.radix} GPUs, and port k of all {gpus} GPUs is on one switch"
    return ""


def options_at(
    switches: Sequence[Switch], gpus: int, ports: int, times: dict[float, MixTime], factor: float = 1.0
) -> list[Option]:
    """The options with this many ports of a GPU.

    times: of the mix by delay. factor: by which every switch's delay is multiplied.
    """
    found = []
    for one in switches:
        if one.reconfiguration_delay_s is None or why_not(one, gpus):
            continue
        delay_s = one.reconfiguration_delay_s * factor
        total_s = times[delay_s].total_s if delay_s in times else None
        if total_s is not None:
            cost = None if one.price is None else one.price * ports
            found.append(Option(one.name, ports, total_s, one.reconfiguration_delay_s, cost))
    still = fixed_s(times)
    return found if still is None else [*found, Option(FIXED, ports, still, math.inf, 0.0)]


def choose(options: Iterable[Option]) -> Option | None:
    """The recommendation: of all within `NEAR` of the fastest, the cheapest where every price is known.

    Elsewhere the one with the fewest ports, and of these the one whose technology is the slowest: circuits that never
    change, then the largest reconfiguration delay. None where there are no options.
    """
    offered = list(options)
    if not offered:
        return None
    fastest_s = min(one.total_s for one in offered)
    near = [one for one in offered if one.total_s <= fastest_s * (1 + NEAR)]
    if all(one.cost is not None for one in near):
        return min(near, key=lambda one: (one.cost or 0.0, one.ports, -one.delay_s, one.total_s))
    return min(near, key=lambda one: (one.ports, -one.delay_s, one.total_s))

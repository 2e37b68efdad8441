"""The rates of the links of a plan's topologies, each link with all of its circuits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.plans import Plan

__all__ = ["ByRate", "circuits_by_rate", "has_one_rate", "hop_delay_of", "link_rates", "slowest_circuit_bps"]

Link = tuple[int, int]
ByRate = list[list[int]]


def has_one_rate(plan: Plan) -> bool:
    """Whether all circuits of a plan have one rate."""
    return len(plan.rates_bps) == 1 and plan.pair_rates is None


def slowest_circuit_bps(plan: Plan) -> float:
    """The least rate of a circuit that the fabric can have, bit/s."""
    of_pairs = (rate_bps for rate_bps, _ in plan.core.rates_by_pair)
    return min(of_pairs, default=min(plan.rates_bps))


def circuits_by_rate(plan: Plan) -> list[ByRate | None]:
    """By topology: of each of its links the circuits by rate, the fastest first; None where all have one rate."""
    if has_one_rate(plan):
        return [None] * len(plan.topologies)
    return [topology["circuits_by_rate"] for topology in json.loads(plan.to_json())["topologies"]]


def link_rates(plan: Plan) -> list[dict[Link, float]]:
    """By topology: bit/s of each of its links, with all circuits."""
    rates_bps = sorted({*plan.rates_bps, *(rate_bps for rate_bps, _ in plan.core.rates_by_pair)}, reverse=True)
    found: list[dict[Link, float]] = []
    for topology, by_rate in zip(plan.topologies, circuits_by_rate(plan), strict=True):
        links = topology.links.tolist()
        counts = [[count] for *_, count in links] if by_rate is None else by_rate
        found.append(
            {
                (source, destination): sum(count * rate for count, rate in zip(of_link, rates_bps, strict=True))
                for (source, destination, _), of_link in zip(links, counts, strict=True)
            }
        )
    return found


def hop_delay_of(plan: Plan) -> Callable[[Link], float]:
    """The hop delay of a link, s."""
    of_pairs, gpus = plan.core.rates_by_pair, plan.gpus
    longest_s = plan.longest_hop_delay_s
    return lambda link: of_pairs[link[0] * gpus + link[1]][1] if of_pairs else longest_s

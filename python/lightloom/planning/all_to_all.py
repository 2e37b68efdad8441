"""Costs of All-to-All strategies as functions of the reconfiguration delay, without a plan for each delay."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Unpack

from lightloom import _core
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.requests import build_request

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.options import Settings

__all__ = ["StrategyCost", "shift_hops", "strategy_costs"]


class StrategyCost(NamedTuple):
    """The cost of a strategy that forwards blocks in rounds.

    At a reconfiguration delay R it takes `R·topologies + rounds_s`. topologies: the first one counted; rounds_s: of all
    rounds; busiest_s: the same if no circuit waited for another of its topology.
    """

    topologies: int
    rounds_s: float
    busiest_s: float


def strategy_costs(
    size: str | float,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    relabelled_at: Sequence[str | float] = (),
    **settings: Unpack[Settings],
) -> dict[str, list[StrategyCost]]:
    """The strategies of every planner that forwards blocks of an All-to-All in rounds, by the planner's name.

    size, fabric, settings: as for `lightloom.plan`; relabelled_at: reconfiguration delays, `"10us"` or seconds.
    For unequal blocks, the strategies that planner `reconfigure-all-to-all` may take at one of these delays have their
    ranks relabelled for the traffic, as it does; all other strategies keep the ranks as they are.

    Raises `InputError` that names the argument.
    """
    request = build_request("all-to-all", size, fabric, **settings)
    delays_s = [seconds_of("relabelled_at", delay) for delay in relabelled_at]
    found = _core.all_to_all_lines(request, delays_s)
    return {planner: [StrategyCost(*cost) for cost in costs] for planner, costs in found}


def shift_hops(gpus: int) -> list[int]:
    """Hops of all blocks of a uniform All-to-All with one port, by shifted rings: with one topology, two, and so on.

    The k-th entry is the sum over all distances of the hops that a block takes on the best k + 1 topologies in the
    order of planner `reconfigure-all-to-all`. O(gpus²). Raises `InputError` that names `gpus`; it takes at most 4096.
    """
    return _core.shift_hops(gpus)

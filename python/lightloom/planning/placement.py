"""Plans whose ranks are put on GPUs so that light takes little time from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.plans import Plan

__all__ = ["placed"]

# Plans on the orders of those before, while they are faster.
MOST_ROUNDS = 4


def placed(placement: str, found: Plan, planned: Callable[[list[int]], Plan]) -> Plan:
    """The fastest of a plan and those on other orders of its GPUs.

    placement: `"shortest"`. planned: the plan for an order, rank by rank the GPU. Raises `InputError` that names
    `placement`, also where the fabric says nothing about positions.
    """
    if text_of("placement", placement) != "shortest":
        raise refuse("placement", f"`{placement}` is not accepted; it takes shortest")
    for _ in range(MOST_ROUNDS):
        other = planned(found.core.shortest_order())
        if other.total_s >= found.total_s:
            break
        found = other
    return found

"""Times between turns of switches: what all switches hold then, and which of them go on while others turn."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom.clocks.rates import Matching

__all__ = ["Held", "Slot", "slots_of"]

# The matching of each switch, one after the other.
Held: TypeAlias = tuple[tuple["Matching", ...], ...]


class Slot(NamedTuple):
    """A time in which no switch begins or ends to turn.

    held: by switch; dark where it turns or is not used. turns: whether switches turn in it, so that it lasts as long as
    a turn; else it lasts as long as its bytes need. place: where it is in what switches hold one after the other.
    """

    held: tuple[Matching, ...]
    turns: bool
    place: int


def slots_of(held: Sequence[tuple[Matching, ...]], *, first_is_used: bool = True) -> tuple[Slot, ...]:
    """The slots of what switches hold one after the other: a switch whose matching stays goes on while others turn.

    first_is_used: whether bytes are sent before the first turn.
    """
    dark: Matching = (-1,) * len(held[0][0])
    made = [Slot(held[0], turns=False, place=0)] if first_is_used else []
    for place, (before, after) in enumerate(pairwise(held), start=1):
        stays = tuple(new if old == new else dark for old, new in zip(before, after, strict=True))
        if stays != after:
            made.append(Slot(stays, turns=True, place=place))
            made.append(Slot(after, turns=False, place=place))
    return tuple(made)

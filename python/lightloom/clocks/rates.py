"""What switches on clocks of their own take: the numbers of the fabric, and what a switch holds one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from lightloom.plans import Plan

__all__ = ["Holding", "Matching", "Rates", "rates_of"]

# The receiver of each GPU on one switch; -1 where its transmitter is dark.
Matching: TypeAlias = tuple[int, ...]
# By switch, the matchings that it holds one after the other.
Holding: TypeAlias = tuple[tuple[Matching, ...], ...]


class Rates(NamedTuple):
    """Seconds of a startup, of a hop, of a byte on a circuit, and of a turn of a switch.

    starts_dark: whether no switch has circuits at the start.
    """

    startup_s: float
    hop_s: float
    byte_s: float
    turn_s: float
    starts_dark: bool

    def overhead_s(self, matchings: int) -> float:
        """Seconds in which a switch that holds so many matchings, the first from the start on, carries nothing."""
        return max(0, matchings - 1) * self.turn_s + matchings * (self.startup_s + self.hop_s)


def rates_of(made: Plan, document: dict[str, Any]) -> Rates:
    """What startups, hops, bytes and turns take on a plan's fabric."""
    turn_s = float(document["fabric"]["reconfiguration_delay_s"])
    return Rates(made.startup_s, made.hop_delay_s, 8.0 / made.bandwidth_bps, turn_s, made.initial == "dark")

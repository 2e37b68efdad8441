"""A timeline in which every pair's bytes go straight, from what each switch holds and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.clocks.parts import Configuration, Transmission

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lightloom.clocks.lengths import Lengths
    from lightloom.clocks.rates import Holding, Rates

__all__ = ["straight"]


def straight(
    held: Holding, lengths: Lengths, sent: NDArray[np.float64], rates: Rates, *, first_is_given: bool
) -> tuple[tuple[tuple[Configuration, ...], ...], tuple[Transmission, ...]]:
    """Configurations by switch, and transmissions, of matchings that are held for these lengths.

    sent: bytes `[src][dst]`. A matching over which nothing is left to be sent is left out, but the first of a switch
    if that is given.
    """
    left = sent.copy()
    enough = 1e-9 * float(sent.max())
    switches, transmissions = [], []
    for k, (matchings, lengths_s) in enumerate(zip(held, lengths.held_s, strict=True)):
        made: list[Configuration] = []
        end_s = 0.0
        for index, (matching, held_s) in enumerate(zip(matchings, lengths_s, strict=True)):
            circuits = tuple((u, v) for u, v in enumerate(matching) if v >= 0)
            is_given = first_is_given and index == 0
            used = [(u, v) for u, v in circuits if left[u, v] > enough] if held_s > 0.0 else []
            if not used and not is_given:
                continue
            ready_s = end_s + (rates.turn_s if made else 0.0)
            end_s = ready_s
            for u, v in used:
                rest = left[u, v] - held_s / rates.byte_s
                size = left[u, v] if rest <= enough else held_s / rates.byte_s
                left[u, v] -= size
                start_s, duration_s = ready_s + rates.startup_s, float(size) * rates.byte_s
                transmissions.append(Transmission(start_s, duration_s, float(size), None, u, v, ((k, u, v),)))
                end_s = max(end_s, start_s + duration_s + rates.hop_s)
            made.append(Configuration(ready_s, end_s, circuits))
        switches.append(tuple(made))
    return tuple(switches), tuple(transmissions)

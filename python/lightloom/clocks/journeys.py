"""Over which circuits, and when, the bytes of all pairs go from slot to slot: a linear programme."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from lightloom.clocks.distances import Distances
from lightloom.exact.restricted_program import GrowingProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.clocks.rates import Rates
    from lightloom.clocks.slots import Slot

__all__ = ["Journey", "Journeys", "best_journeys"]

# Most rounds in which journeys are added; the share of the largest price by which an added journey is cheaper; the cost
# of bytes that are not sent, over the time of all bytes of the busiest GPU on one circuit.
MOST_ROUNDS, GAIN, LACKING = 80, 1e-6, 20.0
# A program of more than MANY_PAIRS pairs ends after IDLE_ROUNDS rounds that each gain less than IDLE_GAIN of the time.
MANY_PAIRS, IDLE_ROUNDS, IDLE_GAIN = 600, 2, 1e-4
NEEDED_BY = "planning of switches on clocks of their own"

# The circuits of a journey: slot, switch, transmitting and receiving GPU.
Journey: TypeAlias = tuple[tuple[int, int, int, int], ...]


class Journeys(NamedTuple):
    """The optimum on given slots.

    total_s: the time. lengths_s: by slot, how long bytes leave a GPU in it. sent: bytes by pair and journey. prices:
    `[src][dst]`, of bytes that take a second; circuit_prices: by slot `[switch, src]`, of a second of the circuit.
    """

    total_s: float
    lengths_s: tuple[float, ...]
    sent: tuple[tuple[Journey, float], ...]
    prices: NDArray[np.float64]
    circuit_prices: tuple[NDArray[np.float64], ...]


def best_journeys(slots: Sequence[Slot], sent: NDArray[np.float64], rates: Rates, hops: int) -> Journeys | None:
    """The least time in which all bytes `sent[src][dst]` go through these slots, and how; None where they cannot.

    In a slot bytes go over up to `hops` circuits at once, at an even rate; between slots they wait at any GPU. With w
    the seconds in which bytes leave in a slot and f the seconds of bytes on a journey, minimise Σ w where Σ f over the
    journeys of a pair is the seconds of its bytes, and Σ f over those through a circuit is at most w. A slot lasts
    α + w + hops·δ; where switches turn in it, w is what that leaves of a turn. Journeys are added while one is cheaper
    than its pair's price.
    """
    seconds = sent * rates.byte_s
    scale = float(seconds.sum(axis=1).max())
    pairs = [(int(u), int(v)) for u, v in np.argwhere(seconds > 0.0)]
    program = GrowingProgram(NEEDED_BY, "overlap")
    row_of = {pair: program.row(lower=float(seconds[pair]) / scale) for pair in pairs}
    setup_s = rates.startup_s + hops * rates.hop_s
    of_turn_s = max(0.0, rates.turn_s - setup_s)
    circuits: list[dict[tuple[int, int], int]] = []
    for slot in slots:
        room = of_turn_s / scale if slot.turns else 0.0
        lit = [(k, u) for k, matching in enumerate(slot.held) for u, v in enumerate(matching) if v >= 0]
        circuits.append({circuit: program.row(upper=room) for circuit in lit})
    of_slot = [0 if slot.turns else 1 for slot in slots]
    for is_open, lit_rows in zip(of_slot, circuits, strict=True):
        if is_open:
            program.variable(dict.fromkeys(lit_rows.values(), -1.0), cost=1.0)
    for row in row_of.values():
        program.variable({row: 1.0}, cost=LACKING)
    first = sum(of_slot) + len(pairs)
    known: dict[Journey, None] = {}
    idle, least = 0, np.inf
    for _ in range(MOST_ROUNDS):
        optimum, values, duals = program.solve()
        idle = idle + 1 if optimum > least * (1.0 - IDLE_GAIN) else 0
        least = optimum
        prices = np.zeros(seconds.shape)
        for pair, row in row_of.items():
            prices[pair] = max(0.0, float(duals[row]))
        circuit_prices = tuple(_by_circuit(slot, rows, duals) for slot, rows in zip(slots, circuits, strict=True))
        distances = Distances.of(slots, circuit_prices, hops)
        worth = prices - GAIN * float(prices.max())
        cheaper = [pair for pair in pairs if distances.least[pair] < worth[pair]]
        new = [journey for pair in cheaper if (journey := distances.journey(*pair)) not in known]
        if not new or (idle == IDLE_ROUNDS and len(pairs) > MANY_PAIRS):
            break
        for journey in new:
            terms = {row_of[journey[0][2], journey[-1][3]]: 1.0}
            for s, k, u, _ in journey:
                terms[circuits[s][k, u]] = terms.get(circuits[s][k, u], 0.0) + 1.0
            program.variable(terms)
        known |= dict.fromkeys(new)
    if float(values[sum(of_slot) : first].max()) > GAIN:
        return None
    lengths = iter((values[: sum(of_slot)] * scale).tolist())
    lengths_s = tuple(next(lengths) if is_open else of_turn_s for is_open in of_slot)
    as_bytes = scale / rates.byte_s
    journeys = zip(known, values[first:].tolist(), strict=False)
    taken = tuple((journey, value * as_bytes) for journey, value in journeys if value > 0.0)
    times_s = (rates.turn_s if slot.turns else setup_s + w for slot, w in zip(slots, lengths_s, strict=True))
    return Journeys(sum(times_s), lengths_s, taken, prices, circuit_prices)


def _by_circuit(slot: Slot, rows: dict[tuple[int, int], int], duals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The price of each circuit; infinite where there is none."""
    made = np.full((len(slot.held), len(slot.held[0])), np.inf)
    for circuit, row in rows.items():
        made[circuit] = max(0.0, -float(duals[row]))
    return made

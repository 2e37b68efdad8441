"""A lower bound on timelines of switches on clocks of their own: no barrier and no common turn is behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.clocks.rates import Rates
    from lightloom.plans import Plan

__all__ = ["BOUND_CLASS", "bytes_bound_s", "lower_bound_s", "pairs_bound_s", "pairs_of"]

BOUND_CLASS = "any timeline of the collective on as many switches, each on a clock of its own"


def bytes_bound_s(collective: str, size_bytes: int, gpus: int, switches: int, rates: Rates) -> float:
    """No timeline of a collective of a buffer of that size takes less: α, a hop, and the bytes of a GPU on its ports.

    Bytes of a GPU, with m the buffer and n the GPUs: m where the whole buffer has to enter or leave one of them
    (Broadcast, Reduce), 2(n - 1)·m/n in the mean of all for AllReduce, (n - 1)·m/n for the others. A start in the dark
    adds a turn.
    """
    share = {"broadcast": 1.0, "reduce": 1.0, "all-reduce": 2.0 * (gpus - 1) / gpus}.get(collective, (gpus - 1) / gpus)
    return _first_s(rates) + share * size_bytes * rates.byte_s / switches


def pairs_bound_s(sent: NDArray[np.float64], switches: int, rates: Rates) -> float:
    """No timeline carries the bytes `sent[src][dst]` in less, on this many switches with a port of each GPU.

    All ports of a GPU together have the time p·T. Every circuit takes a startup and a hop of it, every circuit of a GPU
    beyond the first of each port a turn, and bytes that do not go straight are sent twice at least. So in the sum over
    all GPUs u, with G circuits out of u, and likewise into it,

        p·n·T ≥ Σ_u min over G of [ β·(all bytes of u + those but of its G largest pairs) + G·(α + δ) + (G - p)⁺·α_r ]

    where after a start in the dark every circuit takes a turn. And of each GPU p·(T - α - δ) ≥ β·its bytes.
    """
    if not sent.any():
        return 0.0
    ports_s = max(_ports_s(sent, switches, rates), _ports_s(sent.T, switches, rates))
    busiest = float(max(sent.sum(axis=0).max(), sent.sum(axis=1).max()))
    return max(ports_s / (len(sent) * switches), _first_s(rates) + busiest * rates.byte_s / switches)


def lower_bound_s(made: Plan, sent: NDArray[np.float64] | None, rates: Rates) -> float:
    """The lower bound on timelines of a plan's collective, s; `sent`: the bytes of pairs, for an All-to-All."""
    if sent is None:
        return bytes_bound_s(made.collective, made.size_bytes, made.gpus, made.ports, rates)
    return pairs_bound_s(sent, made.ports, rates)


def pairs_of(made: Plan) -> NDArray[np.float64] | None:
    """Bytes `[src][dst]` that an All-to-All sends; None for other collectives."""
    chunks = made.chunks()
    if made.collective != "all-to-all":
        return None
    sent = np.zeros((made.gpus, made.gpus))
    np.add.at(sent, (chunks.source, chunks.destination), chunks.size_bytes)
    np.fill_diagonal(sent, 0.0)
    return sent


def _first_s(rates: Rates) -> float:
    """Seconds in which nothing arrives."""
    return rates.startup_s + rates.hop_s + (rates.turn_s if rates.starts_dark else 0.0)


def _ports_s(sent: NDArray[np.float64], switches: int, rates: Rates) -> float:
    """The least time of the ports of all GPUs together that send what the rows say."""
    total_s = 0.0
    for row in sent:
        seconds = np.sort(row[row > 0.0])[::-1] * rates.byte_s
        circuits = np.arange(1, len(seconds) + 1)
        untimed = 0 if rates.starts_dark else switches
        setup_s = circuits * (rates.startup_s + rates.hop_s) + np.maximum(0, circuits - untimed) * rates.turn_s
        if len(seconds):
            total_s += float((2.0 * seconds.sum() - seconds.cumsum() + setup_s).min())
    return total_s

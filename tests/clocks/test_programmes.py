"""Matchings, programmes and the bound of timelines, against brute force and other formulations on tiny cases."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import linprog

import lightloom as ll
from lightloom.clocks.bound import pairs_bound_s
from lightloom.clocks.journeys import best_journeys
from lightloom.clocks.lengths import best_lengths
from lightloom.clocks.lists import QUANTILES, listed
from lightloom.clocks.matchings import heaviest_matching
from lightloom.clocks.rates import Rates
from lightloom.clocks.slots import slots_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.clocks.slots import Slot

RATES = Rates(5e-7, 3e-7, 1e-11, 1e-5, starts_dark=False)


def drawn(seed: int, gpus: int, chance: float = 0.8) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    sent = rng.integers(1, 1 << 22, (gpus, gpus)) * (rng.random((gpus, gpus)) < chance)
    np.fill_diagonal(sent, 0)
    sent[0, 1] += 1 << 20
    return sent.astype(float)


def derangements(gpus: int) -> list[tuple[int, ...]]:
    return [p for p in permutations(range(gpus)) if all(u != v for u, v in enumerate(p))]


@pytest.mark.parametrize("seed", range(30))
def test_the_heaviest_matching_is_the_best_permutation(seed: int) -> None:
    weights = drawn(seed, 2 + seed % 5, 0.6)
    found = heaviest_matching(weights)
    receivers = [v for v in found if v >= 0]
    assert len(set(receivers)) == len(receivers)
    most = max(sum(weights[u, v] for u, v in enumerate(p)) for p in permutations(range(len(weights))))
    assert sum(weights[u, v] for u, v in enumerate(found) if v >= 0) == pytest.approx(most)


@pytest.mark.parametrize("seed", range(12))
def test_lengths_are_those_of_another_solver(seed: int) -> None:
    sent = drawn(seed, 3 + seed % 4)
    held = listed(sent, 1 + seed % 3, RATES, None, QUANTILES[seed % len(QUANTILES)])
    found = best_lengths(held, sent, RATES)
    assert found is not None
    columns = [(k, matching) for k, matchings in enumerate(held) for matching in matchings]
    rows, least = [], []
    for k, matchings in enumerate(held):
        rows.append([1.0] + [-1.0 if of == k else 0.0 for of, _ in columns])
        least.append(1e6 * ((len(matchings) - 1) * RATES.turn_s + len(matchings) * (RATES.startup_s + RATES.hop_s)))
    for u, v in np.argwhere(sent > 0):
        rows.append([0.0] + [float(matching[u] == v) for _, matching in columns])
        least.append(1e6 * sent[u, v] * RATES.byte_s)
    other = linprog([1.0] + [0.0] * len(columns), A_ub=-np.array(rows), b_ub=-np.array(least))
    assert found.total_s * 1e6 == pytest.approx(other.fun, rel=1e-6)


def by_arcs(slots: tuple[Slot, ...], sent: NDArray[np.float64], hops: int) -> float:
    """The least time by flows on arcs of slots, hops and GPUs, a commodity for each source; infinite if there is none.

    In each slot the bytes of a source start at layer 0 and move up to `hops` layers; all layers join at the end.
    """
    gpus = len(sent)
    arcs: list[tuple[int, int, tuple[int, int, int] | None]] = []

    def node(slot: int, layer: int, gpu: int) -> int:
        return (slot * (hops + 2) + layer) * gpus + gpu

    for s, slot in enumerate(slots):
        for layer, gpu in product(range(hops + 1), range(gpus)):
            arcs.append((node(s, layer, gpu), node(s, hops + 1, gpu), None))
        for layer, (k, matching) in product(range(hops), enumerate(slot.held)):
            arcs += [(node(s, layer, u), node(s, layer + 1, v), (s, k, u)) for u, v in enumerate(matching) if v >= 0]
        arcs += [(node(s, hops + 1, gpu), node(s + 1, 0, gpu), None) for gpu in range(gpus)]
    nodes = (len(slots) * (hops + 2) + 1) * gpus
    count = len(arcs) * gpus
    setup = RATES.startup_s + hops * RATES.hop_s
    balance = np.zeros((nodes * gpus, count + len(slots)))
    wanted = np.zeros(nodes * gpus)
    for source in range(gpus):
        for index, (begin, end, _) in enumerate(arcs):
            balance[source * nodes + begin, source * len(arcs) + index] -= 1.0
            balance[source * nodes + end, source * len(arcs) + index] += 1.0
        wanted[source * nodes + node(0, 0, source)] -= sent[source].sum() * RATES.byte_s * 1e6
        for gpu in range(gpus):
            wanted[source * nodes + node(len(slots), 0, gpu)] += sent[source, gpu] * RATES.byte_s * 1e6
    circuits = sorted({circuit for _, _, circuit in arcs if circuit is not None})
    load = np.zeros((len(circuits), count + len(slots)))
    room = np.zeros(len(circuits))
    for row, circuit in enumerate(circuits):
        for index, (_, _, of) in enumerate(arcs):
            if of == circuit:
                load[row, index : count : len(arcs)] = 1.0
        if slots[circuit[0]].turns:
            room[row] = max(0.0, RATES.turn_s - setup) * 1e6
        else:
            load[row, count + circuit[0]] = -1.0
    cost = [0.0] * count + [0.0 if slot.turns else 1.0 for slot in slots]
    found = linprog(cost, A_ub=load, b_ub=room, A_eq=balance, b_eq=wanted)
    if not found.success:
        return np.inf
    return float(found.fun * 1e-6 + sum(RATES.turn_s if slot.turns else setup for slot in slots))


@pytest.mark.parametrize("seed", range(24))
def test_journeys_are_the_flows_on_arcs_of_another_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gpus, switches, times, hops = 3 + seed % 2, 1 + seed % 2, 1 + seed % 3, 1 + seed // 2 % 2
    every = derangements(gpus)
    held = [tuple(every[rng.integers(len(every))] for _ in range(switches)) for _ in range(times)]
    if times > 1 and switches > 1:
        held[1] = (held[0][0], held[1][1])
    slots = slots_of(held)
    sent = drawn(seed, gpus)
    found, other_s = best_journeys(slots, sent, RATES, hops), by_arcs(slots, sent, hops)
    assert (found is None) == (other_s == np.inf)
    if found is not None:
        assert found.total_s == pytest.approx(other_s, rel=1e-5)


@pytest.mark.large
@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_below_every_sequence_and_timelines_come_close_to_the_best(seed: int) -> None:
    sent = drawn(seed, 3 + seed % 2)
    every = derangements(len(sent))
    best_s = np.inf
    for times in (1, 2, 3) if len(sent) == 3 else (1, 2):
        for chosen in product(every, repeat=times):
            found = best_journeys(slots_of([(matching,) for matching in chosen]), sent, RATES, 2)
            best_s = min(best_s, np.inf if found is None else found.total_s)
    assert pairs_bound_s(sent, 1, RATES) <= best_s
    fabric = ll.Fabric(
        gpus=len(sent), startup=RATES.startup_s, hop_delay=RATES.hop_s, reconfiguration_delay=RATES.turn_s
    )
    own_s = ll.timeline(matrix=sent, fabric=fabric).total_s
    assert own_s <= 1.1 * best_s


def test_the_bound_is_attained_where_every_gpu_sends_to_one() -> None:
    sent = np.zeros((4, 4))
    for u in range(4):
        sent[u, (u + 1) % 4] = 1e6
    assert pairs_bound_s(sent, 1, RATES) == pytest.approx(RATES.startup_s + RATES.hop_s + 1e6 * RATES.byte_s)
    dark_s = pairs_bound_s(sent, 1, RATES._replace(starts_dark=True))
    assert dark_s == pytest.approx(RATES.turn_s + RATES.startup_s + RATES.hop_s + 1e6 * RATES.byte_s)

"""AllGather by greedy matching at random in the time-expanded network: TACOS, written anew from its paper.

Won et al., TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed Machine Learning (MICRO 2024),
algorithm 1, for links of equal speed: in every time slot links are matched in random order, each with a random chunk
that its source has and its destination lacks and no other link brings.
"""

from __future__ import annotations

import numpy as np


def rounds_of_matching(links: list[tuple[int, int, int]], ranks: int, parts: int, seed: int) -> int:
    """Count the time slots until every rank has every chunk, `parts` chunks of every rank."""
    chance = np.random.default_rng(seed)
    chunks = ranks * parts
    own = (1 << parts) - 1
    held = [own << (rank * parts) for rank in range(ranks)]
    everything = (1 << chunks) - 1
    slots = [(src, dst) for src, dst, count in links for _ in range(count)]
    rounds = 0
    while any(has != everything for has in held):
        places = chance.integers(chunks, size=len(slots)).tolist()
        after = list(held)
        for slot, place in zip(chance.permutation(len(slots)).tolist(), places, strict=True):
            src, dst = slots[slot]
            useful = held[src] & ~after[dst]
            if useful:
                # A random bit that is set: the first after a random place, or the first of all.
                pick = (useful >> place << place) or useful
                after[dst] |= pick & -pick
        held = after
        rounds += 1
    return rounds

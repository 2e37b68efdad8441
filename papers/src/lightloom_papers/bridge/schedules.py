"""Claims of BRIDGE §3 about schedules that no figure shows: optima that coincide, mirrored AllGathers, any n."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from lightloom import plan
from lightloom_papers.bridge.changes import plan_with
from lightloom_papers.bridge.schemes import ALL_TO_ALL, GPUS, HOP_DELAY_S, KB, MB, REDUCE_SCATTER, Scheme
from lightloom_papers.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

# §4: 16 to 256 nodes, and smaller ones.
EXPONENTS = range(1, 9)
# n up to which any number of reconfigurations counts as a small network.
SMALL = 32
ODD_GPUS = (33, 48, 100)
R_HD = Scheme("R-HD", "reduce-scatter", "short-circuit", "recursive-doubling")


def schedule_claims() -> list[Claim]:
    """The claims of §2 and §3."""
    return [_optima_coincide(), _any_n(), _all_gather_costs_the_same(), *_figure_4()]


def _segments(steps: int, changes: int) -> Iterator[tuple[int, ...]]:
    """The lengths of the periods between so many reconfigurations, every way."""
    for cuts in combinations(range(1, steps), changes):
        yield tuple(end - begin for begin, end in pairwise((0, *cuts, steps)))


def _coincide(steps: int, changes: int) -> bool:
    """Whether one schedule is the best for latency, Σ 2^r, and for transmission, Σ r/2^a from step a (theorem 3.3)."""
    costs = []
    for lengths in _segments(steps, changes):
        begins = [sum(lengths[:period]) for period in range(len(lengths))]
        latency = sum(2**length for length in lengths)
        costs.append((latency, sum(length / 2**begin for length, begin in zip(lengths, begins, strict=True))))
    return (min(latency for latency, _ in costs), min(transmission for _, transmission in costs)) in costs


def _optima_coincide() -> Claim:
    where = {2**steps: [r for r in range(steps) if _coincide(steps, r)] for steps in EXPONENTS}
    small = all(
        len(found) == steps for steps, found in zip(EXPONENTS, where.values(), strict=True) if 2**steps <= SMALL
    )
    # From some number on, every larger one.
    large = {
        gpus: min(r for r in found if set(range(r, gpus.bit_length() - 1)) <= set(found))
        for gpus, found in where.items()
    }
    return Claim.fact(
        "For small networks or many reconfigurations transmission- and latency-optimal ReduceScatters coincide",
        "§3.4",
        paper="they coincide",
        ours=f"for every R up to {max(gpus for gpus, found in where.items() if len(found) == gpus.bit_length() - 1)} "
        "GPUs; " + ", ".join(f"R ≥ {r} with {gpus}" for gpus, r in large.items() if gpus > SMALL),
        rule="for every R up to 32 GPUs, and with more from some R below the number of steps less one on; by trying "
        "all schedules",
        holds=small and all(r < gpus.bit_length() - 2 for gpus, r in large.items() if gpus > SMALL),
    )


def _any_n() -> Claim:
    """Blocks of the last step of All-to-All, which is 2^(s-1) ahead."""
    sent = {}
    for gpus in ODD_GPUS:
        case = ALL_TO_ALL.case(gpus * KB, gpus, HOP_DELAY_S, 1e-5)
        made = plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
        sent[gpus] = max(step.transfer_bytes for step in made.steps if step.index == len(made.steps) - 1) / KB
    expected = {gpus: gpus - 2 ** ((gpus - 1).bit_length() - 1) for gpus in ODD_GPUS}
    return Claim.equal(
        "Where n is no power of two, the last step sends n - 2^(s-1) blocks",
        "§3.1",
        paper=", ".join(f"{blocks} of {gpus}" for gpus, blocks in expected.items()),
        ours=", ".join(f"{blocks:g} of {gpus}" for gpus, blocks in sent.items()),
    )


def _all_gather_costs_the_same() -> Claim:
    """The AllGather starts in the subring that it needs (§3.5)."""
    gather = REDUCE_SCATTER._replace(collective="all-gather", initial="free")
    apart = 0.0
    for size in (KB, MB, 64 * MB):
        for delay_s in (1e-6, 1e-5, 1e-4, 1e-3):
            cases = [scheme.case(size, GPUS, HOP_DELAY_S, delay_s) for scheme in (REDUCE_SCATTER, gather)]
            one_s, other_s = (
                plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings)).total_s for case in cases
            )
            apart = max(apart, abs(other_s / one_s - 1))
    return Claim.fact(
        "AllGather has the cost of a ReduceScatter with the reversed schedule",
        "§3.5, §4.1",
        paper="identical",
        ours=f"at most {apart:.1%} apart",
        rule="within 0.1 % at 1 KB, 1 and 64 MB and delays of 1 µs to 1 ms",
        holds=apart <= 0.001,
    )


def _figure_4() -> list[Claim]:
    """One reconfiguration with 16 GPUs: hops of each step."""
    bridge, pairs = (plan_with(1, scheme, KB, 16, HOP_DELAY_S) for scheme in (REDUCE_SCATTER, R_HD))
    return [
        Claim.equal(
            f"{name} with 16 nodes and one reconfiguration: hops of each step",
            "fig. 4, §3.2",
            paper=hops,
            ours=", ".join(str(step.hops) for step in made.steps),
        )
        for name, made, hops in (("BRIDGE", bridge, "1, 2, 1, 2"), ("R-HD", pairs, "1, 2, 4, 1"))
    ]

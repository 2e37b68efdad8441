"""How far two simulators may be apart, and its meaning."""

from __future__ import annotations

from dataclasses import dataclass

from tests.peers.cases import EXACT_S, Case
from tests.peers.packet_peer import PacketRun, run_ns3

TIE_SEEDS = range(18)


@dataclass(frozen=True)
class Verdict:
    """`agrees`, and why, or why not."""

    agrees: bool
    words: str


def tie_range_s(case: Case, run: PacketRun) -> tuple[float, float]:
    """The least and the largest time over ways to settle which of two simultaneous packets is first, by ns-3."""
    others = [
        run_ns3(case.traffic, header=case.header, injection=case.injection, ties=seed).total_s for seed in TIE_SEEDS
    ]
    return min(run.total_s, *others), max(run.total_s, *others)


def packet_verdict(case: Case, run: PacketRun, ours_s: float) -> Verdict:
    """Whether our packet simulator and ns-3 agree: to 1 ns, or within what ties leave open."""
    if abs(ours_s - run.total_s) <= EXACT_S:
        return Verdict(agrees=True, words="equal to 1 ns")
    low, high = tie_range_s(case, run)
    span = f"{(low / run.total_s - 1):+.2%} to {(high / run.total_s - 1):+.2%}"
    if low - EXACT_S <= ours_s <= high + EXACT_S:
        return Verdict(agrees=True, words=f"ties: ns-3 itself takes {span} as they are settled")
    return Verdict(agrees=False, words=f"DIFFERS; ties explain {span}")


def flow_verdict(peer_s: float, ours_s: float, tolerance: float = 1e-3) -> Verdict:
    """Whether our flow simulator and SimGrid agree, relative."""
    apart = abs(ours_s / peer_s - 1)
    words = f"equal to {tolerance:.1%}" if apart <= tolerance else "DIFFERS"
    return Verdict(agrees=apart <= tolerance, words=words)

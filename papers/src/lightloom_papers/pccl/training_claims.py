"""Claims of PCCL about figures 12 to 16, judged.

The paper does not say whether gradients are reduced during or after the backward pass. All claims about throughput are
judged with gradients reduced during it, a layer's as soon as they are there, which is what frameworks do and gives
figure 12's own number; results after it are always stated.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lightloom.views.axis_units import time_label
from lightloom_papers.claims import Claim
from lightloom_papers.pccl.iterations import AFTER, DURING, NAMES, Iterations, Place, Reductions, iterations
from lightloom_papers.pccl.schemes import IDEAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lightloom import Workload

GRIDS = ("2D grid", "3D grid")
TORI = ("2D torus", "3D torus")
TOPOLOGIES = ("ring", *TORI, *GRIDS)
# "Matches", as for figures 8 and 9.
NEAR = 0.05
RULE = f"with gradients reduced {DURING}"


class Found(NamedTuple):
    """Results at one delay (s): every AllReduce on its own, and the iterations.

    one_way: the iterations if PCCL's circuits were the start topology's after every AllReduce, at no cost.
    """

    delay_s: float
    reductions: Reductions
    iterations: Iterations
    one_way: Iterations

    @classmethod
    def of(
        cls,
        delay_s: float,
        reductions: Reductions,
        graphs: Mapping[tuple[str, int], Workload],
        computing: float = 1.0,
    ) -> Found:
        """The iterations of these AllReduces; `computing` as for `iteration_s`."""
        one_way = {
            key: {size: one._replace(back_s=0.0) for size, one in alone.items()} for key, alone in reductions.items()
        }
        return cls(
            delay_s, reductions, iterations(graphs, reductions, computing), iterations(graphs, one_way, computing)
        )


def _best_s(schemes: dict[str, float]) -> float:
    return min(schemes[name] for name in NAMES)


def _gain(schemes: dict[str, float]) -> float:
    """PCCL's throughput over the best algorithm's."""
    return _best_s(schemes) / schemes["PCCL"]


class Ratios(NamedTuple):
    """Ratios of one kind in all iterations of some topologies, by place."""

    of: dict[Place, float]

    @classmethod
    def made(cls, found: Found, topologies: Sequence[str], ratio: Callable[[str, dict[str, float]], float]) -> Ratios:
        """`ratio` of every topology and its schemes' times."""
        return cls(
            {
                place: ratio(place.topology, schemes)
                for place, schemes in found.iterations.items()
                if place.topology in topologies
            }
        )

    def when(self, when: str) -> list[float]:
        """The ratios of one assumption."""
        return [ratio for place, ratio in self.of.items() if place.when == when]

    def hold(self, is_so: Callable[[float], bool]) -> bool:
        """Whether all are so with gradients reduced during the backward pass."""
        return all(map(is_so, self.when(DURING)))

    def shown(self) -> str:
        """Both ranges."""
        ranges = {when: (min(self.when(when)), max(self.when(when))) for when in (DURING, AFTER)}
        return "; ".join(f"{low:.3f}× to {high:.3f}× {when}" for when, (low, high) in ranges.items())

    def by_topology(self, topologies: Sequence[str]) -> str:
        """The range of each topology, both assumptions."""
        parts = []
        for topology in topologies:
            ranges = [
                [ratio for place, ratio in self.of.items() if (place.when, place.topology) == (when, topology)]
                for when in (DURING, AFTER)
            ]
            (low, high), (low_after, high_after) = ((min(one), max(one)) for one in ranges)
            parts.append(f"{topology} {low:.3f}× to {high:.3f}× and {low_after:.3f}× to {high_after:.3f}×")
        return ", ".join(parts)


def _on(found: Found, topologies: Sequence[str]) -> Ratios:
    return Ratios.made(found, topologies, lambda _topology, schemes: _gain(schemes))


def claims_at_5_us(found: Found, scaled: Mapping[float, Iterations]) -> tuple[Claim, ...]:
    """Figure 12. `scaled` are the iterations with published times of computation, by these (s)."""
    grids, tori = _on(found, GRIDS), _on(found, TORI)
    suited = Ratios.made(found, TORI, lambda topology, schemes: schemes[IDEAL[topology]] / schemes["PCCL"])
    ring = Ratios.made(found, ("ring",), lambda _topology, schemes: schemes["Ring"] / schemes["PCCL"])
    swing = Ratios.made(found, tuple(IDEAL), lambda topology, schemes: schemes[IDEAL[topology]] / schemes["Swing"])
    return (
        Claim.up_to(
            "Training on grids up to 1.2× faster than with any algorithm",
            "§6, fig. 12",
            paper=1.2,
            ours=largest(found.iterations, GRIDS)[DURING][0],
            unit="×",
            why=_on_grids(found, scaled),
        ),
        Claim.near(
            "Training throughput 1.3× higher",
            "abstract, §1",
            paper=1.3,
            ours=largest(found.iterations, GRIDS)[DURING][0],
            unit="×",
            why=_on_grids(found, scaled),
        ),
        Claim.fact(
            "Training matches the algorithm that suits a torus",
            "§6, fig. 12",
            paper="matches",
            ours=f"{suited.shown()} its throughput",
            rule=f"{RULE}, at most 5 % slower on both tori with every number of GPUs",
            holds=suited.hold(lambda ratio: ratio >= 1 - NEAR),
            why=f"over the best of all algorithms {tori.shown()}",
        ),
        Claim.fact(
            "Training is faster than with Ring on the ring, by fewer hops",
            "§6, fig. 12",
            paper="outperforms",
            ours=f"{ring.shown()} its throughput",
            rule=f"{RULE}, faster with every number of GPUs",
            holds=ring.hold(lambda ratio: ratio > 1),
            why=f"over the best of all algorithms {_on(found, ('ring',)).shown()}",
        ),
        Claim.fact(
            "Training with Swing matches the algorithm that suits the ring and the tori",
            "§6, fig. 12",
            paper="similar",
            ours=f"{swing.shown()} its throughput",
            rule=f"{RULE}, at most 5 % slower on all three with every number of GPUs",
            holds=swing.hold(lambda ratio: ratio >= 1 - NEAR),
            why=f"{DURING} and after it: {swing.by_topology(tuple(IDEAL))}",
        ),
        Claim.fact(
            "Training on the grids is faster than with any algorithm, Swing included",
            "§6, fig. 12",
            paper="outperforms all",
            ours=f"{grids.shown()} the best one's throughput",
            rule=f"{RULE}, faster on both grids with every number of GPUs",
            holds=grids.hold(lambda ratio: ratio > 1),
            why=f"{DURING} and after it: {grids.by_topology(GRIDS)}",
        ),
    )


def largest(times: Iterations, topologies: Sequence[str]) -> dict[str, tuple[float, Place]]:
    """PCCL's largest gain over the best algorithm on some topologies, and where it is, by assumption."""
    gains = [(_gain(schemes), place) for place, schemes in times.items() if place.topology in topologies]
    return {when: max((gain, place) for gain, place in gains if place.when == when) for when in (DURING, AFTER)}


def _on_grids(found: Found, scaled: Mapping[float, Iterations]) -> str:
    """Where the largest gains on the grids are, next to those on the ring and with other times of computation."""

    def shown(gains: dict[str, tuple[float, Place]]) -> str:
        return "; ".join(f"{gain:.2f}× {when}" for when, (gain, _) in gains.items())

    on_grids = largest(found.iterations, GRIDS)
    places = dict.fromkeys(f"{place.gpus} GPUs on the {place.topology}" for _, place in on_grids.values())
    return (
        f"{shown(on_grids)}, at {' and '.join(places)}; on the ring up to "
        f"{shown(largest(found.iterations, ('ring',)))}. "
        "How long GPUs compute is not the paper's; on the grids during the backward pass and after it "
        + ", ".join(
            f"{' and '.join(f'{gain:.2f}×' for gain, _ in largest(several, GRIDS).values())} with the published "
            f"{time_label(time_s)}"
            for time_s, several in scaled.items()
        )
        + ". If circuits were the start topology's "
        f"again after every AllReduce at no cost, on the grids {shown(largest(found.one_way, GRIDS))}"
    )


def claims_between(found: Found, number: int) -> tuple[Claim, ...]:
    """Figures 13 to 15."""
    where = f"§6, fig. {number}"
    gains = _on(found, TOPOLOGIES)
    ahead = {when: [gains.of[Place(when, 128, topology)] for topology in ("ring", *GRIDS)] for when in (DURING, AFTER)}
    return (
        Claim.fact(
            f"At {time_label(found.delay_s)} training shows trends similar to figure 12's",
            where,
            paper="similar",
            ours=f"{gains.shown()} the best algorithm's throughput; with 128 GPUs on the ring and the grids at least "
            + "; ".join(f"{min(several):.3f}× {when}" for when, several in ahead.items()),
            rule=f"{RULE}, at most 5 % slower than the best algorithm on every topology with every number of GPUs, and "
            "faster with 128 on the ring and the grids",
            holds=min(gains.when(DURING)) >= 1 - NEAR and min(ahead[DURING]) > 1,
            why=f"{DURING} and after it: {gains.by_topology(TOPOLOGIES)}",
        ),
        _trades_off(found, where),
    )


def claims_at_500_us(by_delay: Sequence[Found]) -> tuple[Claim, ...]:
    """Figure 16, the last of `by_delay`; the first is at no delay, the others are figures 12 to 15."""
    optimum, quickest, found = by_delay[0], by_delay[1], by_delay[-1]
    counts = {one.delay_s: _counts(one) for one in (quickest, found)}
    gaps = {
        place: [one.one_way[place]["PCCL"] / schemes["PCCL"] for one in by_delay[1:]]
        for place, schemes in optimum.one_way.items()
    }
    behind = _on(found, TOPOLOGIES)
    ahead_s = max(one.delay_s for one in by_delay if max(_on(one, TOPOLOGIES).of.values()) > 1)
    return (
        Claim.fact(
            "At 500 µs PCCL reconfigures less, not in every round, and takes congestion and dilation",
            "§6, fig. 16",
            paper="fewer reconfigurations",
            ours="; ".join(
                f"{min(several)} to {max(several)} an AllReduce at {time_label(delay_s)}"
                for delay_s, several in counts.items()
            ),
            rule="fewer from every start topology, with every number of GPUs and buffer",
            holds=all(
                fewer < more for fewer, more in zip(counts[found.delay_s], counts[quickest.delay_s], strict=True)
            ),
        ),
        Claim.fact(
            "PCCL matches or outperforms the best algorithm on every topology despite reconfiguration delays",
            "§1; at 500 µs",
            paper="on every topology",
            ours=f"{behind.shown()} its throughput",
            rule=f"{RULE}, at most 5 % slower on every topology with every number of GPUs",
            holds=behind.hold(lambda gain: gain >= 1 - NEAR),
            why=f"{DURING} and after it: {behind.by_topology(TOPOLOGIES)}. The halving/doubling that it is given suits "
            "no start topology, and other topologies cost more than they save. Among the figures' delays "
            f"{time_label(ahead_s)} is the longest at which it is ahead anywhere",
        ),
        Claim.fact(
            "The gap to the best that is possible grows with the delay",
            "appendix A, fig. 13-16",
            paper="grows",
            ours="with 128 GPUs from the ring "
            + "; ".join(
                ", ".join(
                    f"{gap:.2f}× at {time_label(one.delay_s)}"
                    for gap, one in zip(gaps[Place(when, 128, "ring")], by_delay[1:], strict=True)
                )
                + f" {when}"
                for when in (DURING, AFTER)
            ),
            rule="an iteration's time over that at no delay does not fall as the delay rises, and is above 1 at the "
            "longest, everywhere",
            holds=all(
                all(later >= earlier - 1e-9 for earlier, later in pairwise(gap)) and gap[-1] > 1
                for gap in gaps.values()
            ),
            why="as the paper's program counts, without the way back to the start topology",
        ),
        _trades_off(found, "appendix A, fig. 16"),
    )


def _counts(found: Found) -> list[int]:
    """Reconfigurations of PCCL's AllReduces."""
    return [
        one.reconfigurations
        for (_, _, name), alone in found.reductions.items()
        if name == "PCCL"
        for one in alone.values()
    ]


def _trades_off(found: Found, where: str) -> Claim:
    """PCCL compared with the same steps on the start topology."""
    pairs = [
        (one, found.reductions[gpus, topology, "RHD"][size].time_s)
        for (gpus, topology, name), alone in found.reductions.items()
        if name == "PCCL"
        for size, one in alone.items()
    ]
    ratios = [one.time_s / fixed_s for one, fixed_s in pairs]
    there_and_back = max((one.time_s + one.back_s) / fixed_s for one, fixed_s in pairs)
    return Claim.fact(
        f"At {time_label(found.delay_s)} PCCL takes congestion and dilation instead of reconfigurations where that is "
        "faster",
        where,
        paper="whenever faster",
        ours=f"{min(ratios):.2f} to {max(ratios):.2f} of the time on the start topology, with "
        f"{min(_counts(found))} to {max(_counts(found))} reconfigurations",
        rule="no AllReduce slower than without reconfigurations",
        holds=max(ratios) <= 1 + 1e-9,
        why=f"with the way back, which PCCL's program does not count, up to {there_and_back:.2f} of it",
    )

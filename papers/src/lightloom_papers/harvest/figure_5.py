"""HARVEST, figure 5: 64 GPUs, one-dimensional topologies, over the static ring, over BvN schedules, over both."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lightloom.views.axis_units import size_label, time_label
from lightloom_papers.claims import Claim
from lightloom_papers.figure import MODEL, PACKET, Figure, Outcome, Setting
from lightloom_papers.harvest.speed_ups import (
    ALL_TO_ALL,
    FASTER,
    RECURSIVE_DOUBLING,
    SWING,
    SpeedUps,
    Workload,
    draw_maps,
    measure_speed_ups,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    ClaimsOf = Callable[[Setting, Workload, SpeedUps, str], list[Claim]]

KB, MB = 1 << 10, 1 << 20
ENGINES = (MODEL, PACKET)
# The largest hop delay that the paper's numbers could mean: startup and hop delay paid at every hop.
DEARER_HOP, SHOWN = "1us", "1 µs"
SMALL = tuple(KB * 4**power for power in range(5))
NOTES = (
    "64 GPUs, 800 Gbit/s a port, startup and hop delay 500 ns, 1 KiB to 1 GiB, 10 ns to 10 ms, the first topology "
    "free (§6.1). Recursive doubling and direct All-to-All have one port and a one-way ring as static topology, Swing "
    "two ports and a two-way ring. HARVEST chooses from all candidate families. The paper simulated packets in "
    "Astra-Sim; the `model` engine adds the terms of eq. 4, the `packet` engine simulates the packets of these plans."
)


def _small_over_static(paper: float) -> ClaimsOf:
    def claims(setting: Setting, workload: Workload, found: SpeedUps, where: str) -> list[Claim]:
        mean = _mean_over_static(found)
        # Only the cells that the mean is over.
        dearer = measure_speed_ups(setting, workload.with_hop_delay(DEARER_HOP), SMALL, ("10ns", "100ns"))
        largest = found.over_static[found.part(0, 1e-7)].max()
        of_dearer = _mean_over_static(dearer)
        between = ", and the paper's number lies between" if mean < paper < of_dearer else ""
        return [
            Claim.near(
                f"{workload.name} is {paper:g}× faster than on the static ring for 1-256 KB below 1 µs",
                f"fig. {where}, §6.2",
                paper=paper,
                ours=mean,
                unit="×",
                why=f"Mean over sizes at 10 and 100 ns; the largest is {largest:.2f}×. The gain is hop delay. Where a "
                f"hop costs {SHOWN} (startup and hop delay of §6.1 together) and not 500 ns, the mean is "
                f"{of_dearer:.2f}×{between}.",
            )
        ]

    return claims


def _mean_over_static(found: SpeedUps) -> float:
    return float(found.over_static[found.part(0, 1e-7)].mean())


def _large_over_static(paper: float) -> ClaimsOf:
    def claims(_setting: Setting, workload: Workload, found: SpeedUps, where: str) -> list[Claim]:
        ours = float(found.over_static[found.at(1e-5, 1 << 30)])
        lone = float(found.over_static[found.at(1e-2, KB)])
        kept = int(found.reconfigurations[found.at(1e-2, KB)])
        small = found.over_static[:, 0]
        falling = bool(np.all(np.diff(small) <= 1e-9)) and kept == 0
        longest = float(found.over_static[found.at(1e-3, 1 << 30)])
        return [
            Claim.up_to(
                f"up to {paper:g}× over the static ring for 1 GB at 10 µs ({workload.name})",
                f"fig. {where}, §6.2",
                paper=paper,
                ours=ours,
                unit="×",
                why="The loads' ratio alone decides there: transmission outweighs startup, hops and reconfigurations.",
            ),
            Claim.fact(
                "for small buffers the gain falls as the delay rises, down to a static schedule",
                f"fig. {where}, §6.2",
                paper="falls back to static schedules",
                ours=f"1 KiB: {small[0]:.2f}× at 10 ns to {lone:.2f}× at 10 ms with {kept} reconfigurations",
                rule="never rises with the delay, no reconfiguration at 10 ms",
                holds=falling,
                why=""
                if lone < FASTER
                else f"The gain at 10 ms, {lone:.2f}×, is another static topology that is better than the ring.",
            ),
            Claim.at_least_ours(
                "for large buffers the gain persists at higher delays",
                f"fig. {where}, §6.2",
                least=1.5,
                ours=longest,
                unit="×",
                why="1 GiB at 1 ms; the paper names no number, 1.5 is ours.",
            ),
        ]

    return claims


def _by_packets(setting: Setting, workload: Workload, found: SpeedUps) -> str:
    """The ratio of packets' times to the model's for 4 MB at 100 µs; empty if times are the model's."""
    if setting.engine == MODEL:
        return ""
    cases = [workload.case(planner, 4 * MB, "100us") for planner in ("harvest", "bvn")]
    at = found.at(1e-4, 4 * MB)
    packets = float(found.harvest_s[at]), float(found.bvn_s[at])
    of_harvest, of_bvn = (took / one.total_s for took, one in zip(packets, Setting().measure(cases), strict=True))
    return (
        f" By packets HARVEST's plan takes {of_harvest:.2f} of the model's time, since the delays of its hops overlap "
        f"with queueing, and the BvN schedule of one hop a step {of_bvn:.2f}."
    )


def _over_bvn(mean: float, largest: float | None) -> ClaimsOf:
    def claims(setting: Setting, workload: Workload, found: SpeedUps, where: str) -> list[Claim]:
        ours = float(found.over_bvn[found.part(1e-4, 1e-4)].mean())
        dearer = measure_speed_ups(setting, workload.with_hop_delay(DEARER_HOP), (*SMALL, 4 * MB), ("10us", "100us"))
        of_dearer = float(dearer.over_bvn[dearer.part(1e-4, 1e-4)].mean())
        made = [
            Claim.near(
                f"on average {mean:g}× over BvN schedules for 1-256 KB at 100 µs ({workload.name})",
                f"fig. {where}, §6.2",
                paper=mean,
                ours=ours,
                unit="×",
                why="A BvN schedule pays for reconfigurations alone there and HARVEST for hops, so the ratio falls "
                f"as hops get dearer: it is {of_dearer:.2f}× where a hop costs {SHOWN} (startup and hop "
                "delay of §6.1 together) and not 500 ns.",
            )
        ]
        if largest is not None:
            four = [float(found.over_bvn[found.at(delay_s, 4 * MB)]) for delay_s in (1e-5, 1e-4)]
            of_four = float(dearer.over_bvn[dearer.at(1e-4, 4 * MB)])
            made.append(
                Claim.up_to(
                    f"up to {largest:g}× over BvN schedules for 4 MB at 10 to 100 µs ({workload.name})",
                    f"fig. {where}, §6.2",
                    paper=largest,
                    ours=max(four),
                    unit="×",
                    why=f"{four[0]:.2f}× at 10 µs, {four[1]:.2f}× at 100 µs; {of_four:.2f}× at 100 µs where a "
                    f"hop costs {SHOWN}." + _by_packets(setting, workload, found),
                )
            )
        row = found.at(1e-4, KB)[0]
        ratios, changes = found.over_bvn[row], found.reconfigurations[row]
        made.append(
            Claim.fact(
                "as buffers grow, HARVEST adapts towards BvN schedules",
                f"fig. {where}, §6.2",
                paper="adapts toward BvN-like schedules",
                ours=f"reconfigurations at 100 µs, by size: {', '.join(map(str, changes.tolist()))}; "
                f"{ratios[0]:.1f}× at 1 KiB, {ratios[-1]:.2f}× at 1 GiB",
                rule="reconfigurations never fall with the size; within 5 % of BvN at 1 GiB",
                holds=bool(np.all(np.diff(changes) >= 0)) and bool(ratios[-1] < 1.05),
                why=_not_like_bvn(ratios) if ratios[-1] >= 1.05 or np.any(np.diff(changes) < 0) else "",
            )
        )
        return made

    return claims


def _not_like_bvn(ratios: NDArray[np.float64]) -> str:
    return f"Ratios by size: {', '.join(f'{ratio:.2f}' for ratio in ratios)}."


def _over_best(to_16_mb: bool) -> ClaimsOf:
    def claims(setting: Setting, workload: Workload, found: SpeedUps, where: str) -> list[Claim]:
        best = found.over_best
        peak = np.unravel_index(int(best.argmax()), best.shape)
        sizes = [int(found.sizes[row.argmax()]) for row in best if row.max() > FASTER]
        made = [
            Claim.up_to(
                f"up to about 2× faster than both ({workload.name})",
                f"fig. {where}, §1",
                paper=2.0,
                ours=float(best.max()),
                unit="×",
                why=f"At {size_label(found.sizes[peak[1]])} and {time_label(found.delays_s[peak[0]])}, of a grid with "
                "powers of 4 and of 10; the paper says ≈ 2×.",
            ),
            Claim.fact(
                "neither static nor reconfiguring at every step is best in a band that moves to larger buffers as the "
                "delay rises",
                f"fig. {where}, §6.2",
                paper="a diagonal band",
                ours="sizes of the largest gain, delay by delay: " + ", ".join(map(size_label, sizes)),
                rule=f"gains above {FASTER} at three delays or more, their sizes never falling",
                holds=len(sizes) >= 3 and sizes == sorted(sizes),
                why="" if sizes == sorted(sizes) and len(sizes) >= 3 else "The gains are in the table.",
            ),
            Claim.fact(
                "HARVEST is never slower than static or BvN schedules",
                f"fig. {where}, §6.2",
                paper="consistently outperforms",
                ours=f"least ratio {best.min():.4f}",
                rule="every ratio at least 1",
                holds=bool(best.min() >= 1 - 1e-9),
                why="" if best.min() >= 1 - 1e-9 else _slower(setting, workload, found),
            ),
        ]
        if to_16_mb:
            inside = best[found.part(1e-5, 1e-4, 16 * MB)]
            beyond = best[found.at(1e-5, 64 * MB)], best[found.at(1e-4, 64 * MB)]
            made.append(
                Claim.fact(
                    "better than both up to 16 MB for delays of 10 to 100 µs",
                    f"fig. {where}, §6.2",
                    paper="up to 16 MB",
                    ours=f"least gain up to 16 MiB {inside.min():.2f}×",
                    rule=f"every gain up to 16 MiB above {FASTER}",
                    holds=bool(inside.min() > FASTER),
                    why=f"At 64 MiB {beyond[0]:.2f}× at 10 µs and {beyond[1]:.2f}× at 100 µs.",
                )
            )
        return made

    return claims


def _slower(setting: Setting, workload: Workload, found: SpeedUps) -> str:
    row, column = np.unravel_index(int(found.over_best.argmin()), found.over_best.shape)
    size, delay_s = int(found.sizes[column]), float(found.delays_s[row])
    informed = setting.measure([workload.case("harvest", size, delay_s, overlap="pipelined")])[0].total_s
    best_s = min(float(found.static_s[row, column]), float(found.bvn_s[row, column]))
    return (
        "HARVEST chooses by the additive model, and packets overlap hops with queueing. At "
        f"{size_label(found.sizes[column])} and {time_label(found.delays_s[row])} its plan takes "
        f"{1 / found.over_best[row, column]:.3f} times as long as the better of the two; the plan that it chooses "
        f"by what packets take (`--overlap pipelined`) takes {informed / best_s:.3f} times as long."
    )


def _make(workload: Workload, over: str, letter: str, claims_of: tuple[ClaimsOf, ...], setting: Setting) -> Outcome:
    found = measure_speed_ups(setting, workload)
    claims = [claim for of in claims_of for claim in of(setting, workload, found, f"5{letter}")]
    return Outcome(
        found.table(workload=workload.name),
        lambda picture: draw_maps(picture, [(workload.name, found)], [over]),
        tuple(claims),
        NOTES + ("" if setting.engine == MODEL else _against_the_model(workload, found)),
    )


def _against_the_model(workload: Workload, packets: SpeedUps) -> str:
    model = measure_speed_ups(Setting(), workload)
    ratios = {
        "HARVEST": packets.harvest_s / model.harvest_s,
        "static": packets.static_s / model.static_s,
        "BvN": packets.bvn_s / model.bvn_s,
    }
    ranges = "; ".join(f"{name} {cells.min():.3f} to {cells.max():.3f}" for name, cells in ratios.items())
    return f" Times of packets over the model's: {ranges}."


def _panel(letter: str, workload: Workload, over: str, title: str, *claims_of: ClaimsOf) -> Figure:
    return Figure(
        f"harvest-5{letter}",
        f"{workload.name}: HARVEST {title}",
        f"HARVEST, figure 5{letter}, §6.2",
        partial(_make, workload, over, letter, claims_of),
        ENGINES,
    )


STATIC, BVN, BOTH = "over the static ring", "over reconfiguring at every step", "over the better of both"
FIGURE_5 = (
    _panel("a", RECURSIVE_DOUBLING, "over_static", STATIC, _small_over_static(6.4), _large_over_static(3.0)),
    _panel("b", SWING, "over_static", STATIC, _small_over_static(4.7), _large_over_static(3.1)),
    _panel("c", ALL_TO_ALL, "over_static", STATIC, _small_over_static(20.0), _large_over_static(30.0)),
    _panel("d", ALL_TO_ALL, "over_best", BOTH, _over_best(to_16_mb=True)),
    _panel("e", RECURSIVE_DOUBLING, "over_bvn", BVN, _over_bvn(7.3, 3.0)),
    _panel("f", SWING, "over_bvn", BVN, _over_bvn(10.0, None)),
    _panel("g", ALL_TO_ALL, "over_bvn", BVN, _over_bvn(5.3, 4.8)),
    _panel("h", RECURSIVE_DOUBLING, "over_best", BOTH, _over_best(to_16_mb=False)),
)

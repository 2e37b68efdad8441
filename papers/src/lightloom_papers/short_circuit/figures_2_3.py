"""Figures 2 and 3: speed-up over Ring and the best threshold, over the delays of reconfiguration and of a hop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.views.axis_units import size_label
from lightloom.views.charts import colour_bar, heat_map
from lightloom_papers.claims import Claim
from lightloom_papers.figure import MODEL, PACKET, Figure, Outcome
from lightloom_papers.short_circuit.completion import (
    best_threshold,
    equation_3,
    equation_4,
    on_ring,
    short_circuit,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

GPUS, STEPS = 32, 5
SIZES = (32, 4_000_000, 32_000_000)
HOPS_S = (100e-9, 250e-9, 500e-9, 1e-6, 2e-6)
DELAYS_S = (10e-9, 50e-9, 100e-9, 500e-9, 1e-6, 2e-6, 5e-6, 10e-6)
NOTES = (
    "ReduceScatter, 32 GPUs, 800 Gbit/s, no startup, a one-way ring at first. T is the step from which every step "
    "has its own circuits: 1 is always, 5 never. The values of the paper's axes and its speed-ups are not in the text "
    "at hand; the axes here span what it names, and the speed-ups that are judged are those of its equations 3 and 4."
)


class Maps(NamedTuple):
    """By size, hop delay and reconfiguration delay: seconds of the strategy and of Ring, and the best thresholds.

    thresholds: of the plan, 5 less its reconfigurations, where that is recursive doubling; of eq. 4 where Ring is
    better. differing: plans whose threshold is not that of eq. 4.
    """

    sizes: tuple[int, ...]
    strategy_s: NDArray[np.float64]
    ring_s: NDArray[np.float64]
    thresholds: NDArray[np.int64]
    planned: int
    differing: int

    @property
    def percent(self) -> NDArray[np.float64]:
        """Speed-up over Ring, %."""
        percent: NDArray[np.float64] = (self.ring_s / self.strategy_s - 1) * 100
        return percent


def maps(sizes: tuple[int, ...], setting: Setting) -> Maps:
    """Measured times, and thresholds."""
    shape = len(sizes), len(HOPS_S), len(DELAYS_S)
    points = [(size, hop_s, delay_s) for size in sizes for hop_s in HOPS_S for delay_s in DELAYS_S]
    strategies = setting.measure([short_circuit(GPUS, *point) for point in points])
    rings = setting.measure([on_ring("ring", GPUS, size, hop_s) for size in sizes for hop_s in HOPS_S])
    by_equation = [best_threshold(GPUS, *point) for point in points]
    thresholds = [
        STEPS - plan.reconfigurations if plan.algorithm == "recursive-doubling" else threshold
        for plan, threshold in zip(strategies, by_equation, strict=True)
    ]
    return Maps(
        sizes,
        np.array([plan.total_s for plan in strategies]).reshape(shape),
        np.broadcast_to(np.array([plan.total_s for plan in rings]).reshape(*shape[:2], 1), shape),
        np.array(thresholds).reshape(shape),
        sum(plan.algorithm == "recursive-doubling" for plan in strategies),
        sum(one != other for one, other in zip(thresholds, by_equation, strict=True)),
    )


def _table(found: Maps) -> dict[str, Sequence[object]]:
    sizes, hops, delays = np.meshgrid(found.sizes, HOPS_S, DELAYS_S, indexing="ij")
    columns = {
        "size_bytes": sizes,
        "hop_delay_s": hops,
        "reconfiguration_delay_s": delays,
        "threshold": found.thresholds,
        "short_circuit_s": found.strategy_s,
        "ring_s": found.ring_s,
        "speed_up_percent": found.percent,
    }
    return {name: values.ravel().tolist() for name, values in columns.items()}


def make_2(setting: Setting) -> Outcome:
    """Speed-up over Ring for three sizes, with the best threshold."""
    found = maps(SIZES, setting)

    def draw(picture: Picture) -> None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import PowerNorm

        picture.set_size_inches(12, 3.8)
        panels = picture.subplots(1, len(SIZES), sharey=True)
        # Small speed-ups are told apart, too.
        norm = PowerNorm(0.4, 0, float(found.percent.max()))
        for axes, size, percent, thresholds in zip(panels, SIZES, found.percent, found.thresholds, strict=True):
            labels = np.array([[f"T = {threshold}" for threshold in row] for row in thresholds])
            mesh = heat_map(axes, DELAYS_S, HOPS_S, percent, x_kind="time", norm=norm, regions=labels, numbers=".0f")
            axes.set(title=size_label(size), xlabel="reconfiguration delay")
        panels[0].set_ylabel("delay of a hop")
        every = ScalarMappable(norm, mesh.cmap)
        every.set_array(found.percent.ravel())
        colour_bar(picture, every, panels, "speed-up over Ring", "percent")

    return Outcome(_table(found), draw, _claims_2(found), NOTES + " Numbers in the cells are speed-ups in per cent.")


def _claims_2(found: Maps) -> tuple[Claim, ...]:
    percent = found.percent
    expected = np.array(
        [
            [
                [
                    equation_3(GPUS, size, hop_s)
                    / min(
                        equation_3(GPUS, size, hop_s), *(equation_4(GPUS, size, hop_s, delay_s, t) for t in range(1, 6))
                    )
                    for delay_s in DELAYS_S
                ]
                for hop_s in HOPS_S
            ]
            for size in SIZES
        ]
    )
    apart = float(np.abs((percent / 100 + 1) / expected - 1).max())
    large = found.thresholds[1:]
    at = HOPS_S.index(1e-6)
    slowest, at_slowest = float(percent[0, at, 0]), float(percent[-1, at, 0])
    least = float(percent.min())
    highest = np.unravel_index(int(percent[0].argmax()), percent[0].shape)
    shifts = bool(np.all(np.diff(found.thresholds, axis=0) <= 0))
    shrinks = bool(np.all(np.diff(percent, axis=0) <= 1e-9))
    even_s = [equation_4(GPUS, 4_000_000, hop_s, DELAYS_S[-1], 1) for hop_s in HOPS_S]
    static_s = [equation_4(GPUS, 4_000_000, hop_s, DELAYS_S[-1], 5) for hop_s in HOPS_S]
    return (
        Claim.fact(
            "from 4 MB on every step is best reconfigured, for all delays",
            "fig. 2, §4",
            paper="T = 1",
            ours=f"T = {large.min()} to {large.max()}",
            rule="T = 1 in every cell of 4 and 32 MB",
            holds=bool(np.all(large == 1)),
        ),
        Claim.fact(
            "even reconfiguration delays at every step, up to the largest, leave that the fastest recursive doubling",
            "fig. 2, §4",
            paper="the lowest completion time",
            ours=f"4 MB, 10 µs: {min(static / even for static, even in zip(static_s, even_s, strict=True)):.2f}× the "
            "time on the static ring is saved at least",
            rule="over 1× for every hop delay",
            holds=all(static > even for static, even in zip(static_s, even_s, strict=True)),
        ),
        Claim.at_least(
            "the speed-up is never below 0 %",
            "fig. 2, §4",
            paper=0,
            ours=least,
            unit="%",
            why=f"the least of all cells is {least:.3g} %, where the strategy is Ring itself",
        ),
        Claim.fact(
            "thresholds fall as messages grow",
            "fig. 2, §4",
            paper="lower values",
            ours=", ".join(
                f"{size_label(size)}: mean T {of.mean():.2f}" for size, of in zip(SIZES, found.thresholds, strict=True)
            ),
            rule="in no cell higher for a larger size",
            holds=shifts,
        ),
        Claim.fact(
            "and yet speed-ups shrink as messages grow",
            "fig. 2, §4",
            paper="large at 32 B, small at 32 MB",
            ours=f"at 1 µs a hop and 10 ns: {slowest:.0f} % at 32 B, {at_slowest:.0f} % at 32 MB",
            rule="in no cell higher for a larger size",
            holds=shrinks,
            why=f"largest of all cells: {percent[0].max():.0f} % at 32 B, {percent[-1].max():.0f} % at 32 MB",
        ),
        Claim.fact(
            "the largest speed-up at 32 B is at the least reconfiguration delay and the largest hop delay",
            "fig. 2, §4",
            paper="latency-bound scenarios",
            ours=f"{percent[0].max():.0f} % at {DELAYS_S[highest[1]] * 1e9:.0f} ns and {HOPS_S[highest[0]] * 1e6:g} µs",
            rule="in that corner",
            holds=(int(highest[0]), int(highest[1])) == (len(HOPS_S) - 1, 0),
        ),
        Claim.fact(
            "times follow equations 3 and 4",
            "§3, eq. 3, 4",
            paper="the equations",
            ours=f"speed-ups at most {apart:.2%} apart",
            rule="within 2 %",
            holds=apart <= 0.02,
            why=f"{found.planned} of {percent.size} plans are recursive doubling, the others Ring; {found.differing} "
            "have another threshold than eq. 4",
        ),
        Claim.not_judged(
            "the largest speed-ups at 32 B and 32 MB in numbers",
            "fig. 2, §4",
            paper="numbers that the text at hand has lost",
            why=f"ours are {percent[0].max():.0f} % and {percent[-1].max():.0f} % at 2 µs a hop, {slowest:.0f} % and "
            f"{at_slowest:.0f} % at 1 µs a hop, both at 10 ns",
        ),
    )


def make_3(setting: Setting) -> Outcome:
    """The best threshold for 32 B."""
    found = maps(SIZES[:1], setting)
    thresholds = found.thresholds[0]

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6.4, 3.8)
        axes = picture.subplots()
        mesh = heat_map(axes, DELAYS_S, HOPS_S, thresholds, x_kind="time", cell_kind="count")
        axes.set(xlabel="reconfiguration delay", ylabel="delay of a hop", title="best threshold T, 32 B")
        colour_bar(picture, mesh, axes, "T", "count")

    return Outcome(_table(found), draw, _claims_3(thresholds), NOTES)


def _claims_3(thresholds: NDArray[np.int64]) -> tuple[Claim, ...]:
    at_1_us = thresholds[HOPS_S.index(1e-6)].tolist()
    zero_s, one_s = (equation_4(GPUS, 32, 1e-6, 1e-6, threshold) for threshold in (0, 1))
    return (
        Claim.fact(
            "smaller thresholds as reconfiguration gets faster",
            "fig. 3, §4",
            paper="smaller",
            ours="T at 1 µs a hop, from 10 ns to 10 µs: " + ", ".join(map(str, at_1_us)),
            rule="never falls from one delay to the next, for each hop delay, and rises for some",
            holds=bool(np.all(np.diff(thresholds, axis=1) >= 0)) and bool(np.any(np.diff(thresholds, axis=1) > 0)),
        ),
        Claim.fact(
            "smaller thresholds as hops get slower",
            "fig. 3, §4",
            paper="smaller",
            ours="T at 10 µs, from 100 ns to 2 µs a hop: " + ", ".join(map(str, thresholds[:, -1])),
            rule="never rises from one hop delay to the next, for each delay, and falls for some",
            holds=bool(np.all(np.diff(thresholds, axis=0) <= 0)) and bool(np.any(np.diff(thresholds, axis=0) < 0)),
        ),
        Claim.fact(
            "early thresholds where reconfiguration is fast or hops are slow",
            "fig. 3, §4",
            paper="early thresholds",
            ours=f"10 ns: T = {thresholds[:, 0].max()} at most; 2 µs a hop: T = {thresholds[-1].max()} at most",
            rule="T = 1 at 10 ns for every hop delay, at most 3 at 2 µs a hop",
            holds=int(thresholds[:, 0].max()) == 1 and int(thresholds[-1].max()) <= 3,
        ),
        Claim.equal(
            "T = 0 only adds a reconfiguration before the first step",
            "§4",
            paper="1 reconfiguration",
            ours=f"{(zero_s - one_s) / 1e-6:.0f} reconfiguration",
        ),
    )


FIGURES = tuple(
    Figure(f"short-circuit-{number}", title, f"Short-circuiting rings, fig. {number}, §4", make, (MODEL, PACKET))
    for number, title, make in (
        (2, "speed-up over Ring and best threshold", make_2),
        (3, "best threshold of 32 B", make_3),
    )
)

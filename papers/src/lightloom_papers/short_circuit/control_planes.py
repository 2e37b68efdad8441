"""§5 of Short-circuiting rings: what a change of circuits takes with each control plane, for any number of GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lightloom import Fabric, plan
from lightloom.views.axis_units import time_label
from lightloom.views.charts import lines
from lightloom_papers.claims import Claim
from lightloom_papers.figure import Figure, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.figure import Setting

GPUS, SIZE, HOP_S = 32, 32, 1e-6
NUMBERS = (4, 6, 8, 12, 16, 24, 32, 33, 48, 64)
# Every number of GPUs of which Ring is to be no faster.
ALL_NUMBERS = range(2, 65)
# A change and, with the last, a barrier of all GPUs in memory before each step, as HARVEST measured it (figure 12).
OPTICAL, SWITCH, MEMORY = "optical control plane", "switch alone", "flags in memory, then the switch"
DELAYS = {OPTICAL: "tunable-laser+500ns/round", SWITCH: "passage", MEMORY: "passage"}
# The factor that we take "drastically" to mean.
DRASTIC = 2.0


def make(_setting: Setting) -> Outcome:
    """Speed-ups over Ring by control plane and number of GPUs."""
    speed_ups = {name: np.array([_ring_s(gpus) / _strategy_s(name, gpus) for gpus in NUMBERS]) for name in DELAYS}

    def draw(picture: Picture) -> None:
        picture.set_size_inches(6, 4)
        axes = picture.subplots()
        lines(axes, list(NUMBERS), speed_ups, x_kind="count", y_kind="ratio")
        axes.set(xlabel="GPUs", ylabel="speed-up over Ring")
        axes.legend(frameon=False, fontsize=8)

    return Outcome(
        {
            "gpus": [gpus for _ in DELAYS for gpus in NUMBERS],
            "control_plane": [name for name in DELAYS for _ in NUMBERS],
            "speed_up": [float(one) for found in speed_ups.values() for one in found],
        },
        draw,
        _claims(speed_ups),
        "ReduceScatter of 32 B, 800 Gbit/s, no startup, 1 µs a hop, the ring at first. The paper has no figures for "
        "control planes. Optical: lasers retune in 10 ns (HARVEST §6.1) after ⌈log₂ n⌉ rounds of signals of 500 ns, an "
        "assumption of ours, in which the GPUs hear that all are ready. Switch alone: 3.7 µs (Passage), nothing for "
        "synchronisation. Flags in memory: the barrier that HARVEST measured before each step, and the switch. Ring "
        "never changes circuits and has no barriers. GPUs that are no power of two are served by Bruck's pattern, "
        "which is cyclic recursive doubling where they are.",
    )


def _fabric(gpus: int) -> Fabric:
    return Fabric(gpus=gpus, startup=0.0, hop_delay=HOP_S, initial="ring:one-way")


def _ring_s(gpus: int) -> float:
    fabric = _fabric(gpus)
    return plan(
        "reduce-scatter", SIZE, fabric=fabric, algorithm="ring", planner="static", topology="ring:one-way"
    ).total_s


def _strategy_s(name: str, gpus: int) -> float:
    """Recursive doubling, or Ring without barriers where that is faster."""
    fabric = replace(_fabric(gpus), reconfiguration_delay=DELAYS[name])
    if name != MEMORY:
        return plan("reduce-scatter", SIZE, fabric=fabric, planner="short-circuit", algorithm="bruck-doubling").total_s
    return min(_with_barriers_s(gpus), _ring_s(gpus))


def _with_barriers_s(gpus: int) -> float:
    """Recursive doubling with a barrier before each step."""
    fabric = replace(_fabric(gpus), reconfiguration_delay=DELAYS[MEMORY], barrier="harvest")
    candidates = ["ring:one-way", "step-matchings"]
    return plan(
        "reduce-scatter",
        SIZE,
        fabric=fabric,
        algorithm="bruck-doubling",
        planner="harvest",
        convention="short-circuit",
        candidates=candidates,
    ).total_s


def _claims(speed_ups: dict[str, NDArray[np.float64]]) -> tuple[Claim, ...]:
    least = min(_ring_s(gpus) / _strategy_s(OPTICAL, gpus) for gpus in ALL_NUMBERS)
    at = NUMBERS.index(GPUS)
    optical_s = replace(_fabric(GPUS), reconfiguration_delay=DELAYS[OPTICAL]).reconfiguration.fixed_s
    barrier_s = replace(_fabric(GPUS), barrier="harvest").barrier_s
    switch_s = replace(_fabric(GPUS), reconfiguration_delay=DELAYS[SWITCH]).reconfiguration.fixed_s
    with_barriers_s = _with_barriers_s(GPUS)
    return (
        Claim.at_least(
            "the strategy falls back to Ring and never degrades performance",
            "§1, §3",
            paper=1.0,
            ours=least,
            unit="×",
            why="the least speed-up over Ring with 2 to 64 GPUs, every number, where the paper has powers of two",
        ),
        Claim.fact(
            "a fully optical control plane could drastically reduce the overhead of reconfigurations",
            "§5",
            paper="drastically",
            ours=f"{time_label(optical_s)} a change, and {time_label(switch_s + barrier_s)} by flags in memory and a "
            f"switch; {speed_ups[OPTICAL][at]:.2f}× and {speed_ups[MEMORY][at]:.2f}× over Ring",
            rule=f"{DRASTIC:g} times less a change with 32 GPUs",
            holds=switch_s + barrier_s >= DRASTIC * optical_s,
            why="by the assumption of 500 ns a signal; the switch alone takes "
            f"{time_label(switch_s)}, {speed_ups[SWITCH][at]:.2f}× over Ring",
        ),
        Claim.fact(
            "synchronisation before every step is practical in scale-up domains that share memory",
            "§5",
            paper="flags in shared memory",
            ours=f"{time_label(with_barriers_s)} with barriers, Ring {time_label(_ring_s(GPUS))}",
            rule="recursive doubling with measured barriers before each step is faster than Ring without, 32 GPUs",
            holds=with_barriers_s < _ring_s(GPUS),
            why=f"HARVEST's barrier of 32 GPUs takes {time_label(barrier_s)}, five of them more than Ring's 31 hops; "
            f"it pays with barriers below {time_label(_most_barrier_s(with_barriers_s, barrier_s))}",
        ),
    )


def _most_barrier_s(with_barriers_s: float, barrier_s: float) -> float:
    """The barrier with which recursive doubling takes as long as Ring."""
    steps = (GPUS - 1).bit_length()
    return barrier_s - (with_barriers_s - _ring_s(GPUS)) / steps


FIGURE = Figure("short-circuit-5", "control planes", "Short-circuiting rings, §5", make)

"""HARVEST, figures 6, 7, 9a and 12 as its authors measured them: claims judged by their published measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightloom import calibrate
from lightloom.views.axis_units import show_natural, size_label, time_label
from lightloom.views.charts import colour_bar, heat_map, show_heights
from lightloom.views.colour_norms import ratio_norm
from lightloom.views.palette import PALETTE, REFERENCE
from lightloom_papers.claims import NOT_STATED, Claim
from lightloom_papers.figure import Figure, Outcome
from lightloom_papers.harvest.speed_ups import FASTER, OVER, draw_maps
from lightloom_papers.harvest.testbed import ONE_HOP, barrier_times, measured_speed_ups, ring_times, step_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom import Calibration
    from lightloom_papers.figure import Setting

SOURCE = "times measured by HARVEST's authors, github.com/STyGIANet/Harvest"
MIB = 1 << 20
# The authors' rule: the startup is the mean of the sends up to 8 KiB, the bandwidth a line above it from 4 MiB on.
FLAT_BYTES, LINE_BYTES = 8 << 10, 4 << 20
PAPER_STARTUP_S, PAPER_BPS = 30.32e-6, 85.11e9


def fit_by_their_rule(sends: Calibration) -> tuple[float, float]:
    """Startup (s) and bandwidth (bit/s) of the measurements."""
    size_bytes, time_s = sends.measurements.size_bytes, sends.measurements.time_s
    startup_s = float(time_s[size_bytes <= FLAT_BYTES].mean())
    large = size_bytes >= LINE_BYTES
    size, above_s = size_bytes[large], time_s[large] - startup_s
    return startup_s, 8 * float(size @ size / (size @ above_s))


def _make_6(_setting: Setting) -> Outcome:
    found = measured_speed_ups()
    return Outcome(
        found.table(),
        lambda picture: draw_maps(picture, [("recursive doubling, testbed, measured", found)], list(OVER)),
        _claims_6(),
        f"{SOURCE}, `hardware-emulation/static_results.csv`: each step of recursive doubling on 8 GPUs, on the ring "
        "that it is on. Schedules are sums of these steps and of the delay, as there: static, one change after the "
        "second step, or a change before each; HARVEST is the least of the three.",
    )


def _claims_6() -> tuple[Claim, ...]:
    found, steps = measured_speed_ups(), step_times()
    over_bvn, over_static, best = found.over_bvn, found.over_static, found.over_best
    at_mib = found.at(1e-2, MIB)[1]
    large = found.sizes >= 32 * MIB
    slowed = steps["step_2_over_2"] / steps["step_2_over_1"]
    peak = np.unravel_index(int(best.argmax()), best.shape)
    gains = best.max(axis=1) > FASTER
    return (
        Claim.fact(
            "measured: HARVEST beats BvN schedules when reconfiguration delays are high",
            "fig. 6a, §6.2",
            paper="outperforms at high delays",
            ours=f"1 MiB: {over_bvn[0, at_mib]:.2f}× at 1 µs, {over_bvn[-1, at_mib]:.1f}× at 10 ms",
            rule="never falls as the delay rises, and is over 2 at 10 ms",
            holds=bool(np.all(np.diff(over_bvn[:, at_mib]) >= 0) and over_bvn[-1, at_mib] > 2),
        ),
        Claim.across(
            "measured: 3× faster than the static ring across a wide range",
            "fig. 6b, §6.2",
            paper=3.0,
            ours=over_static[0].tolist(),
            unit="×",
            why=f"At the shortest delay, 1 µs; the largest is at {size_label(found.sizes[over_static[0].argmax()])}, "
            f"and {over_static[0, large].min():.2f} to {over_static[0, large].max():.2f}× are from 32 MiB on. Loads "
            "alone give 1.714× at most. The rest is contention: step 2 over two circuits takes "
            f"{slowed[(found.sizes >= MIB) & (found.sizes <= 16 * MIB)].max():.1f} times what it takes over one at "
            f"most, twice its load, and {np.median(slowed[large]):.1f} times in the median from 32 MiB on.",
        ),
        Claim.fact(
            "measured: there is a transitional regime in which HARVEST beats both",
            "fig. 6c, §6.2",
            paper="a transitional regime",
            ours=f"up to {best.max():.2f}×, at {size_label(found.sizes[peak[1]])} and "
            f"{time_label(found.delays_s[peak[0]])}; at {int(gains.sum())} of {len(gains)} delays",
            rule=f"gains above {FASTER} at two delays or more",
            holds=bool(gains.sum() >= 2),
        ),
    )


def _make_7(_setting: Setting) -> Outcome:
    ours = calibrate(ONE_HOP)
    sends = ours.measurements
    startup_s, bandwidth_bps = fit_by_their_rule(ours)
    columns = {
        "size_bytes": sends.size_bytes,
        "time_s": sends.time_s,
        "their_rule_s": startup_s + 8 / bandwidth_bps * sends.size_bytes,
        "paper_s": PAPER_STARTUP_S + 8 / PAPER_BPS * sends.size_bytes,
        "calibrated_s": ours.fitted_s,
    }
    off = np.abs(np.log(columns["their_rule_s"] / sends.time_s))
    claims = (
        Claim.near(
            "the startup of a one-hop send is 30.32 µs",
            "fig. 7, §6.2",
            paper=30.32,
            ours=startup_s * 1e6,
            unit="µs",
            why=f"By the authors' own rule, the mean of the sends up to 8 KiB. They take "
            f"{sends.time_s[sends.size_bytes <= FLAT_BYTES].min() * 1e6:.2f} to "
            f"{sends.time_s[sends.size_bytes <= FLAT_BYTES].max() * 1e6:.2f} µs, and "
            f"{sends.time_s[sends.size_bytes == 64 << 10][0] * 1e6:.1f} µs is what 64 KiB take.",
        ),
        Claim.near(
            "its bandwidth is 85.11 Gbit/s",
            "fig. 7, §6.2",
            paper=85.11,
            ours=bandwidth_bps / 1e9,
            unit="Gbit/s",
            why="By the authors' own rule, a line through the sends from 4 MiB on.",
        ),
        Claim.fact(
            "measured times of one-hop sends correlate with the α-β cost",
            "fig. 7, §6.2",
            paper="they do",
            ours=f"R² {_r_squared(sends.time_s, columns['their_rule_s']):.4f}; half of the sends within "
            f"{np.expm1(np.median(off)):.1%}, the worst {np.expm1(off.max()):.0%} off",
            rule="R² of at least 0.95",
            holds=_r_squared(sends.time_s, columns["their_rule_s"]) >= 0.95,
        ),
    )
    return Outcome(
        columns,
        lambda picture: _draw_7(picture, columns),
        claims,
        f"{SOURCE}, `hardware-emulation/alpha-beta.csv`. `lightloom calibrate` on them gives "
        f"{ours.startup_s.value * 1e6:.2f} µs and {ours.bandwidth_bps.value / 1e9:.1f} Gbit/s where relative errors "
        "are least, and says that there are two regimes.",
    )


def _r_squared(measured: NDArray[np.float64], fitted: NDArray[np.float64]) -> float:
    return float(1 - np.sum((measured - fitted) ** 2) / np.sum((measured - measured.mean()) ** 2))


def _draw_7(picture: Picture, columns: dict[str, NDArray[np.float64]]) -> None:
    picture.set_size_inches(6.5, 4.2)
    axes = picture.subplots()
    sizes = columns["size_bytes"]
    axes.plot(sizes, columns["time_s"], "o", color=PALETTE[0], markersize=4, label="measured")
    axes.plot(sizes, columns["calibrated_s"], color=PALETTE[0], linewidth=1.3, label="`lightloom calibrate`")
    axes.plot(sizes, columns["their_rule_s"], color=PALETTE[1], linewidth=1.3, label="the authors' rule")
    axes.plot(sizes, columns["paper_s"], color=REFERENCE, linestyle="--", linewidth=1.3, label="the paper's numbers")
    axes.set_xscale("log")
    axes.set_yscale("log")
    show_heights(axes, "time", log=True)
    show_natural(axes.xaxis, "size", sizes, log=True)
    axes.set(xlabel="size of a send", ylabel="time")
    axes.grid(visible=True, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def _make_9(_setting: Setting) -> Outcome:
    found, ring_s = measured_speed_ups(), ring_times()
    gains = np.minimum(found.static_s, ring_s) / found.harvest_s
    peak = np.unravel_index(int(gains.argmax()), gains.shape)
    bands = int(np.sum(gains.max(axis=1) > FASTER))
    first = found.sizes[np.argmax(ring_s < found.static_s[0])]
    claim = Claim.fact(
        "measured: there is a regime in which HARVEST's recursive doubling beats the better of Ring and recursive "
        "doubling on a static ring",
        "fig. 9a of the measurements' README",
        paper=NOT_STATED,
        ours=f"up to {gains.max():.2f}×, at {size_label(found.sizes[peak[1]])} and "
        f"{time_label(found.delays_s[peak[0]])}; faster at {int(np.sum(gains > FASTER))} of {gains.size} points, "
        f"slower at {int(np.sum(gains < 1 / FASTER))}",
        rule=f"gains above {FASTER} at two delays or more",
        holds=bands >= 2,
        why=f"Gains at {bands} of {len(gains)} delays. From {size_label(first)} on Ring is faster than recursive "
        f"doubling on the static ring, and than HARVEST's at long delays, down to {gains.min():.2f}×: HARVEST is given "
        "recursive doubling there.",
    )
    table = {name: values for name, values in found.table().items() if name in {"size_bytes", "harvest_s", "static_s"}}
    table["reconfiguration_delay_s"] = np.repeat(found.delays_s, len(ring_s)).tolist()
    table["ring_s"] = np.tile(ring_s, len(gains)).tolist()
    table["over_best"] = np.ravel(gains).tolist()
    return Outcome(
        table,
        lambda picture: _draw_9(picture, found.sizes, found.delays_s, gains),
        (claim,),
        f"{SOURCE}, `hardware-emulation/static_results.csv`. The README of the measurements calls this picture figure "
        "9(a); the paper's text that we have numbers another one so, of Bruck's algorithms, which is computed "
        "(`harvest-9`), and says nothing of this one. Ring is seven one-hop sends of m/8, as in their script; HARVEST "
        "and recursive doubling are those of `harvest-6-measured`.",
    )


def _draw_9(
    picture: Picture, sizes: NDArray[np.int64], delays_s: NDArray[np.float64], gains: NDArray[np.float64]
) -> None:
    picture.set_size_inches(6.5, 4.8)
    axes = picture.subplots()
    mesh = heat_map(axes, sizes, delays_s, gains, norm=ratio_norm(np.ravel(gains), 1.0, 100.0), centre=1.0)
    axes.set(xlabel="buffer of a GPU", ylabel="reconfiguration delay")
    words = "times faster than the better of Ring and recursive doubling"
    colour_bar(picture, mesh, [axes], words, "ratio", location="bottom", aspect=40, fraction=0.04)


def _make_12(_setting: Setting) -> Outcome:
    times = barrier_times()
    columns: dict[str, list[float]] = {
        "ranks": [float(ranks) for ranks in times],
        "mean_s": [float(each.mean()) for each in times.values()],
        "least_s": [float(each.min()) for each in times.values()],
        "most_s": [float(each.max()) for each in times.values()],
    }
    claims = (
        Claim.about(
            "8 GPUs have waited for each other within about 4 µs",
            "fig. 12, §6.2",
            paper=4.0,
            ours=float(times[8].mean()) * 1e6,
            unit="µs",
        ),
        Claim.at_most(
            "256 have within less than 45 µs",
            "fig. 12, §6.2",
            paper=45.0,
            ours=float(times[256].max()) * 1e6,
            unit="µs",
        ),
    )
    return Outcome(
        columns,
        lambda picture: _draw_12(picture, columns),
        claims,
        f"{SOURCE}, `compute-sync/p2p_master_worker_times.csv`: the mean of ten barriers, and the longest.",
    )


def _draw_12(picture: Picture, columns: dict[str, list[float]]) -> None:
    picture.set_size_inches(6.5, 4.2)
    axes = picture.subplots()
    axes.plot(columns["ranks"], columns["mean_s"], "o-", color=PALETTE[0], label="measured, mean of ten")
    axes.plot([8, 256], [4e-6, 45e-6], "*", color=REFERENCE, markersize=11, label="the paper's numbers")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(columns["ranks"], [str(int(ranks)) for ranks in columns["ranks"]])
    show_heights(axes, "time", log=True)
    axes.set(xlabel="GPUs", ylabel="time of a barrier")
    axes.grid(visible=True, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


MEASURED = (
    Figure("harvest-6-measured", "testbed: gains as measured", "HARVEST, figures 6a to 6c, §6.2", _make_6),
    Figure("harvest-7-measured", "one-hop sends as measured", "HARVEST, figure 7, §6.2", _make_7),
    Figure("harvest-9-measured", "testbed: gains over Ring too, as measured", "HARVEST, figure 9a, §6.2", _make_9),
    Figure("harvest-12-measured", "synchronisation time as measured", "HARVEST, figure 12, §6.2", _make_12),
)

"""Figures 11 and 12: completion time beside the baselines at the delay of the largest gain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.axis_units import time_label
from lightloom.charts import bars
from lightloom.reproduction.all_to_all.averages import FIGURE_11, FIGURE_12, PAPER, a_matching_per_distance, why
from lightloom.reproduction.all_to_all.price_lines import (
    BASELINES,
    DIRECT_CONNECT,
    OURS,
    RANDOM,
    UNIFORM,
    WORKLOADS,
    ZIPF,
    Gain,
    Workload,
    changes_s,
    envelope_s,
    gain_of,
    largest_gain,
)
from lightloom.reproduction.claims import Claim
from lightloom.reproduction.figure import MODEL, PACKET, Figure, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure as Picture

    from lightloom.reproduction.figure import Setting

Gains = dict[Workload, Gain]
SHOWN = {
    OURS: "ours",
    "fast": "FAST",
    "direct-connect-kautz": "DirectConnect (Kautz)",
    "direct-connect-circulant": "DirectConnect (circulant)",
    "topo-opt": "TopoOpt",
    "mixnet": "MixNet",
}
NAMES = {UNIFORM: "uniform", RANDOM: "random", ZIPF: "Zipf"}
TICKS_S = tuple(digit * 10.0**power for power in range(-4, 2) for digit in (1, 3))
NOTES = (
    "800 Gbit/s, 500 ns a hop, chunks of 4 MB forwarded by index, seed 0; bars at the reconfiguration delay at which "
    "the "
    "strategy is farthest below the best baseline. Completion times are lines in the delay, the strategy's for each "
    "number "
    "of topologies, so that the gain can only peak where the best baseline changes, and these delays are found exactly "
    "(only n = 8 with two ports and uniform or Zipfian flows has no gain there). Every topology is charged, the first "
    "one too. Above each group: the reduction "
    "against the best baseline. The paper simulates packets; it does not say which delays it sweeps, and its random "
    "matrices are not published."
)


def gains(workloads: tuple[Workload, ...], setting: Setting) -> Gains:
    """The largest gain of each workload; with packets, the same plans simulated at that delay."""
    found = {workload: gain_of(workload)[1] for workload in workloads}
    if setting.engine == MODEL:
        return found
    cases = [
        workload.case(name, gain.delay_s) for workload, gain in found.items() for name in (OURS, *workload.baselines)
    ]
    measured = iter(setting.measure(cases))
    simulated = {}
    for workload, gain in found.items():
        # A plan is not charged for its first topology.
        times_s = {name: next(measured).total_s + gain.delay_s for name in (OURS, *workload.baselines)}
        simulated[workload] = gain._replace(ours_s=times_s.pop(OURS), baselines_s=times_s)
    return simulated


def _outcome(found: Gains, groups: str, claims: tuple[Claim, ...]) -> Outcome:
    """Bars over `groups`, a field of the workloads, one panel for each matrix and number of ports."""

    def draw(picture: Picture) -> None:
        picture.set_size_inches(11, 5.6)
        shared = groups == "mean_size"
        panels = picture.subplots(2, 3, sharey=shared)
        for row, ports in zip(panels, (1, 2), strict=True):
            for axes, matrix in zip(row, WORKLOADS, strict=True):
                shown = {one: gain for one, gain in found.items() if (one.ports, one.matrix) == (ports, matrix)}
                heights = {
                    label: [
                        gain.ours_s if name == OURS else gain.baselines_s.get(name, np.nan) for gain in shown.values()
                    ]
                    for name, label in SHOWN.items()
                }
                bars(axes, [str(getattr(one, groups)).replace("MB", " MB") for one in shown], heights, log=True)
                for place, gain in enumerate(shown.values()):
                    tallest = max(gain.ours_s, *gain.baselines_s.values())
                    axes.annotate(
                        f"{-gain.reduction * 100:+.0f} %",
                        (place, tallest),
                        (0, 3),
                        textcoords="offset points",
                        ha="center",
                        fontsize=7,
                    )
                axes.margins(y=0.12)
                axes.set_yticks(TICKS_S, [time_label(tick_s) for tick_s in TICKS_S])
                axes.set_ylim(*_limits_s(found.values() if shared else shown.values()))
                axes.set_title(f"{NAMES[matrix]}, {ports} port{'s' if ports > 1 else ''}", fontsize=9)
        for axes in panels[1]:
            axes.set_xlabel("GPUs" if groups == "gpus" else "mean flow")
        for axes in panels[:, 0]:
            axes.set_ylabel("completion time")
        picture.legend(*panels[1, 1].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)

    rows = [
        {
            "gpus": workload.gpus,
            "ports": workload.ports,
            "workload": workload.matrix,
            "mean_flow_bytes": _core.parse_size("size", workload.mean_size),
            "reconfiguration_delay_s": gain.delay_s,
            "topologies": gain.line.topologies,
            f"{OURS}_s": gain.ours_s,
            **{f"{name}_s": gain.baselines_s.get(name, "") for name in BASELINES},
            "best_baseline": gain.best,
            "reduction_percent": gain.reduction * 100,
        }
        for workload, gain in found.items()
    ]
    table: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    return Outcome(table, draw, claims, NOTES)


def _limits_s(shown: Iterable[Gain]) -> tuple[float, float]:
    """From below the shortest bar to above the tallest."""
    times_s = [time_s for gain in shown for time_s in (gain.ours_s, *gain.baselines_s.values())]
    return min(times_s) / 2, max(times_s) * 1.8


def make_11(setting: Setting) -> Outcome:
    """Over numbers of GPUs, 32 MB a pair."""
    found = gains(FIGURE_11, setting)
    reductions = {workload: gain.reduction * 100 for workload, gain in found.items()}

    def mean(**fields: object) -> float:
        chosen = [
            part
            for workload, part in reductions.items()
            if all(getattr(workload, name) == value for name, value in fields.items())
        ]
        return float(np.mean(chosen))

    by_size = {ports: [mean(ports=ports, gpus=gpus) for gpus in (8, 16, 32, 64)] for ports in (1, 2)}
    by_matrix = {matrix: mean(matrix=matrix) for matrix in WORKLOADS}
    small_zipf, large_zipf = Workload(8, 2, ZIPF, "32MB"), Workload(64, 2, ZIPF, "32MB")
    average = float(np.mean(list(reductions.values())))
    claims = (
        Claim.near(
            "lower completion time than the best baseline, on average",
            "fig. 11, §5.2",
            paper=PAPER["11"],
            ours=average,
            unit="%",
            why=why("11"),
        ),
        Claim.fact(
            "gains generally increase as n/k grows",
            "fig. 11, §5.2",
            paper="increasing",
            ours="; ".join(
                f"k = {ports}: " + ", ".join(f"{part:.0f}" for part in by_size[ports]) + " %" for ports in by_size
            ),
            rule="mean over workloads: rises from n = 8 to 64 for each k, and k = 1 is above k = 2 for each n",
            holds=all(of[0] < of[-1] for of in by_size.values())
            and all(one > two for one, two in zip(*by_size.values(), strict=True)),
        ),
        Claim.fact(
            "smaller gains under Zipfian flows than under random ones",
            "fig. 11, §5.2",
            paper="smaller",
            ours=f"{by_matrix[ZIPF]:.0f} % against {by_matrix[RANDOM]:.0f} %",
            rule="on average",
            holds=by_matrix[ZIPF] < by_matrix[RANDOM],
        ),
        Claim.fact(
            "smaller gains under Zipfian flows than under uniform ones",
            "fig. 11, §5.2",
            paper="smaller",
            ours=f"{by_matrix[ZIPF]:.0f} % against {by_matrix[UNIFORM]:.0f} %",
            rule="on average",
            holds=by_matrix[ZIPF] < by_matrix[UNIFORM],
            why=_why_uniform(),
        ),
        _all_or_but(
            "the strategy is ahead of every baseline but in two settings",
            reductions,
            (small_zipf, large_zipf),
        ),
        Claim.fact(
            "FAST is ahead for n = 8, k = 2, Zipf",
            "fig. 11, §5.2",
            paper="FAST ahead",
            ours=_beside(found[small_zipf]),
            rule="at the delay of the largest gain FAST is faster than ours, and no baseline faster than FAST",
            holds=_is_ahead(found[small_zipf], "fast"),
            why=_why_ahead(small_zipf, "fast"),
        ),
        Claim.fact(
            "MixNet is ahead for n = 64, k = 2, Zipf",
            "fig. 11, §5.2",
            paper="MixNet ahead",
            ours=_beside(found[large_zipf]),
            rule="at the delay of the largest gain MixNet is faster than ours, and no baseline faster than MixNet",
            holds=_is_ahead(found[large_zipf], "mixnet"),
            why=_why_ahead(large_zipf, "mixnet"),
        ),
        _coincide(found),
        _poor_fast(found),
    )
    return _outcome(found, "gpus", claims)


def _poor_fast(found: Gains) -> Claim:
    ratios = {
        gpus: max(
            gain.baselines_s["fast"] / gain.ours_s
            for workload, gain in found.items()
            if workload.gpus == gpus and workload.ports == 1
        )
        for gpus in (8, 16, 32, 64)
    }
    return Claim.fact(
        "FAST can perform very poorly in many settings, particularly at larger scales",
        "fig. 11, §5.2",
        paper="very poorly",
        ours="one port: up to " + ", ".join(f"{ratio:.1f}× our time (n = {gpus})" for gpus, ratio in ratios.items()),
        rule="rises with n, to over 3× our time",
        holds=sorted(ratios.values()) == list(ratios.values()) and ratios[64] > 3,
    )


def _beside(gain: Gain) -> str:
    return f"{SHOWN[gain.best]} is the best baseline, ours {_below(gain.reduction)} it"


def _is_ahead(gain: Gain, name: str) -> bool:
    # Where the best baseline changes, two are equally fast.
    return gain.reduction < 0 and gain.baselines_s[name] <= gain.baselines_s[gain.best] * (1 + 1e-9)


def _below(part: float) -> str:
    return f"{abs(part) * 100:.1f} % {'below' if part > 0 else 'above'}"


def _all_or_but(words: str, reductions: dict[Workload, float], exceptions: tuple[Workload, ...]) -> Claim:
    behind = [workload for workload, part in reductions.items() if part <= 0]
    listed = ", ".join(
        f"n = {one.gpus}, k = {one.ports}, {NAMES[one.matrix]} ({reductions[one]:.2f} %)" for one in behind
    )
    return Claim.fact(
        words,
        "fig. 11, §5.2",
        paper="22 of 24",
        ours=f"{len(reductions) - len(behind)} of 24",
        rule="at least 22 of 24",
        holds=len(behind) <= len(exceptions),
        why=f"not ahead: {listed or 'none'}",
    )


def _why_uniform() -> str:
    parts = {}
    for matrix in (UNIFORM, ZIPF):
        of = []
        for workload in (one for one in FIGURE_11 if one.matrix == matrix):
            lines = gain_of(workload)[0]
            of.append(
                largest_gain(lines.ours, {**lines.baselines, "fast": a_matching_per_distance(workload)}).reduction
            )
        parts[matrix] = float(np.mean(of)) * 100
    matchings = {matrix: gain_of(Workload(64, 1, matrix, "32MB"))[0].baselines["fast"].topologies for matrix in parts}
    return (
        f"FAST needs {matchings[ZIPF]} matchings for Zipfian flows of 64 GPUs and {matchings[UNIFORM]} for uniform "
        f"ones, "
        "which leaves a wide range of delays in which no baseline is good; with a matching per distance for both, "
        "each as "
        f"long as its largest flow, the gains are {parts[ZIPF]:.0f} % (Zipf) and {parts[UNIFORM]:.0f} % (uniform)"
    )


def _why_ahead(workload: Workload, name: str) -> str:
    """Whether the baseline is ahead at any delay, in rounds and with circuits that never wait."""
    lines, gain = gain_of(workload)
    delays_s = np.geomspace(1e-9, 1.0, 181)
    words = [f"the largest gain is at {time_label(gain.delay_s)}"]
    for at_s in changes_s(list(lines.baselines.values())):
        change = largest_gain(lines.ours, lines.baselines, [at_s])
        words.append(
            f"at {time_label(at_s)}, where the best baseline changes, ours is {_below(change.reduction)} "
            f"{SHOWN[change.best]}"
        )
    for said, ours, baselines in (
        ("in rounds", lines.ours, lines.baselines),
        ("with circuits that never wait", lines.eager, lines.eager_baselines),
    ):
        parts = 1 - envelope_s(ours, delays_s) / envelope_s([baselines[name]], delays_s)
        best = envelope_s([baselines[name]], delays_s) <= envelope_s(list(baselines.values()), delays_s)
        ahead = delays_s[parts < 0]
        where = f"from {time_label(ahead[0])} to {time_label(ahead[-1])}" if ahead.size else "nowhere"
        words.append(
            f"{said}, {SHOWN[name]} is ahead of ours {where} (ours is {_below(float(parts.min()))} it at worst) and "
            f"the best "
            f"baseline at {best.mean() * 100:.0f} % of the delays from 1 ns to 1 s"
        )
    return "; ".join(words)


def _coincide(found: Gains) -> Claim:
    apart = {}
    for workload in (one for one in found if one.ports == 1 and one.gpus == 64):
        for name, baselines in (
            ("rounds", gain_of(workload)[0].baselines),
            ("never", gain_of(workload)[0].eager_baselines),
        ):
            times = [baselines[one].rest_s for one in (*DIRECT_CONNECT, "topo-opt")]
            apart[name, workload.matrix] = max(times) / min(times)
    worst = max(ratio for (name, _), ratio in apart.items() if name == "rounds")
    never = max(ratio for (name, _), ratio in apart.items() if name == "never")
    return Claim.fact(
        "with one port DirectConnect (both) and TopoOpt coincide",
        "fig. 11, §5.2",
        paper="coincide",
        ours=f"n = 64: up to {worst:.2f}× apart",
        rule="within 5 %",
        holds=worst <= 1.05,
        why="all three are the ring, and DirectConnect's two are equal; TopoOpt's unequal flows go in rounds as long "
        "as the "
        f"largest flow of each. Where no circuit waits for another they are {never:.3f}× apart, for every chunk's "
        f"latency "
        "at every hop",
    )


def make_12(setting: Setting) -> Outcome:
    """Over flow sizes, 16 GPUs."""
    found = gains(FIGURE_12, setting)
    average = float(np.mean([gain.reduction for gain in found.values()])) * 100
    least = min(gain.reduction for gain in found.values()) * 100
    drifts = [
        abs(found[one._replace(mean_size="64MB")].reduction - gain.reduction) * 100
        for one, gain in found.items()
        if one.mean_size == "8MB"
    ]
    claims = (
        Claim.near(
            "lower completion time on average",
            "fig. 12, §5.2",
            paper=PAPER["12"],
            ours=average,
            unit="%",
            why=why("12"),
        ),
        Claim.at_least(
            "ahead of the baselines across all flow sizes (least gain)",
            "fig. 12, §5.2",
            paper=0,
            ours=least,
            unit="%",
        ),
        Claim.fact(
            "the improvement persists as flows grow",
            "fig. 12, §5.2",
            paper="persists",
            ours=f"gains at 8 and 64 MB differ by at most {max(drifts):.1f} points",
            rule="at most 5 points",
            holds=max(drifts) <= 5,
        ),
    )
    return _outcome(found, "mean_size", claims)


FIGURES = tuple(
    Figure(
        f"all-to-all-{number}",
        title,
        f"To reconfigure or not to reconfigure, fig. {number}, §5.2",
        make,
        (MODEL, PACKET),
    )
    for number, title, make in (
        (11, "completion time over numbers of GPUs", make_11),
        (12, "completion time over flow sizes", make_12),
    )
)

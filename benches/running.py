"""Runs the same collective by four planners on processes, and writes docs/running-results.md: measured over predicted.

    python benches/running.py [--runs 20] [--dilation 1000]

To be run on a machine that does nothing else. The page says how late the machine was; where that is too much for the
times to say anything, the verdict is inconclusive.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import lightloom as ll
from lightloom.views.axis_units import time_label

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).parent.parent / "docs" / "running-results.md"
GPUS, SIZE, ALGORITHM = 8, "1MiB", "recursive-doubling"
RATE, STARTUP, HOP_DELAY = "100Gbps", "10us", "1us"
DELAYS = ("1us", "10us", "100us")
PLANNERS = ("static", "bvn", "harvest", "weave")
# Medians within these are as planned; speed-ups as predicted within this part.
LEAST_RATIO, MOST_RATIO, AGREE = 0.97, 1.06, 0.10


class Row(NamedTuple):
    """A plan that was run, and simulated with packets that are stored and forwarded."""

    delay: str
    planner: str
    measurement: ll.Measurement
    simulated_s: float

    @property
    def over_simulated(self) -> float:
        """The middle of the measured times over the simulated one."""
        return self.measurement.measured.median / self.simulated_s


def plan_of(planner: str, delay: str) -> ll.Plan:
    """The plan: on the one-way ring where it is static; weave chooses the algorithm."""
    return ll.plan(
        "all-reduce",
        SIZE,
        fabric=ll.Fabric(gpus=GPUS, reconfiguration_delay=delay, bandwidth=RATE, startup=STARTUP, hop_delay=HOP_DELAY),
        planner=planner,
        algorithm=None if planner == "weave" else ALGORITHM,
        topology="ring" if planner == "static" else None,
    )


def measured_rows(runs: int, dilation: float) -> list[Row]:
    """Every planner at every delay; the static plan only at the first."""
    rows = []
    with ll.Executor(runs=runs, warm_ups=2, dilation=dilation) as executor:
        for delay in DELAYS:
            for planner in PLANNERS:
                if planner == "static" and delay != DELAYS[0]:
                    continue
                plan = plan_of(planner, delay)
                measurement = executor.run(plan)
                packet = measurement.settings.packet_bytes
                simulated = ll.simulate(plan, forwarding="store-and-forward", packet_size=packet)
                rows.append(Row(delay, planner, measurement, simulated.total_s))
                print(f"{planner} at {delay}: {measurement!r}")
    return rows


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table whose columns but the first two are aligned to the right."""
    lines = [header, ("---", "---", *("---:" for _ in header[2:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def times_table(rows: list[Row]) -> str:
    """The measurements of every plan."""
    found = []
    for row in rows:
        one = row.measurement
        found.append(
            (
                "any" if row.planner == "static" else row.delay,
                row.planner,
                str(one.plan.reconfigurations),
                time_label(one.predicted_s),
                time_label(one.measured.median),
                f"{one.ratio:.3f}",
                f"{one.measured.min / one.predicted_s:.3f} to {one.measured.max / one.predicted_s:.3f}",
                f"{row.over_simulated:.3f}",
                time_label(one.lateness_s),
                one.verdict,
            )
        )
    header = ("delay", "planner", "changes", "plan", "measured", "ratio", "all runs", "over simulated", "lateness")
    return table((*header, "verdict"), found)


def speed_ups_table(rows: list[Row]) -> str:
    """HARVEST over the static ring and BvN, by the plans and as measured."""
    by_name = {(row.delay, row.planner): row.measurement for row in rows}
    found = []
    for delay in DELAYS:
        best = by_name[delay, "harvest"]
        for planner in ("static", "bvn"):
            other = by_name[DELAYS[0] if planner == "static" else delay, planner]
            predicted = other.predicted_s / best.predicted_s
            measured = other.measured.median / best.measured.median
            agrees = "yes" if abs(measured / predicted - 1) <= AGREE else "no"
            found.append((delay, planner, f"{predicted:.3f}×", f"{measured:.3f}×", agrees))
    return table(("delay", "HARVEST over", "predicted", "measured", f"within {AGREE:.0%}"), found)


def page(rows: list[Row], runs: int, dilation: float) -> str:
    """The page."""
    medians = [row.measurement.ratio for row in rows]
    conclusive = sum(row.measurement.verdict == "conclusive" for row in rows)
    within = sum(LEAST_RATIO <= ratio <= MOST_RATIO for ratio in medians)
    settings = rows[0].measurement.settings
    granted = "with" if settings.real_time else "without"
    cores = len(os.sched_getaffinity(0))
    medians_within = f"{within} of {len(rows)} medians are {LEAST_RATIO} to {MOST_RATIO} of the plan"
    return f"""\
# Plans that were run

Generated by `python benches/running.py`; one alone: `lightloom run PLAN --dilation {dilation:g}`
([run a plan](how-to/run-a-plan.md)). AllReduce of {SIZE} on {GPUS} ranks, {RATE},
startup {STARTUP}, hop delay {HOP_DELAY}; {ALGORITHM}, and for weave what it chooses.
Processes on {cores} cores {granted} real-time priority, slowed down {dilation:g} times, {runs} runs after 2
to warm up.

{medians_within}; {conclusive} of {len(rows)} are conclusive.

- *ratio*: the middle of the measured times over the plan's; *all runs*: the least and the most.
- *over simulated*: over `simulate --forwarding store-and-forward` with packets of the same size, which lets hops
  overlap where the plan adds them up.
- *lateness*: lateness that 99 of 100 sleeps did not exceed, in seconds of the machine; a step takes {dilation:g} times
  its planned time.

{times_table(rows)}
## Speed-ups

{speed_ups_table(rows)}"""


def main() -> None:
    """Run all and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--dilation", type=float, default=1000.0)
    given = parser.parse_args()
    PAGE.write_text(page(measured_rows(given.runs, given.dilation), given.runs, given.dilation))


if __name__ == "__main__":
    main()

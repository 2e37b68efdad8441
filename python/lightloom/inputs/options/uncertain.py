"""Options of fabrics whose times are uncertain: the arguments of `lightloom.sample` and `lightloom.sample_plans`."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, MOST, PICTURES, Group, Kind, Option

UNCERTAIN = (
    Option(
        name="uncertain",
        kind=Kind.TEXT,
        group=Group.FABRIC,
        meaning="Distributions of reconfiguration_delay, startup, bandwidth, barrier and control (latency before "
        "changes) about the fabric's values: normal:S, lognormal:S, uniform:S, exponential:S, S a share of the value "
        "or a time, or samples:FILE.csv; @switch, @port, @gpu, @circuit, @step or @run says what draws its own. "
        "straggler=P:F: a GPU is slow by F with probability P.",
        verbs=("simulate", "plan", "compare"),
        metavar="QUANTITY=DISTRIBUTION[@SCOPE],...",
    ),
    Option(
        name="objective",
        kind=Kind.CHOICE,
        group=Group.PLANNER,
        meaning="With --uncertain: the time that plans are chosen and ordered by: where nothing is uncertain "
        "(nominal), the mean, or a percentile.",
        verbs=("plan", "compare"),
        default="nominal",
        choices=("nominal", "mean", "p50", "p95", "p99"),
    ),
    Option(
        name="samples",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="With --uncertain: number of runs that are drawn.",
        verbs=("simulate", "plan", "compare"),
        default=10_000,
        most=10_000_000,
    ),
    Option(
        name="seed",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="With --uncertain: seed of everything random.",
        verbs=("simulate",),
        default=0,
        least=LEAST["seed"],
        most=MOST["seed"],
    ),
    Option(
        name="plot",
        kind=Kind.PICTURE,
        group=Group.OUTPUT,
        meaning="With --uncertain: also draw the share of runs by the time that they keep, a line a plan; with "
        f"--failed any-port and the like, the times of every planner with each fault: {PICTURES}.",
        verbs=("compare",),
    ),
)

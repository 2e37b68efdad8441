"""Options of calls whose plans are chosen by measured delays: the arguments of `lightloom.adapt`."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, MOST, Group, Kind, Option

VERB = ("adapt",)

ADAPTING = (
    Option(
        name="size",
        kind=Kind.SIZE,
        group=Group.PROBLEM,
        meaning="Size of a GPU's buffer in every call, such as 64MiB, in the table's range; of several, such as "
        "1MiB,64MiB, calls take one after the other.",
        verbs=VERB,
        otherwise="the file's column size_bytes or size",
        metavar="SIZE,...",
        python="a list",
    ),
    Option(
        name="delays",
        kind=Kind.TEXT,
        group=Group.PROBLEM,
        meaning="Reconfiguration delay of every call, in the table's range: step:TIME:TIME, ramp:TIME:TIME, "
        "flicker:TIME:TIME, noise:TIME:X, walk:TIME:X (these two stay in the range), or a CSV file with a column "
        "delay_us (or delay_s, delay_ms, delay_ns, delay), where sizes differ also size_bytes (or size), and a row a "
        "call.",
        verbs=VERB,
        metavar="RULE|FILE",
    ),
    Option(
        name="calls",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Delays by a rule: number of calls.",
        verbs=VERB,
        otherwise="200",
        most=100_000,
    ),
    Option(
        name="engine",
        kind=Kind.CHOICE,
        group=Group.RUN,
        meaning="Where calls are made: computed from the plans' times (model), or each run on processes of this "
        "machine, with circuits of that delay, which is measured (processes).",
        verbs=VERB,
        default="model",
        choices=("model", "processes"),
    ),
    Option(
        name="change_cost",
        kind=Kind.TIME,
        group=Group.PLANNER,
        meaning="Time that is lost when another plan is taken; a larger one makes changes rarer.",
        verbs=VERB,
        otherwise="the geometric middle of the table's delays",
        python="seconds",
    ),
    Option(
        name="window",
        kind=Kind.WHOLE,
        group=Group.PLANNER,
        meaning="Number of measured delays whose median is the estimate.",
        verbs=VERB,
        default=3,
        most=10_000,
    ),
    Option(
        name="probe",
        kind=Kind.TEXT,
        group=Group.PLANNER,
        meaning="While plans change no circuits, share of the time that is given to measuring the delay outside of "
        "calls, 0 for never.",
        verbs=VERB,
        default="5%",
        metavar="SHARE",
    ),
    Option(
        name="seed",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="Delays by a rule: seed of everything random.",
        verbs=VERB,
        otherwise="0",
        least=LEAST["seed"],
        most=MOST["seed"],
    ),
)

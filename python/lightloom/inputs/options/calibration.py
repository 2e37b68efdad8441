"""Options of a calibration: the arguments of `lightloom.calibrate` other than the measured times."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, MOST, Group, Kind, Option

VERB = ("calibrate",)

CALIBRATION = (
    Option(
        name="errors",
        kind=Kind.CHOICE,
        group=Group.MEASUREMENTS,
        meaning="Errors that the fit minimises: relative, measured over fitted time; robust, the relative ones with "
        "less weight on rows that are far off; absolute, in seconds, where only the largest sizes count.",
        verbs=VERB,
        default="relative",
        choices=("relative", "robust", "absolute"),
    ),
    Option(
        name="confidence",
        kind=Kind.NUMBER,
        group=Group.MEASUREMENTS,
        meaning="Confidence level of the intervals.",
        verbs=VERB,
        default=0.95,
        metavar="P",
    ),
    Option(
        name="hop_delay",
        kind=Kind.TIME,
        group=Group.MEASUREMENTS,
        meaning="Delay of a hop where it is known.",
        verbs=VERB,
        otherwise="fitted where the rows determine it, or 0",
        python="seconds",
    ),
)

# The schedule of rows that do not state one.
SCHEDULE_OF = (
    Option(
        name="collective",
        kind=Kind.NAME,
        group=Group.PROBLEM,
        meaning="The collective that was run, if no column says it; goes with --algorithm and --gpus.",
        verbs=VERB,
        names="collectives",
    ),
    Option(
        name="algorithm",
        kind=Kind.NAME,
        group=Group.PROBLEM,
        meaning="Algorithm of the collective that was run; steps, hops and bytes on the wire follow from it.",
        verbs=VERB,
        names="algorithms",
    ),
    Option(
        name="gpus",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Number of GPUs that ran the collective.",
        verbs=VERB,
        least=LEAST["gpus"],
        most=MOST["gpus"],
    ),
    Option(
        name="dims",
        kind=Kind.DIMS,
        group=Group.PROBLEM,
        meaning="Grid of the GPUs that ran the collective.",
        verbs=VERB,
    ),
    Option(
        name="ports",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Circuits in and out of one GPU.",
        verbs=VERB,
        otherwise="1",
        least=LEAST["ports"],
        most=MOST["ports"],
    ),
    Option(
        name="topology",
        kind=Kind.TOPOLOGY,
        group=Group.PROBLEM,
        meaning="Topology on which the collective ran: one of `lightloom list topologies`.",
        verbs=VERB,
        otherwise="ring",
    ),
    Option(
        name="routing",
        kind=Kind.CHOICE,
        group=Group.PROBLEM,
        meaning="Paths of a transfer: one shortest path, or all shortest paths in equal shares.",
        verbs=VERB,
        default="single-path",
        choices=("single-path", "equal-split"),
    ),
)

"""Options of plans that are made once for many iterations: the arguments of `lightloom.robust`."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, MOST, Group, Kind, Option

VERB = ("robust",)

ROBUST = (
    Option(
        name="matrices",
        kind=Kind.MATRIX,
        group=Group.PROBLEM,
        meaning="A matrix for each iteration, of bytes, or of tokens by rank and expert: a folder of CSV, NPY and "
        "Parquet files in the order of their names, an NPY file of iterations x ranks x columns, or a Parquet file "
        "with columns iteration, source, expert and tokens; or one of `lightloom list workloads`, such as zipf:0.6.",
        verbs=VERB,
        metavar="FOLDER|FILE|NAME",
    ),
    Option(
        name="size",
        kind=Kind.SIZE,
        group=Group.PROBLEM,
        meaning="Size of the largest buffer of any rank and iteration, such as 64MiB; with /pair the mean over all "
        "pairs and iterations.",
        verbs=VERB,
        otherwise="bytes as the matrices have them",
    ),
    Option(
        name="objective",
        kind=Kind.CHOICE,
        group=Group.PROBLEM,
        meaning="Which time is least: the mean of all iterations (expected), or that of the slowest (worst).",
        verbs=VERB,
        default="expected",
        choices=("expected", "worst"),
    ),
    Option(
        name="iterations",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Generated matrices: how many.",
        verbs=VERB,
        otherwise="8",
        most=4096,
    ),
    Option(
        name="drift",
        kind=Kind.NUMBER,
        group=Group.PROBLEM,
        meaning="Generated matrices: the share, from 0 to 1, that is drawn anew from one iteration to the next.",
        verbs=VERB,
        otherwise="0.2",
    ),
    Option(
        name="seed",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="Generated matrices: seed of everything random.",
        verbs=VERB,
        otherwise="0",
        least=LEAST["seed"],
        most=MOST["seed"],
    ),
    Option(
        name="hold_out",
        kind=Kind.NUMBER,
        group=Group.PROBLEM,
        meaning="The last iterations, for which the plan is not made and by which it is judged: a share above 0 and "
        "below 1, such as 0.25, or how many.",
        verbs=VERB,
        otherwise="none",
        metavar="SHARE|N",
    ),
)

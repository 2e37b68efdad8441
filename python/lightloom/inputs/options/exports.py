"""Options of `export`: its arguments other than the plan."""

from __future__ import annotations

from lightloom.formats import written_formats
from lightloom.inputs.options.option import MOST, Group, Kind, Option

VERB = ("export",)

EXPORT = (
    Option(
        name="to",
        kind=Kind.CHOICE,
        group=Group.OUTPUT,
        meaning="Format to write: one of `lightloom list formats`.",
        verbs=VERB,
        choices=tuple(written_formats()),
        metavar="FORMAT",
    ),
    Option(
        name="output",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning="File or folder to write, as the format needs: next to a file, NAME.circuits.json is written too; a "
        "folder must be new or empty.",
        verbs=VERB,
        metavar="FILE|FOLDER",
    ),
    Option(
        name="sizes",
        kind=Kind.TEXT,
        group=Group.PROBLEM,
        meaning="msccl-xml, rccl and mscclpp: sizes of a rank's buffer for which the plan is taken, such as "
        "64KiB:4MiB. With several plans, each size takes the plan that is fastest at it.",
        verbs=VERB,
        otherwise="all sizes; with several plans, from the smallest plan's size to the largest plan's",
        metavar="FROM:TO",
    ),
    Option(
        name="gpus_per_host",
        kind=Kind.WHOLE,
        group=Group.FABRIC,
        meaning="mscclpp: consecutive GPUs that share memory, a divisor of the plan's GPUs. Data between other GPUs "
        "go through port channels, over the network.",
        verbs=VERB,
        most=MOST["gpus"],
        otherwise="all of them",
    ),
)

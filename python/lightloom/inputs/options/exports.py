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
        meaning="Format to write, of `lightloom list formats`.",
        verbs=VERB,
        choices=tuple(written_formats()),
        metavar="FORMAT",
    ),
    Option(
        name="output",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning="Where it goes: a file, next to which NAME.circuits.json is written, or a folder that is not there or "
        "empty, as the format is.",
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
        otherwise="all; of several plans, from the smallest one's size to the largest one's",
        metavar="FROM:TO",
    ),
    Option(
        name="gpus_per_host",
        kind=Kind.WHOLE,
        group=Group.FABRIC,
        meaning="mscclpp: consecutive GPUs that share memory, a divisor of the plan's GPUs. Data go between others by "
        "port channels, over the network.",
        verbs=VERB,
        most=MOST["gpus"],
        otherwise="all of them",
    ),
)

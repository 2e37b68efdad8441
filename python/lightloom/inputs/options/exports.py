"""What `export` takes beside the plan."""

from __future__ import annotations

from lightloom.formats import written_formats
from lightloom.inputs.options.option import Group, Kind, Option

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
        meaning="Where it goes: a file, beside which NAME.circuits.json is written, or a folder that is not there or "
        "empty, as the format is.",
        verbs=VERB,
        metavar="FILE|FOLDER",
    ),
)

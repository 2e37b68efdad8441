"""Options of advice on switches: the arguments of `lightloom.advise` other than the job."""

from __future__ import annotations

from lightloom.inputs.options.option import Group, Kind, Option

VERB = ("advise",)

ADVICE = (
    Option(
        name="switches",
        kind=Kind.NAME,
        group=Group.SWITCHES,
        meaning="Switches that are compared: names of `lightloom list switches`, all, and TOML files of your own, "
        "with commas between them.",
        verbs=VERB,
        otherwise="all",
        names="switches",
        others=("all",),
        metavar="NAMES|FILE",
    ),
    Option(
        name="ports",
        kind=Kind.TEXT,
        group=Group.FABRIC,
        meaning="Numbers of ports of a GPU that are compared, such as 1,2,4; each port is on a switch of its own.",
        verbs=VERB,
        otherwise="those of the job",
        metavar="LIST",
    ),
)

"""Options of circuits on ports: the arguments of `lightloom.circuits` other than the plan."""

from __future__ import annotations

from lightloom.inputs.options.option import Group, Kind, Option

VERB = ("circuits",)

CIRCUITS = (
    Option(
        name="optics",
        kind=Kind.OPTICS,
        group=Group.FABRIC,
        meaning="The switches: a kind such as crossbar or islands:4x2, or a TOML file.",
        verbs=VERB,
        otherwise="the switches that the plan was made for, or crossbar",
        names="optics",
        python="Optics",
    ),
)

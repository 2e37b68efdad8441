"""What a fabric is: arguments of `lightloom.Fabric`, keys of fabric files, and options of the verbs that plan."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, MOST, ON_FABRIC, Group, Kind, Option

FABRIC = (
    Option(
        name="gpus",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="GPUs.",
        otherwise="what dims, matrix, schedule or fabric say",
        least=LEAST["gpus"],
        most=MOST["gpus"],
        example="64",
    ),
    Option(
        name="dims",
        kind=Kind.DIMS,
        group=Group.FABRIC,
        meaning="Grid of the GPUs, such as 4x4x4; last dimension fastest.",
        otherwise="one dimension",
        python="a list of whole numbers",
    ),
    Option(
        name="ports",
        kind=Kind.WHOLE,
        group=Group.FABRIC,
        meaning="Circuits out of and into one GPU.",
        verbs=ON_FABRIC,
        default=1,
        least=LEAST["ports"],
        most=MOST["ports"],
    ),
    Option(
        name="bandwidth",
        kind=Kind.RATE,
        group=Group.FABRIC,
        meaning="Rate of one circuit.",
        verbs=ON_FABRIC,
        default="800Gbps",
        python="bit/s",
    ),
    Option(
        name="startup",
        kind=Kind.TIME,
        group=Group.FABRIC,
        meaning="Startup latency of a step.",
        verbs=ON_FABRIC,
        default="500ns",
        python="seconds",
    ),
    Option(
        name="hop_delay",
        kind=Kind.TIME,
        group=Group.FABRIC,
        meaning="Delay of one hop.",
        verbs=ON_FABRIC,
        default="500ns",
        python="seconds",
    ),
    Option(
        name="reconfiguration_delay",
        kind=Kind.DELAY,
        group=Group.FABRIC,
        meaning="Such as 10us, 20ns/port, 5us+20ns/port, one of `lightloom list technologies`, or by port, each on a "
        "switch of its own: 10us,10us,3ms,3ms.",
        verbs=ON_FABRIC,
        default="10us",
        names="technologies",
        python="seconds, a list by port",
    ),
    Option(
        name="initial",
        kind=Kind.TOPOLOGY,
        group=Group.FABRIC,
        meaning="Topology before the first step: free (the first is not charged), repeated (that of the last step: the "
        "plan runs again and again, every change is charged), a name or a file.",
        otherwise="free, or what the convention has",
        python="a graph or a Topology",
    ),
    Option(
        name="optics",
        kind=Kind.OPTICS,
        group=Group.FABRIC,
        meaning="What switches there are, where they limit topologies: islands:4x2 (4 GPUs behind 2 ports), mesh:16x16 "
        "(MZIs; every circuit needs a way), or a TOML file; see `lightloom list optics`.",
        otherwise="any topology of so many ports",
        names="optics",
        python="Optics",
    ),
    Option(
        name="background_reconfiguration",
        kind=Kind.YES_OR_NO,
        group=Group.EXPERT,
        meaning="Every port is a switch of its own: one that carried nothing during a step was set up meanwhile.",
        default=False,
    ),
    Option(
        name="window",
        kind=Kind.WINDOW,
        group=Group.EXPERT,
        meaning="Computation before a step, which hides a reconfiguration: 20us before every step, 1=20us,5=3us before "
        "those.",
        default=0.0,
        otherwise="none",
        python="seconds",
    ),
)

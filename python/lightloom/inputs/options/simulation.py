"""Options of a simulation: the arguments of `lightloom.simulate` other than the plan."""

from __future__ import annotations

from lightloom.inputs.options.option import Group, Kind, Option

VERB = ("simulate",)

SIMULATION = (
    Option(
        name="level",
        kind=Kind.CHOICE,
        group=Group.SIMULATION,
        meaning="Level of detail: single packets, or flows at fair rates.",
        verbs=VERB,
        default="packet",
        choices=("packet", "flow"),
    ),
    Option(
        name="packet_size",
        kind=Kind.SIZE,
        group=Group.SIMULATION,
        meaning="Payload of a packet.",
        verbs=VERB,
        default="4096B",
        python="bytes",
    ),
    Option(
        name="header_size",
        kind=Kind.SIZE,
        group=Group.SIMULATION,
        meaning="Header bytes of every packet, in addition to its payload.",
        verbs=VERB,
        default="0B",
        python="bytes",
    ),
    Option(
        name="injection",
        kind=Kind.CHOICE,
        group=Group.SIMULATION,
        meaning="A GPU sends its packets all at once (burst), or evenly over the time of the step's busiest link "
        "(paced).",
        verbs=VERB,
        default="burst",
        choices=("burst", "paced"),
    ),
    Option(
        name="forwarding",
        kind=Kind.CHOICE,
        group=Group.SIMULATION,
        meaning="A packet is forwarded once its last bit has arrived (store-and-forward), or its header (cut-through).",
        verbs=VERB,
        default="store-and-forward",
        choices=("store-and-forward", "cut-through"),
    ),
    Option(
        name="sync",
        kind=Kind.CHOICE,
        group=Group.SIMULATION,
        meaning="All GPUs finish a step before any begins the next (barrier), or each continues as soon as it can "
        "(dataflow).",
        verbs=VERB,
        default="barrier",
        choices=("barrier", "dataflow"),
    ),
    Option(
        name="barrier",
        kind=Kind.TIME,
        group=Group.SIMULATION,
        meaning="Time of a barrier between steps.",
        verbs=VERB,
        default="0s",
        python="seconds",
    ),
    Option(
        name="reconfiguration",
        kind=Kind.CHOICE,
        group=Group.SIMULATION,
        meaning="Circuits that are dark during a change: all (global), or only those that change (ports).",
        verbs=VERB,
        default="global",
        choices=("global", "ports"),
    ),
    Option(
        name="buffer",
        kind=Kind.SIZE,
        group=Group.SIMULATION,
        meaning="Receive buffer at the far end of each circuit, such as 64KiB.",
        verbs=VERB,
        otherwise="no limit",
        python="bytes",
    ),
    Option(
        name="congestion_control",
        kind=Kind.TEXT,
        group=Group.SIMULATION,
        meaning="Rule by which senders slow down when queues grow: a rate for each flow (dcqcn), a window for each "
        "(window), or none; the first two with settings, such as dcqcn:kmin=100KB,pmax=0.2.",
        verbs=VERB,
        default="none",
        metavar="none|dcqcn[:KEY=VALUE,...]|window[:KEY=VALUE,...]",
    ),
    Option(
        name="symmetry",
        kind=Kind.CHOICE,
        group=Group.EXPERT,
        meaning="Simulate one GPU for all that behave alike (quotient), or every GPU (full); the results are the same.",
        verbs=VERB,
        default="quotient",
        choices=("quotient", "full"),
    ),
)

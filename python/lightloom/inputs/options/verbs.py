"""Options of single verbs: how a sweep runs, which algorithms are listed, and what is verified."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, MOST, Group, Kind, Option

# Arguments of `lightloom.sweep`.
SWEEP = (
    Option(
        name="engine",
        kind=Kind.CHOICE,
        group=Group.RUN,
        meaning="Engine that computes a point: the cost model, a simulation of the plan (flow or packet), or the "
        "plan of a training iteration (train).",
        verbs=("sweep",),
        otherwise="the engine that the description names, else train where it names a workload, else model",
        choices=("model", "flow", "packet", "train"),
    ),
    Option(
        name="output",
        kind=Kind.FOLDER,
        group=Group.OUTPUT,
        meaning="Folder of the table and pictures; a sweep that was interrupted continues from the results in it.",
        verbs=("sweep",),
        otherwise="out/sweeps/NAME",
    ),
    Option(
        name="workers",
        kind=Kind.WHOLE,
        group=Group.RUN,
        meaning="Number of threads that compute.",
        verbs=("sweep",),
        otherwise="as many as there are cores",
        most=1024,
    ),
    Option(
        name="scheduler",
        kind=Kind.TEXT,
        group=Group.RUN,
        meaning="Compute on the workers of this Dask scheduler: tcp://HOST:8786.",
        verbs=("sweep",),
        metavar="ADDRESS",
    ),
    Option(
        name="restart",
        kind=Kind.FLAG,
        group=Group.RUN,
        meaning="Start anew where the folder holds results of another sweep.",
        verbs=("sweep",),
        default=False,
    ),
)

# Options that choose the algorithms which `list algorithms` shows.
LISTED = (
    Option(
        name="gpus",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="algorithms: show which accept N GPUs, with their steps and bytes.",
        verbs=("list",),
        least=LEAST["gpus"],
        most=MOST["gpus"],
    ),
    Option(
        name="collective",
        kind=Kind.NAME,
        group=Group.PROBLEM,
        meaning="algorithms: only those of this collective.",
        verbs=("list",),
        names="collectives",
    ),
    Option(
        name="dims",
        kind=Kind.DIMS,
        group=Group.PROBLEM,
        meaning="algorithms: show which accept a grid of AxBxC GPUs, with their steps and bytes.",
        verbs=("list",),
    ),
    Option(
        name="ports",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="algorithms: ports per GPU.",
        verbs=("list",),
        default=1,
        least=LEAST["ports"],
        most=MOST["ports"],
    ),
    Option(
        name="radix",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="algorithms: radix (base) of those that have one.",
        verbs=("list",),
        otherwise="2",
        least=LEAST["radix"],
        most=MOST["radix"],
        metavar="R",
    ),
    Option(
        name="aggregation",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="algorithms: blocks that one message of pat joins at most, a power of two.",
        verbs=("list",),
        otherwise="as many as it can",
        least=LEAST["aggregation"],
        most=MOST["aggregation"],
        metavar="A",
    ),
)

# References that `verify` holds schedules and circuits to.
VERIFIED = (
    Option(
        name="topology",
        kind=Kind.TOPOLOGY,
        group=Group.PROBLEM,
        meaning="Schedules: refuse a schedule that sends over anything but the links of this topology, one of "
        "`lightloom list topologies` or a file.",
        verbs=("verify",),
        metavar="NAME|FILE",
    ),
    Option(
        name="dims",
        kind=Kind.DIMS,
        group=Group.PROBLEM,
        meaning="Grid of the GPUs, for the topology.",
        verbs=("verify",),
    ),
    Option(
        name="ports",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Ports per GPU; the topology may use no more.",
        verbs=("verify",),
        default=1,
        least=LEAST["ports"],
        most=MOST["ports"],
    ),
    Option(
        name="plan",
        kind=Kind.FILE,
        group=Group.PROBLEM,
        meaning="Plan of a file of circuits, which are judged against it.",
        verbs=("verify",),
    ),
    Option(
        name="optics",
        kind=Kind.NAME,
        group=Group.FABRIC,
        meaning="Circuits: the switches, a kind such as islands:4x2.",
        verbs=("verify",),
        otherwise="the switches that the plan was made for, else crossbar, or parallel where there is a switch for "
        "each port",
        names="optics",
        metavar="KIND",
    ),
)

# The fault that `fallbacks` looks up.
LOOKED_UP = (
    Option(
        name="failed",
        kind=Kind.TEXT,
        group=Group.FABRIC,
        meaning="The fault whose plan is looked up, such as port:3.1 or link:0-7, as `plan --failed` takes it.",
        verbs=("fallbacks",),
        metavar="FAULT",
    ),
)

# Options of only the command line: outputs and their formats.

"""What single verbs take beside a problem: how a sweep runs, which algorithms are listed, what is written and how."""

from __future__ import annotations

from lightloom.inputs.options.option import PLANNING, Group, Kind, Option

PICTURES = "a .png, .pdf or .svg"

# Arguments of `lightloom.sweep`.
SWEEP = (
    Option(
        name="engine",
        kind=Kind.CHOICE,
        group=Group.RUN,
        meaning="The cost model, or plans that are simulated.",
        verbs=("sweep",),
        otherwise="what the description says, or model",
        choices=("model", "flow", "packet"),
    ),
    Option(
        name="output",
        kind=Kind.FOLDER,
        group=Group.OUTPUT,
        meaning="Where the table and pictures go; a run that was stopped goes on from what is there.",
        verbs=("sweep",),
        otherwise="out/sweeps/NAME",
    ),
    Option(
        name="workers",
        kind=Kind.WHOLE,
        group=Group.RUN,
        meaning="Threads that compute.",
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

# Which algorithms `list algorithms` shows.
LISTED = (
    Option(
        name="gpus",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="algorithms: say which accept so many GPUs, their steps and bytes.",
        verbs=("list",),
        least=2,
    ),
    Option(
        name="collective",
        kind=Kind.NAME,
        group=Group.PROBLEM,
        meaning="algorithms: only those of this collective.",
        verbs=("list",),
        names="collectives",
    ),
    Option(name="dims", kind=Kind.DIMS, group=Group.PROBLEM, meaning="algorithms: grid of the GPUs.", verbs=("list",)),
    Option(
        name="ports",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="algorithms: ports per GPU.",
        verbs=("list",),
        default=1,
    ),
    Option(
        name="radix",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="algorithms: base of those that have one.",
        verbs=("list",),
        otherwise="2",
        least=2,
        metavar="R",
    ),
)

# What `verify` holds schedules to.
VERIFIED = (
    Option(
        name="topology",
        kind=Kind.TOPOLOGY,
        group=Group.PROBLEM,
        meaning="Schedules: refuse one that sends over anything but the links of this topology, of `lightloom list "
        "topologies` or a file.",
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
        meaning="Ports per GPU, for the topology.",
        verbs=("verify",),
        default=1,
    ),
)

# Of the command line alone: what is written, and how.
OUTPUT = (
    Option(
        name="sizes",
        kind=Kind.TEXT,
        group=Group.PROBLEM,
        meaning="Plan many sizes, a row for each: 1KiB:1GiB doubles, 1KiB:1GiB:4 multiplies by 4; /pair may follow.",
        verbs=("plan",),
        metavar="FROM:TO[:F]",
    ),
    Option(
        name="baselines",
        kind=Kind.YES_OR_NO,
        group=Group.OUTPUT,
        meaning="Also plan with every other planner, each at its best algorithm.",
        verbs=("plan",),
        default=True,
    ),
    Option(
        name="benchmark",
        kind=Kind.NAME,
        group=Group.PROBLEM,
        meaning="Compare at every point of one of `lightloom list benchmarks`.",
        verbs=("compare",),
        names="benchmarks",
        former=("--grid",),
    ),
    Option(
        name="output",
        kind=Kind.FOLDER,
        group=Group.OUTPUT,
        meaning="Where a benchmark's points and heat maps go.",
        verbs=("compare",),
        otherwise="out/benchmarks",
    ),
    Option(
        name="all",
        kind=Kind.FLAG,
        group=Group.OUTPUT,
        meaning="Tables: every planner with every algorithm, not only its best, and all that could not be served.",
        verbs=("compare",),
        default=False,
    ),
    Option(
        name="all_steps",
        kind=Kind.FLAG,
        group=Group.OUTPUT,
        meaning="Tables: a row for every step, also where steps are equal.",
        verbs=("plan", "simulate"),
        default=False,
    ),
    Option(
        name="all_connections",
        kind=Kind.FLAG,
        group=Group.OUTPUT,
        meaning="Tables: with every connection of every configuration.",
        verbs=("circuits",),
        default=False,
    ),
    Option(
        name="links",
        kind=Kind.FLAG,
        group=Group.OUTPUT,
        meaning="JSON: with the use of every circuit.",
        verbs=("simulate",),
        default=False,
    ),
    Option(
        name="explain",
        kind=Kind.FLAG,
        group=Group.OUTPUT,
        meaning="JSON: with the difference to the plan's time, part by part; tables have it.",
        verbs=("simulate",),
        default=False,
    ),
    Option(
        name="output",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning="Also write the plan as JSON; nothing is written when planning fails.",
        verbs=("plan",),
    ),
    Option(
        name="output",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning="Also write the circuits as JSON.",
        verbs=("circuits",),
    ),
    Option(
        name="output",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning="Also write a fabric file, a .toml that --fabric takes.",
        verbs=("calibrate",),
    ),
    Option(
        name="trace",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning="Also write a trace for Perfetto: a .json or .json.gz.",
        verbs=("simulate",),
    ),
    Option(
        name="plot",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning=f"Also draw topologies and costs: {PICTURES}.",
        verbs=("plan",),
    ),
    Option(
        name="plot",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning=f"Also draw when GPUs send and wait: {PICTURES}.",
        verbs=("simulate",),
    ),
    Option(
        name="plot",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning=f"Also draw what ports are joined to, and what changes: {PICTURES}.",
        verbs=("circuits",),
    ),
    Option(
        name="plot",
        kind=Kind.FILE,
        group=Group.OUTPUT,
        meaning=f"Also draw the measured times and the fit: {PICTURES}.",
        verbs=("calibrate",),
    ),
    Option(
        name="plot",
        kind=Kind.CHOICE,
        group=Group.OUTPUT,
        meaning="What pictures are written as.",
        verbs=("sweep",),
        default="png",
        choices=("png", "svg", "pdf"),
    ),
    Option(
        name="format",
        kind=Kind.CHOICE,
        group=Group.OUTPUT,
        meaning="For people, for programs, or rows for spreadsheets.",
        verbs=(*PLANNING, "verify", "simulate", "circuits", "sweep", "list"),
        default="table",
        choices=("table", "json", "csv"),
    ),
    Option(
        name="format",
        kind=Kind.CHOICE,
        group=Group.OUTPUT,
        meaning="For people or for programs.",
        verbs=("calibrate", "export"),
        default="table",
        choices=("table", "json"),
    ),
)

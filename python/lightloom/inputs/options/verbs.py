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

# Of the command line alone: what is written, and how.
OUTPUT = (
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
        name="seed",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="Nothing is random; kept in the output so that runs can be told apart.",
        verbs=("simulate",),
        default=0,
        least=0,
        most=(1 << 64) - 1,
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
        meaning="For people or for programs.",
        verbs=(*PLANNING, "verify", "simulate", "calibrate", "sweep", "list"),
        default="table",
        choices=("table", "json"),
    ),
)

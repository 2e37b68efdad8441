"""Options of jobs on one fabric: the arguments of `lightloom.place_jobs` other than the jobs and the fabric."""

from __future__ import annotations

from lightloom.inputs.options.option import LEAST, Group, Kind, Option

VERB = ("jobs",)

JOBS = (
    Option(
        name="gpus",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Number of GPUs of the fabric.",
        verbs=VERB,
        least=LEAST["gpus"],
        most=4096,
        otherwise="the number that dims or fabric gives",
        example="64",
    ),
    Option(
        name="dims",
        kind=Kind.DIMS,
        group=Group.FABRIC,
        meaning="Sizes of the wired torus, such as 4x4x4.",
        verbs=VERB,
        otherwise="the most equal sizes, a dimension for every two ports",
        python="a list of whole numbers",
    ),
    Option(
        name="order",
        kind=Kind.CHOICE,
        group=Group.PLANNER,
        meaning="Which waiting job starts first: arrival, first come, first served; backfill, jobs that fit go ahead "
        "of those that do not; shortest-first; search, the order with the least mean completion time that is found.",
        verbs=VERB,
        default="arrival",
        choices=("arrival", "backfill", "shortest-first", "search"),
    ),
    Option(
        name="sharing",
        kind=Kind.TEXT,
        group=Group.PLANNER,
        meaning="Ways to share the fabric: wired, own, changing, turns, together, with commas between them.",
        verbs=VERB,
        otherwise="all",
        metavar="LIST",
    ),
    Option(
        name="turn",
        kind=Kind.TIME,
        group=Group.PLANNER,
        meaning="Least time of a turn of jobs that share GPUs in turns, in whole iterations.",
        verbs=VERB,
        default="1s",
        python="seconds",
    ),
)

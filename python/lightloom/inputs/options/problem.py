"""What is planned, and how: the rows of the verbs that plan, and the same as typed keyword arguments of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

from lightloom.inputs.options.option import LEAST, MOST, ON_FABRIC, Group, Kind, Option

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from lightloom import _core
    from lightloom.inputs.graphs import TopologyLike

    Topologies: TypeAlias = TopologyLike | Sequence[TopologyLike]

# Arguments that `plan` and its like have by name.
ARGUMENTS = (
    Option(
        name="collective",
        kind=Kind.NAME,
        group=Group.PROBLEM,
        meaning="all-reduce, reduce-scatter, all-gather, all-to-all or broadcast.",
        names="collectives",
        example="all-reduce",
    ),
    Option(
        name="size",
        kind=Kind.SIZE,
        group=Group.PROBLEM,
        meaning="One rank's whole buffer, such as 64MiB or 1KB; 32MiB/pair for all-to-all.",
        example="64MiB",
        python="bytes",
    ),
    Option(
        name="fabric",
        kind=Kind.FABRIC,
        group=Group.FABRIC,
        meaning="TOML file, or one of `lightloom list fabrics`; the options below override it.",
        verbs=ON_FABRIC,
        default="default",
        names="fabrics",
        python="a Fabric",
    ),
)

# Keyword arguments of everything that plans: `Settings`.
SETTINGS = (
    Option(
        name="root",
        kind=Kind.WHOLE,
        group=Group.PROBLEM,
        meaning="Broadcast: the rank whose buffer it is.",
        otherwise="0",
        least=LEAST["root"],
        most=MOST["root"],
        metavar="RANK",
    ),
    Option(
        name="matrix",
        kind=Kind.MATRIX,
        group=Group.PROBLEM,
        meaning="All-to-All matrix of bytes, row = source, column = destination: CSV or NPY; or one of `lightloom list "
        "workloads`, such as zipf:0.4. The size is then that of the busiest GPU's buffer, or with /pair the mean of "
        "the pairs.",
        names="workloads",
        python="an array",
    ),
    Option(
        name="schedule",
        kind=Kind.FILE,
        group=Group.PROBLEM,
        meaning="Schedule whose steps are planned, in place of an algorithm: MSCCL XML, or what else `lightloom list "
        "formats` reads.",
        python="a Schedule",
    ),
    Option(
        name="algorithm",
        kind=Kind.NAME,
        group=Group.PLANNER,
        meaning="One of `lightloom list algorithms`, or auto: the fastest.",
        default="auto",
        names="algorithms",
        others=("auto",),
    ),
    Option(
        name="planner",
        kind=Kind.NAME,
        group=Group.PLANNER,
        meaning="One of `lightloom list planners`; auto: the fastest of all; auto-given: the fastest of those that are "
        "given an algorithm.",
        default="auto",
        names="planners",
        others=("auto", "auto-given"),
    ),
    Option(
        name="candidates",
        kind=Kind.TOPOLOGIES,
        group=Group.PLANNER,
        meaning="Topologies that the planner may use: of `lightloom list candidates` and `topologies`, or files.",
        otherwise="all families",
        python="a graph, a Topology, or a list of any of these",
    ),
    Option(
        name="topology",
        kind=Kind.TOPOLOGIES,
        group=Group.PLANNER,
        meaning="Topologies of which the static planner takes the best: of `lightloom list topologies`, or files "
        "(.edgelist, .csv and .txt with `src dst [count]` a line, .graphml).",
        otherwise="static-baselines",
        python="a graph, a Topology, or a list of any of these",
    ),
    Option(
        name="routing",
        kind=Kind.NAME,
        group=Group.EXPERT,
        meaning="How traffic is put on paths: one of `lightloom list routings`.",
        otherwise="concurrent-flow",
        names="routings",
    ),
    Option(
        name="convention",
        kind=Kind.NAME,
        group=Group.EXPERT,
        meaning="A paper's routing and initial topology where none are given: one of `lightloom list conventions`.",
        otherwise="harvest, or that of the planner's name",
        names="conventions",
    ),
    Option(
        name="overlap",
        kind=Kind.NAME,
        group=Group.EXPERT,
        meaning="Whether packets overlap hop delays: one of `lightloom list overlaps`.",
        otherwise="additive",
        names="overlaps",
    ),
    Option(
        name="radix",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="Base of the algorithms that have one.",
        otherwise="2",
        least=LEAST["radix"],
        most=MOST["radix"],
        metavar="R",
    ),
    Option(
        name="chunk_size",
        kind=Kind.SIZE,
        group=Group.EXPERT,
        meaning="Chunks in which All-to-All planners forward blocks, by index, such as 4MB.",
        otherwise="whole blocks",
        python="bytes",
    ),
    Option(
        name="optical_ports",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="Optical ports of the fabric, both directions, where there are fewer than two per GPU: planner bridge.",
        otherwise="every GPU has its own",
        least=LEAST["optical_ports"],
        most=MOST["optical_ports"],
    ),
    Option(
        name="seed",
        kind=Kind.WHOLE,
        group=Group.EXPERT,
        meaning="Seed of everything random.",
        default=0,
        least=LEAST["seed"],
        most=MOST["seed"],
    ),
)


class Settings(TypedDict, total=False):
    """What `plan`, `compare`, `bound` and `Problem` take beside the collective, the size and the fabric.

    A key a row of `SETTINGS`, which says what each of them means, and so does docs/reference/options.md.
    """

    root: int | None
    matrix: str | os.PathLike[str] | ArrayLike | None
    schedule: str | os.PathLike[str] | _core.Schedule | None
    algorithm: str | None
    planner: str | None
    candidates: Topologies | None
    topology: Topologies | None
    routing: str | None
    convention: str | None
    overlap: str | None
    radix: int | None
    chunk_size: str | float | None
    optical_ports: int | None
    seed: int


# Keyword arguments of `plan` alone, by its signature.
OF_PLAN = (
    Option(
        name="budget",
        kind=Kind.TIME,
        group=Group.EXPERT,
        meaning="Time of planner weave's local search (plans of up to 32 steps, routed by concurrent flow), none by "
        "default; of planner exact's proof, 60s.",
        verbs=("plan",),
    ),
    Option(
        name="invariant_under",
        kind=Kind.TEXT,
        group=Group.EXPERT,
        meaning="Planner exact: only topologies that translations by N keep, or xor:N; 16 GPUs become tractable.",
        verbs=("plan",),
        metavar="N",
        python="a whole number",
    ),
    Option(
        name="sequence",
        kind=Kind.FILE,
        group=Group.PLANNER,
        meaning="In place of a planner: the topology of every step as HARVEST's schedule.json has it, whose stated "
        "time is shown beside. With collective.json in its folder, that is the schedule, and says the size.",
        verbs=("plan",),
        metavar="FILE|FOLDER",
    ),
)

"""The options that say what is planned, shared by the verbs that plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from lightloom.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = TypeVar("Command", bound=Callable[..., Any])


def _option(
    name: str, metavar: str, help_text: str, default: object = None, *, kind: type[int] | None = None
) -> Callable[[Command], Command]:
    # The default is only shown: a value that was not given must not override the fabric file.
    shown = help_text if default is None else f"{help_text}  [default: {default}]"
    return click.option(name, metavar=metavar, type=kind, help=shown)


PROBLEM_OPTIONS = (
    _option("--collective", "NAME", "all-reduce, reduce-scatter, all-gather, all-to-all or broadcast."),
    _option("--size", "SIZE", "One rank's whole buffer, such as 64MiB or 1KB; 32MiB/pair for all-to-all."),
    _option("--gpus", "N", "GPUs.", "what dims, matrix or schedule say", kind=int),
    _option("--dims", "AxBxC", "Grid of the GPUs, such as 4x4x4; last dimension fastest.", "one dimension"),
    _option("--ports", "N", "Circuits out of and into one GPU.", Fabric.ports, kind=int),
    _option("--bandwidth", "RATE", "Rate of one circuit.", Fabric.bandwidth),
    _option("--startup", "TIME", "Start-up latency of a step.", Fabric.startup),
    _option("--hop-delay", "TIME", "Delay of one hop.", Fabric.hop_delay),
    _option(
        "--reconfiguration-delay",
        "TIME",
        "Such as 10us, 20ns/port, 5us+20ns/port, or one of `lightloom list technologies`.",
        Fabric.reconfiguration_delay,
    ),
    click.option(
        "--background-reconfiguration/--no-background-reconfiguration",
        default=None,
        help="Every port is a switch of its own: one that carried nothing during a step was set up meanwhile.  "
        "[default: no]",
    ),
    _option(
        "--window",
        "TIME",
        "Computation before a step, which hides a reconfiguration: 20us before every step, 1=20us,5=3us before those.",
        "none",
    ),
    _option(
        "--initial",
        "NAME",
        "Topology before the first step: free (no charge), a name or a file.",
        "free, or what the convention has",
    ),
    _option("--fabric", "FILE", "TOML file, or one of `lightloom list fabrics`; options override it.", "default"),
    _option("--algorithm", "NAME", "One of `lightloom list algorithms`, or auto: the fastest.", "auto"),
    _option("--radix", "R", "Base of the algorithms that have one.", "2", kind=int),
    _option("--planner", "NAME", "One of `lightloom list planners`, or auto: the fastest.", "auto"),
    _option(
        "--candidates",
        "LIST",
        "Topologies that the planner may use: of `lightloom list candidates` and `topologies`, or files.",
        "all families",
    ),
    _option(
        "--topology",
        "LIST",
        "Topologies of which the static planner takes the best: of `lightloom list topologies`, or files "
        "(.edgelist, .csv and .txt with `src dst [count]` a line, .graphml).",
        "static-baselines",
    ),
    _option("--routing", "NAME", "How traffic is put on paths: one of `lightloom list routings`.", "concurrent-flow"),
    _option(
        "--convention",
        "NAME",
        "A paper's routing and initial topology where none are given: one of `lightloom list conventions`.",
        "harvest, or that of the planner's name",
    ),
    _option("--overlap", "NAME", "Whether packets overlap hop delays: one of `lightloom list overlaps`.", "additive"),
    _option(
        "--matrix",
        "FILE",
        "All-to-All matrix of bytes, row = source, column = destination: CSV or NPY; or one of `lightloom list "
        "workloads`, such as zipf:0.4.",
    ),
    _option("--schedule", "FILE", "MSCCL XML whose steps are planned, in place of an algorithm."),
    _option(
        "--chunk-size",
        "SIZE",
        "Chunks in which All-to-All planners forward blocks, such as 4MB.",
        "whole blocks",
    ),
    _option(
        "--optical-ports",
        "N",
        "Optical ports of the fabric, both directions, where there are fewer than two per GPU: planner bridge.",
        "every GPU has its own",
        kind=int,
    ),
    _option("--seed", "N", "Seed of everything random.", 0, kind=int),
)

FORMAT_OPTION = click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="For people or for programs.",
)

_FABRIC_KEYS = (
    "gpus",
    "dims",
    "ports",
    "bandwidth",
    "startup",
    "hop_delay",
    "reconfiguration_delay",
    "background_reconfiguration",
    "window",
    "initial",
)


def problem_options(command: Command) -> Command:
    """Add every option of the problem to a command, in the order of the list."""
    for option in reversed(PROBLEM_OPTIONS):
        command = option(command)
    return command


def problem_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The options as arguments of `lightloom.plan`: the fabric's own joined into a `Fabric`."""
    overrides = {key: options.pop(key) for key in _FABRIC_KEYS}
    fabric = options.pop("fabric")
    seed = options.pop("seed")
    return {
        **options,
        "fabric": Fabric.load("default" if fabric is None else fabric, **overrides),
        "seed": 0 if seed is None else seed,
    }

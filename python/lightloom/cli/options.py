"""The options that say what is planned, shared by the verbs that plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from lightloom.fabric import Fabric

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULTS = {
    name: getattr(Fabric, name)
    for name in ("ports", "bandwidth", "startup", "hop_delay", "reconfiguration_delay", "initial")
}


def _text(name: str, help_text: str, default: object = None, metavar: str = "TEXT") -> Callable[[Command], Command]:
    # The default is only shown: a value that was not given must not override the fabric file.
    return click.option(
        name, metavar=metavar, show_default=str(default) if default is not None else False, help=help_text
    )


PROBLEM_OPTIONS = (
    _text(
        "--collective",
        "all-reduce, reduce-scatter, all-gather, all-to-all or broadcast.",
        "what the schedule or matrix says",
        "NAME",
    ),
    _text(
        "--size",
        "One rank's whole buffer, such as 64MiB or 1KB; 32MiB/pair for all-to-all.",
        "what the matrix says",
        "SIZE",
    ),
    click.option(
        "--gpus",
        type=click.IntRange(2),
        metavar="N",
        show_default="what dims, the matrix or the schedule say",
        help="Number of GPUs.",
    ),
    _text("--dims", "Grid of the GPUs, such as 4x4x4; last dimension fastest.", "one dimension", "AxBxC"),
    click.option(
        "--ports",
        type=click.IntRange(1),
        metavar="N",
        show_default=str(DEFAULTS["ports"]),
        help="Circuits in and out of one GPU.",
    ),
    _text("--bandwidth", "Rate of one circuit.", DEFAULTS["bandwidth"], "RATE"),
    _text("--startup", "Start-up latency of a step.", DEFAULTS["startup"], "TIME"),
    _text("--hop-delay", "Delay of one hop.", DEFAULTS["hop_delay"], "TIME"),
    _text(
        "--reconfiguration-delay",
        "10us, 20ns/port, 5us+20ns/port, or a technology of `lightloom list technologies`.",
        DEFAULTS["reconfiguration_delay"],
        "TIME",
    ),
    _text(
        "--initial",
        "Topology before the first step: free (no charge), a name, or a file.",
        DEFAULTS["initial"],
        "NAME|FILE",
    ),
    _text(
        "--fabric",
        "TOML file, or preset of `lightloom list fabrics`; the options above override it.",
        "default",
        "FILE|PRESET",
    ),
    _text("--algorithm", "Algorithm of `lightloom list algorithms`, or auto: the fastest.", "auto", "NAME"),
    click.option(
        "--radix",
        type=click.IntRange(2),
        metavar="R",
        show_default="the algorithm's",
        help="Base of the algorithms that have one.",
    ),
    _text(
        "--candidates",
        "Topologies the planner may use: families and names of `lightloom list candidates` and `topologies`, files (.edgelist, .csv, .txt, .graphml).",
        "all families",
        "LIST",
    ),
    _text(
        "--topology",
        "Topologies of which the static planner takes the best; names or files.",
        "the planner's own list",
        "LIST",
    ),
    _text("--routing", "How traffic is put on paths: a name of `lightloom list routings`.", "concurrent-flow", "NAME"),
    _text("--convention", "A paper's assumptions: a name of `lightloom list conventions`.", "the planner's", "NAME"),
    _text("--matrix", "All-to-All matrix of bytes, row = source: CSV or NPY.", None, "FILE"),
    _text("--schedule", "MSCCL XML to plan topologies for, in place of an algorithm.", None, "FILE"),
    click.option(
        "--seed", type=click.IntRange(0), metavar="N", default=0, show_default=True, help="Seed of everything random."
    ),
)

FORMAT_OPTION = click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="For people or for programs.",
)

_FABRIC_KEYS = ("gpus", "dims", "ports", "bandwidth", "startup", "hop_delay", "reconfiguration_delay", "initial")


def problem_options(command: Command) -> Command:
    """Add every option of the problem to a command, in the order of the list."""
    for option in reversed(PROBLEM_OPTIONS):
        command = option(command)
    return command


def problem_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The options as arguments of `lightloom.plan`: the fabric's own joined into a `Fabric`."""
    overrides = {key: options.pop(key) for key in _FABRIC_KEYS}
    fabric = Fabric.load(options.pop("fabric") or "default", **overrides)
    return {**options, "fabric": fabric}

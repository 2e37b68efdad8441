"""The verb `simulate`."""

from __future__ import annotations

from typing import Any

import click

from lightloom.cli.options import FORMAT_OPTION
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import with_progress


@click.command("simulate", short_help="Simulate a plan.")
@click.argument("plan", metavar="PLAN")
@click.option("--level", metavar="packet|flow", default="packet", show_default=True, help="What is followed.")
@click.option("--packet-size", metavar="SIZE", default="4096B", show_default=True, help="Payload of a packet.")
@click.option("--header-size", metavar="SIZE", default="0B", show_default=True, help="Bytes beside every payload.")
@click.option(
    "--injection",
    metavar="burst|paced",
    default="burst",
    show_default=True,
    help="A GPU hands over its packets all at once, or evenly over the time of the step's busiest link.",
)
@click.option(
    "--forwarding",
    metavar="store-and-forward|cut-through",
    default="store-and-forward",
    show_default=True,
    help="A packet goes on once its last bit, or its header, is there.",
)
@click.option(
    "--sync",
    metavar="barrier|dataflow",
    default="barrier",
    show_default=True,
    help="All GPUs finish a step before any begins the next, or each goes on when it can.",
)
@click.option("--barrier", metavar="TIME", default="0s", show_default=True, help="Time of a barrier between steps.")
@click.option(
    "--reconfiguration",
    metavar="global|ports",
    default="global",
    show_default=True,
    help="All circuits are dark during a change, or those that change.",
)
@click.option(
    "--buffer",
    metavar="SIZE",
    show_default="no limit",
    help="Bytes on their way that the far end of a circuit can hold, such as 64KiB.",
)
@click.option(
    "--symmetry",
    metavar="quotient|full",
    default="quotient",
    show_default=True,
    help="One GPU stands for all that are like it, or every GPU is simulated; the results are the same.",
)
@click.option(
    "--seed",
    metavar="N",
    type=int,
    default=0,
    show_default=True,
    help="Nothing is random; kept in the output so that runs can be told apart.",
)
@click.option("--links", is_flag=True, help="JSON: with the use of every circuit.")
@click.option(
    "--explain", is_flag=True, help="JSON: with the difference to the plan's time, part by part; tables have it."
)
@click.option("--trace", metavar="FILE", help="Also write a trace for Perfetto: a .json or .json.gz.")
@click.option("--plot", metavar="FILE", help="Also draw when GPUs send and wait: a .png, .pdf or .svg.")
@FORMAT_OPTION
def command(
    plan: str,
    seed: int,
    links: bool,
    explain: bool,
    trace: str | None,
    plot: str | None,
    output_format: str,
    **settings: Any,
) -> None:
    """Simulate a PLAN (JSON) packet by packet, or flow by flow.

    The plan's own time adds up start-up, propagation, transmission and reconfiguration; the simulation follows its
    data through the circuits instead, and says what makes up the difference. A plan that `verify` refuses is refused.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --output plan.json
      lightloom simulate plan.json
      lightloom simulate plan.json --header-size 64B --forwarding cut-through --sync dataflow --format json
      lightloom simulate plan.json --trace trace.json.gz --plot timeline.png
    """  # noqa: D301
    from lightloom.requests import MAX_SEED
    from lightloom.simulation import simulate
    from lightloom.whole import whole_number

    seed = whole_number("seed", seed, 0, MAX_SEED)
    if trace is not None:
        from lightloom.tracing import check_trace_path

        check_trace_path(trace)
    if plot is not None:
        from lightloom.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    simulation = with_progress("simulating", lambda: simulate(plan, **settings))
    if output_format == "json":
        text = with_progress("explaining", lambda: simulation.to_json(seed=seed, links=links, explain=explain))
    else:
        from lightloom.views.tables.simulation import simulation_table

        text = with_progress("explaining", lambda: simulation_table(simulation))
    if trace is not None:
        with_progress("writing the trace", lambda: simulation.trace(trace))
    if plot is not None:
        simulation.plot(plot)
    click.echo(text)

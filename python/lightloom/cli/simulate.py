"""The verb `simulate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import refuse
from lightloom.cli.clocks import is_timeline_file, simulated_timeline
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import with_progress
from lightloom.cli.uncertain import sampled_text, take_uncertain
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom.simulation.iterations import TrainingSimulation


@verb("simulate")
@click.argument("plan", metavar="PLAN", type=click.Path())
def command(
    plan: str,
    links: bool,
    explain: bool,
    all_steps: bool,
    trace: str | None,
    plot: str | None,
    output_format: str,
    **settings: Any,
) -> None:
    """Simulate a PLAN (JSON), or a training iteration (JSON), packet by packet, or flow by flow.

    The plan's own time adds up startup, propagation, transmission and reconfiguration; the simulation follows its
    data through the circuits instead, and says what makes up the difference. A plan that `verify` refuses is refused.

    With --uncertain, many runs are drawn in place of one: mean, p50, p95 and p99 of the completion time. Steps take
    what the plan says, or, with --level, what its packets or flows take.

    For a file of `train`, each plan is simulated, and the iteration is timed again with the simulated times: same order
    of events, ports and circuits.

    In a file of `plan --overlap asynchronous` each switch turns once its packets are through, and no packet leaves
    before its data and circuits are there. No packet leaves, and no switch turns, earlier than planned; with few
    packets a transmission may end earlier than in the timeline, whose rates are fluid.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --output plan.json
      lightloom simulate plan.json
      lightloom simulate plan.json --header-size 64B --forwarding cut-through --sync dataflow --format json
      lightloom simulate plan.json --packet-size 4096B --congestion-control dcqcn
      lightloom simulate plan.json --uncertain reconfiguration_delay=lognormal:0.3,straggler=0.01:3 --samples 10000
      lightloom simulate plan.json --trace trace.json.gz --plot timeline.png
      lightloom train bert-pccl --ranks 8 --output iteration.json
      lightloom simulate iteration.json --header-size 64B
    """  # noqa: D301
    from lightloom.simulation.iterations import TrainingSimulation
    from lightloom.simulation.simulator import simulate

    if trace is not None:
        from lightloom.views.perfetto.events import check_trace_path

        check_trace_path(trace)
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    # Nothing of one run is random; a seed is taken all the same.
    seed = settings.pop("seed", None)
    uncertain = take_uncertain(settings)
    if is_timeline_file(plan):
        of_plans = {"links": links, "explain": explain, "all_steps": all_steps, "trace": trace, "plot": plot}
        click.echo(simulated_timeline(plan, {**uncertain, **settings}, of_plans, output_format))
        return
    if uncertain:
        of_one_run = {"links": links, "explain": explain, "all_steps": all_steps, "trace": trace}
        _refuse_given(of_one_run, "it is of one run; it cannot be combined with --uncertain")
        given = {**uncertain, **given_of({"seed": seed}), **given_of(settings)}
        click.echo(sampled_text(plan, given, plot, output_format))
        return
    simulation = with_progress("simulating", lambda: simulate(plan, **given_of(settings)))
    if isinstance(simulation, TrainingSimulation):
        of_plans = {"links": links, "explain": explain, "all_steps": all_steps, "trace": trace, "plot": plot}
        _refuse_given(of_plans, "it is only for plans, and the file is a training iteration")
        click.echo(_iteration(simulation, output_format))
        return
    if output_format == "json":
        text = with_progress("explaining", lambda: simulation.to_json(links=links, explain=explain))
    elif output_format == "csv":
        text = as_csv(simulation.to_columns())
    else:
        from lightloom.views.tables.simulation import simulation_table

        text = with_progress("explaining", lambda: simulation_table(simulation, all_steps=all_steps))
    if trace is not None:
        with_progress("writing the trace", lambda: simulation.trace(trace))
    if plot is not None:
        simulation.plot(plot)
    click.echo(text)


def _refuse_given(options: dict[str, Any], reason: str) -> None:
    """Raise `InputError` that names the first option that was given, if there is one."""
    for field, value in options.items():
        if value:
            raise refuse(field, reason)


def _iteration(simulation: TrainingSimulation, output_format: str) -> str:
    if output_format == "json":
        return simulation.to_json()
    if output_format == "csv":
        return as_csv(simulation.to_columns())
    from lightloom.views.tables.training_simulation import training_simulation_table

    return training_simulation_table(simulation)

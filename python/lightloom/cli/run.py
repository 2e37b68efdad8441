"""The verb `run`."""

from __future__ import annotations

from typing import Any

import click

from lightloom._core import counted
from lightloom.base.files import MIB
from lightloom.cli.measurements import NOUNS, Use, check_use, measure_barriers, measure_events, measure_sends
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.cli.ranks import one_of_many
from lightloom.inputs.options import RUNNING, by_name
from lightloom.views.rows import as_csv


@verb("run")
@click.argument("plan", metavar="[PLAN|ITERATION|TIMELINE]", type=click.Path(), required=False)
def command(
    plan: str | None,
    all_steps: bool,
    output: str | None,
    trace: str | None,
    plot: str | None,
    output_format: str,
    calibrate: str | None,
    barriers: bool,
    most_ranks: int | None,
    rounds: int | None,
    **settings: Any,
) -> int:
    """Run a PLAN, a training ITERATION or a TIMELINE (JSON) on processes of this machine, with real bytes.

    There is a process for every rank, and one for the switch, which holds packets back by rate and delay and is dark
    while circuits change; or the kernel's network carries packets, and its filters are the circuits (root; no hop
    delay). All is slowed down by a dilation; times are divided by it again. By MPI, messages go as fast as they do,
    between ranks that mpiexec started, or else starts for the run, and by TCP among several --hosts; circuits are then
    those of a real --switch, or none.
    The data that ranks end with is compared with NumPy's result. On a machine too busy for its times to say anything
    the verdict is inconclusive. Exit status 1: elements are wrong, or a process or the switch failed.

    In an iteration, a computation is a wait; several communications of a rank may be under way at once, over circuits
    that change meanwhile.

    In a timeline of `plan --overlap asynchronous` each switch turns once all data over its circuits are through, and
    each transmission begins once its data and its circuits are there, no earlier than planned.

    With --calibrate, sends between two ranks are measured on the plan's fabric instead; with --barriers, what waiting
    for all costs.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 64KiB --gpus 4 --output plan.json
      lightloom run plan.json
      lightloom run plan.json --runs 20 --dtype bfloat16 --reduction max --format json
      lightloom run plan.json --plot timeline.png --trace trace.json.gz
      lightloom train bert-pccl --ranks 8 --output iteration.json
      lightloom run iteration.json --iterations 2 --plot timeline.png
      lightloom plan --collective all-to-all --size 16MiB --gpus 4 --overlap asynchronous --output timeline.json
      lightloom run timeline.json
      lightloom run plan.json --transport kernel
      mpiexec -n 4 lightloom run plan.json --transport mpi
      mpiexec -n 4 lightloom run plan.json --transport mpi --switch scpi://192.0.2.7
      LIGHTLOOM_SECRET=... lightloom run plan.json --transport tcp --hosts node1:2,node2:2 --launch none
      LIGHTLOOM_SECRET=... lightloom run plan.json --transport tcp --hosts node1:2,node2:2 --launch none --tls certs
      lightloom run plan.json --calibrate times.csv
      lightloom run --barriers --plot barriers.png
    """  # noqa: D301
    asked = {"calibrate": calibrate, "barriers": barriers, "most_ranks": most_ranks, "rounds": rounds}
    others = {"plan": plan, "all_steps": all_steps, "trace": trace, "plot": plot}
    use = check_use({**asked, **others, **settings})
    if use is Use.BARRIERS:
        return measure_barriers(output, plot, output_format, asked)
    assert plan is not None  # noqa: S101 (all other uses need one)
    if use in NOUNS:
        return measure_events(use, plan, output, plot, output_format, settings)
    _say_what_was_left(settings["transport"])
    if calibrate is not None:
        return measure_sends(plan, calibrate, output, output_format, settings)
    from lightloom.running.executor import run

    if trace is not None:
        from lightloom.views.perfetto.events import check_trace_path

        check_trace_path(trace)
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    status, runs = Status(), settings["runs"] or by_name(RUNNING)["runs"].default
    with one_of_many(settings["transport"]) as writes:
        measurement = with_progress(
            "running",
            lambda: run(plan, progress=lambda done: status.say(f"{done} of {runs} runs"), **given_of(settings)),
            status,
        )
    if not writes:
        return 1 if measurement.wrong else 0
    if output is not None:
        measurement.save(output)
    if trace is not None:
        with_progress("writing the trace", lambda: measurement.trace(trace))
    if plot is not None:
        measurement.plot(plot)
    if output_format == "json":
        text = measurement.to_json()
    elif output_format == "csv":
        text = as_csv(measurement.to_columns())
    else:
        from lightloom.views.tables.run import run_table

        text = run_table(measurement, all_steps=all_steps)
    click.echo(text)
    return 1 if measurement.wrong else 0


def _say_what_was_left(transport: str) -> None:
    """Remove what runs left that were killed, network namespaces or memory of an MPI's ranks, and say so."""
    if transport == "kernel":
        from lightloom.running.namespaces import remove_left

        if removed := remove_left():
            click.echo(f"removed {counted(removed, 'network namespace')} of runs that were killed", err=True)
    elif transport == "mpi":
        from lightloom.running import mpi_memory

        if (left := mpi_memory.remove_left()).files:
            said = f"{counted(left.files, 'file')} ({left.size_bytes / MIB:.1f} MiB) of {mpi_memory.FOLDER}"
            click.echo(f"removed {said} that ranks of an MPI had left", err=True)

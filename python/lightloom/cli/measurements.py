"""Measurements of the verb `run` instead of a plan: iterations, timelines, sends for `calibrate`, and barriers."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import refuse
from lightloom.cli.clocks import is_timeline_file
from lightloom.cli.options import given_of
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, with_progress
from lightloom.training.documents import is_training_file
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from collections.abc import Mapping


# Flags, which are False where they are left out; False is a value of other options.
FLAGS = {"all_steps", "barriers"}


# Options of --barriers alone.
BARRIERS_ALONE = {"most_ranks", "rounds"}
# Options of transport tcp alone.
OF_HOSTS = ("hosts", "launch", "agent_port", "tls")
# Options of a plan, each with the words for the option that an iteration has in its place.
INSTEAD_OF = {"runs": "--iterations says how many are measured"}


class Use(Enum):
    """The use that is asked for: by the option that selects it, and the options that do not go with it."""

    PLAN = (None, {"most_ranks", "rounds", "iterations", "scale"})
    ITERATION = (None, {"most_ranks", "rounds", "calibrate", "all_steps", "trace", "runs", "switch", *OF_HOSTS})
    TIMELINE = (
        None,
        {"most_ranks", "rounds", "calibrate", "all_steps", "trace", "plot", "iterations", "scale", "switch", *OF_HOSTS},
    )
    CALIBRATE = (
        "calibrate",
        {"all_steps", "trace", "plot", "dtype", "reduction", "switch", "packet_size", "seed", "warm_ups"}
        | {"most_ranks", "rounds", "iterations", "scale"},
    )
    BARRIERS = (
        "barriers",
        {"plan", "all_steps", "trace", "transport", "runs", "warm_ups", "dilation", "dtype", "reduction", "switch"}
        | {"packet_size", "real_time", "seed", "calibrate", "iterations", "scale", *OF_HOSTS},
    )

    def __init__(self, option: str | None, refused: set[str]) -> None:
        self.option = option
        self.refused = refused


# Uses whose bytes go through shared memory alone, with their nouns, and the settings of their runs.
NOUNS = {Use.ITERATION: "training iteration", Use.TIMELINE: "timeline"}
OF_BOTH = ("warm_ups", "dtype", "reduction", "dilation", "packet_size", "real_time", "seed")
SETTINGS = {Use.ITERATION: ("iterations", "scale", *OF_BOTH), Use.TIMELINE: ("runs", *OF_BOTH)}


def check_use(options: Mapping[str, Any]) -> Use:
    """The use that the given options select.

    Raises `InputError` that names an option that does nothing together with the others, or `plan`.
    """
    given = {name for name, value in options.items() if value is not None and not (value is False and name in FLAGS)}
    use = next((one for one in reversed(Use) if one.option in given), Use.PLAN)
    if use is not Use.BARRIERS and "plan" in given and is_training_file(options["plan"]):
        use = Use.ITERATION
    elif use is not Use.BARRIERS and "plan" in given and is_timeline_file(options["plan"]):
        use = Use.TIMELINE
    for name in sorted(given & use.refused):
        if name in BARRIERS_ALONE and use is not Use.CALIBRATE:
            raise refuse(name, "it is used only together with --barriers")
        if use is Use.PLAN and "plan" in given and not Path(options["plan"]).exists():
            raise refuse("plan", f"no such file: `{options['plan']}`")
        if use is Use.PLAN:
            raise refuse(name, "it is used only with a training iteration, and PLAN is not one")
        if use is Use.ITERATION:
            instead = f"; {instead}" if (instead := INSTEAD_OF.get(name)) else ""
            raise refuse(name, f"it cannot be combined with a training iteration{instead}")
        if use is Use.TIMELINE:
            raise refuse(name, "it cannot be combined with a timeline")
        taken = "no PLAN is taken" if name == "plan" else "it cannot be combined"
        raise refuse(name, f"{taken} with --{use.option}")
    if use in NOUNS and options.get("transport") not in {None, "shared-memory"}:
        raise refuse("transport", f"`{options['transport']}` carries no {NOUNS[use]}; it takes shared-memory")
    if use is not Use.BARRIERS and "plan" not in given:
        raise refuse("plan", "missing; give PLAN, such as: lightloom run plan.json")
    return use


def measure_sends(plan: str, path: str, output: str | None, output_format: str, settings: Mapping[str, Any]) -> int:
    """Write the file that `calibrate` reads, and show it."""
    from lightloom.running.sends import send_times
    from lightloom.views.tables.sends import sends_table

    if not path.endswith(".csv"):
        raise refuse("calibrate", f"`{path}` is not accepted; it takes a file that ends in .csv")
    check_outputs()
    given = given_of({name: settings[name] for name in ("transport", *OF_HOSTS, "runs", "dilation", "real_time")})
    status = Status()
    times = with_progress("measuring sends", lambda: send_times(plan, progress=status.say, **given), status)
    times.save_measurements(path)
    if output is not None:
        times.save(output)
    if output_format == "json":
        click.echo(times.to_json())
    else:
        click.echo(as_csv(times.to_columns()) if output_format == "csv" else sends_table(times))
    return 0


def measure_events(
    use: Use, path: str, output: str | None, plot: str | None, output_format: str, settings: Mapping[str, Any]
) -> int:
    """Run a training iteration or a timeline, and show how it compares with what was planned."""
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    run: Any
    shown: Any
    if use is Use.TIMELINE:
        from lightloom.clocks.runs.executor import run_timeline
        from lightloom.views.tables.timeline_run import timeline_run_table

        run, shown = run_timeline, timeline_run_table
    else:
        from lightloom.running.iterations.executor import run_iteration
        from lightloom.views.tables.iteration_run import iteration_run_table

        run, shown = run_iteration, iteration_run_table
    given = given_of({name: settings[name] for name in SETTINGS[use]})
    measurement = with_progress("running", lambda: run(path, **given), Status())
    if output is not None:
        measurement.save(output)
    if plot is not None:
        measurement.plot(plot)
    if output_format == "json":
        click.echo(measurement.to_json())
    else:
        click.echo(as_csv(measurement.to_columns()) if output_format == "csv" else shown(measurement))
    return 1 if measurement.wrong else 0


def measure_barriers(output: str | None, plot: str | None, output_format: str, settings: Mapping[str, Any]) -> int:
    """Measure all barriers, and show their costs."""
    from lightloom.running.barriers import barrier_costs
    from lightloom.views.tables.barriers import barriers_table

    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    given = given_of({name: settings[name] for name in ("most_ranks", "rounds")})
    status = Status()
    costs = with_progress("measuring barriers", lambda: barrier_costs(progress=status.say, **given), status)
    if output is not None:
        costs.save(output)
    if plot is not None:
        costs.plot(plot)
    if output_format == "json":
        click.echo(costs.to_json())
    else:
        click.echo(as_csv(costs.to_columns()) if output_format == "csv" else barriers_table(costs))
    return 0

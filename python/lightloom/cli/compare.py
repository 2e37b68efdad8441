"""The verb `compare`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import printable, refuse
from lightloom.base.files import usable_path
from lightloom.cli.faults import compared_faults
from lightloom.cli.options import given_of, problem_arguments, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import progress_bar, with_progress
from lightloom.cli.uncertain import sampled_plans, sampled_plans_text, take_uncertain
from lightloom.faults.kinds import names_kinds
from lightloom.views.documents import comparison_document

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom import Comparison
    from lightloom.plans.comparison import Row


@verb("compare")
def command(
    output_format: str,
    benchmark: str | None,
    output: str | None,
    all_rows: bool,
    plot: str | None,
    **options: Any,
) -> None:
    """Plan the same problem by every planner and baseline, side by side, with the lower bound.

    Without --algorithm, every algorithm that accepts the problem is compared. Tables show the best of each planner, and
    say which terms of the time the fastest saves; --format json and csv have all.

    With --benchmark, the settings of a paper's evaluation are compared: at every size and reconfiguration delay the
    best of the papers' planners and baselines, the best plan of all, and its gap to the bound that holds for any
    algorithm. The points go to FOLDER/NAME.csv and FOLDER/NAME.png; a run that was interrupted goes on where it was.

    With --uncertain, the plans that planners give are compared by many runs: mean, p50, p95, p99 and regret of each.

    With --failed any-port (also any-receiver, any-link, any-switch, any-gpu), every planner plans for each single fault
    of that kind: time where everything works, mean and worst over all faults, the worst one, how many are not served.
    any-two:100 among the kinds adds a hundred pairs of these faults, drawn by a fixed seed.

    \b
    Examples:
      lightloom compare --collective all-reduce --size 1MiB --gpus 64 --reconfiguration-delay 1us
      lightloom compare --benchmark short-circuit
      lightloom compare --collective all-reduce --size 1MiB --gpus 8 --ports 2 --failed any-port,any-two:20
      lightloom compare --collective all-reduce --size 1MiB --gpus 64 --uncertain reconfiguration_delay=lognormal:1 \
        --objective p99 --plot runs.png
    """  # noqa: D301
    from lightloom.views.rows import as_csv

    if benchmark is not None:
        given = given_of(options)
        if given:
            raise refuse(
                next(iter(given)), "it cannot be combined with --benchmark, which takes only --output and --format"
            )
        _compare_benchmark(benchmark, output or "out/benchmarks", output_format)
        return
    if output is not None:
        raise refuse("output", "it is the folder of a benchmark's points; it is used only together with --benchmark")
    uncertain, of_faults = take_uncertain(options), names_kinds(options.get("failed"))
    _check_plot(plot, drawn=bool(uncertain) or of_faults)
    check_outputs()
    if of_faults:
        click.echo(compared_faults(options, {"uncertain": uncertain, "all": all_rows}, plot, output_format))
        return
    arguments = problem_arguments(options)
    if uncertain:
        if all_rows:
            raise refuse("all", "it cannot be combined with --uncertain, which shows the best plans of each planner")
        found = sampled_plans(arguments, uncertain)
        if plot is not None:
            found.plot(plot)
        click.echo(sampled_plans_text(found, output_format))
        return
    comparison = _compare_in_sight(arguments)
    if output_format == "json":
        click.echo(comparison_document(comparison))
    elif output_format == "csv":
        click.echo(as_csv(comparison.to_columns()))
    else:
        from lightloom.views.tables.comparison import comparison_table

        click.echo(comparison_table(comparison, arguments["fabric"], all_rows=all_rows))


def _check_plot(plot: str | None, *, drawn: bool) -> None:
    """Refuse a picture that cannot be written, or that nothing is drawn in."""
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
        if not drawn:
            raise refuse("plot", "it goes with --uncertain or --failed any-port, whose times are drawn")


def _compare_in_sight(arguments: dict[str, Any]) -> Comparison:
    """The comparison; rows found so far are shown on a terminal while it runs."""
    from lightloom.planning import compare
    from lightloom.plans.comparison import best_by_planner

    seen: list[Row] = []

    def found() -> RenderableType:
        from lightloom.views.tables.comparison import rows_table
        from lightloom.views.tables.page import width

        served = (row for row in seen.copy() if row.total_s is not None)
        return rows_table(best_by_planner(sorted(served, key=lambda row: row.total_s or 0.0)), width())

    return with_progress("comparing", lambda: compare(**arguments, report=seen.append), found=found)


def _compare_benchmark(name: str, folder: str, output_format: str) -> None:
    from lightloom.sweeps.benchmark_runs import run_benchmark, summary
    from lightloom.sweeps.benchmarks import find_benchmark
    from lightloom.views.pictures.benchmark import plot_benchmark
    from lightloom.views.tables.benchmark import benchmark_table

    benchmark = find_benchmark(name)
    target = usable_path("output", folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refuse("output", f"cannot make the folder `{folder}`: {error.strerror}") from error
    with progress_bar(f"benchmark {name}", benchmark.plans) as advance:
        points = with_progress(None, lambda: run_benchmark(benchmark, target, advance))
    plot_benchmark(points, f"{benchmark.summary} ({benchmark.source})", target / f"{name}.png")
    if output_format == "json":
        click.echo(
            json.dumps({"benchmark": name, **summary(points)._asdict(), "csv": str(target / f"{name}.csv")}, indent=1)
        )
    elif output_format == "csv":
        click.echo((target / f"{name}.csv").read_text("utf-8"), nl=False)
    else:
        click.echo(benchmark_table(points))
        click.echo(printable(f"points in {target / name}.csv, heat maps in {target / name}.png"))

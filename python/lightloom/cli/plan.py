"""The verb `plan`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from lightloom._core import show_time
from lightloom.base.errors import refuse
from lightloom.cli.clocks import ASYNCHRONOUS, planned_timeline
from lightloom.cli.faults import planned_fallbacks
from lightloom.cli.options import given_of, problem_arguments, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, progress_bar, with_progress
from lightloom.cli.repair import repaired_plan
from lightloom.cli.uncertain import sampled_plans, sampled_plans_text, take_uncertain
from lightloom.faults.kinds import names_kinds
from lightloom.inputs.options import OF_PLAN
from lightloom.inputs.quantities import seconds_of
from lightloom.views.documents import plan_document
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom.plans import Plan
    from lightloom.plans.better import BetterPlan

SIZES_SCHEMA = "lightloom.sizes/1"


@verb("plan")
def command(
    output: str | None,
    plot: str | None,
    output_format: str,
    baselines: bool,
    sizes: str | None,
    all_steps: bool,
    progress: bool,
    delays: str | None,
    tolerance: str | None,
    repair: str | None,
    **options: Any,
) -> None:
    """Plan a collective: its algorithm, the topology of every step, and when to pay for a reconfiguration.

    The plan is verified before it is shown: executed symbolically, its ports, paths and costs recomputed. Runs of equal
    steps share a row; --all-steps shows each.

    With --sizes, many sizes are planned, and there is a row for each: time, algbw, busbw, what was chosen. --output is
    then a folder with the plan of each.

    With --delays as well, there is a table of few plans for all sizes and reconfiguration delays between the ends, for
    systems that choose a plan at each call by the delay that they measure: --output is its file, --plot a map.

    With --uncertain, the plan is chosen by --objective from many runs of the planners' plans, which are shown below it.

    With --failed any-port (also any-receiver, any-link, any-switch, any-gpu), there is a plan for each single fault of
    that kind: --output is the file of all, in which `fallbacks` looks one up; a run that was interrupted goes on.

    With --repair PLAN, that plan is mended for the faults of --failed, so that few of its circuits change.

    With --overlap asynchronous, every switch turns on a clock of its own, while others carry: what is planned is a
    timeline, --output is its file, and --plot a row a switch.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 64MiB --gpus 64
      lightloom plan --collective all-reduce --sizes 1KiB:1GiB:4 --gpus 64
      lightloom plan --collective all-reduce --sizes 64KiB:64MiB --gpus 8 --output plans
      lightloom plan --collective all-reduce --sizes 64KiB:1GiB --delays 1us:10ms --gpus 8 --output table.json
      lightloom plan --collective all-to-all --size 1MiB/pair --gpus 16 --ports 2 --fabric mems-3d --format json
      lightloom plan --collective reduce-scatter --size 1GB --dims 4x4x4 --ports 6 --algorithm swing --output plan.json
      lightloom plan --collective all-to-all --size 64MiB --dims 8x8 --ports 2 --planner bridge
      lightloom plan --collective all-reduce --size 4MiB --gpus 8 --algorithm swing --planner exact
      lightloom plan --collective all-to-all --matrix zipf:0.4 --size 1MiB/pair --gpus 64 --ports 4 --progress
      lightloom plan --repair plan.json --failed port:5.1,receiver:5.1 --output mended.json
      lightloom plan --collective all-to-all --matrix zipf:0.4 --size 1MiB/pair --gpus 16 --ports 4 \
        --overlap asynchronous
      lightloom plan --collective all-reduce --size 1MiB --gpus 64 --uncertain reconfiguration_delay=lognormal:1 \
        --objective p99
    """  # noqa: D301
    _check_ranges(sizes, delays, tolerance)
    uncertain = take_uncertain(options)
    if repair is not None:
        named = {"sizes": sizes, "progress": progress or None, **uncertain, **options}
        _check_plot(plot)
        check_outputs()
        _write(*repaired_plan(repair, named, output_format, baselines=baselines, all_steps=all_steps), output, plot)
        return
    if names_kinds(options.get("failed")):
        others = {"plot": plot, "sizes": sizes, "uncertain": uncertain, "all_steps": all_steps, "progress": progress}
        click.echo(planned_fallbacks(options, others, output, output_format))
        return
    if options.get("overlap") == ASYNCHRONOUS and sizes is None:
        others = {"uncertain": uncertain, "all_steps": all_steps, "progress": progress}
        click.echo(planned_timeline(options, others, output, plot, output_format))
        return
    if sizes is not None:
        named = {"plot": plot if delays is None else None, "size": options.pop("size"), "all_steps": all_steps or None}
        named |= {"sequence": options.pop("sequence"), "warm_start": options.pop("warm_start")}
        named["progress"] = progress or None
        named["placement"] = options.pop("placement", None)
        named["uncertain"] = uncertain.get("uncertain")
        for name in given_of(named):
            raise refuse(name, "it applies to a single plan; it cannot be combined with --sizes")
        ranges = None if delays is None else (delays, tolerance, plot)
        click.echo(_sizes(sizes, ranges, output, output_format, options))
        return
    _check_plot(plot)
    check_outputs()
    of_plan = given_of({option.name: options.pop(option.name) for option in OF_PLAN})
    if uncertain:
        for name in (*of_plan, *(["progress"] if progress else [])):
            raise refuse(name, "it cannot be combined with --uncertain, which compares the plans of all planners")
        result, text = _by_samples(problem_arguments(options), uncertain, output_format, all_steps=all_steps)
    else:
        result, text = _by_time(
            options, of_plan, output_format, baselines=baselines, all_steps=all_steps, progress=progress
        )
    _write(result, text, output, plot)


def _check_plot(plot: str | None) -> None:
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)


def _write(result: Plan, text: str, output: str | None, plot: str | None) -> None:
    """Write the plan and its picture where they are asked for, and print the text."""
    if output is not None:
        result.save(output)
    if plot is not None:
        result.plot(plot)
    click.echo(text)


def _by_samples(
    arguments: dict[str, Any], uncertain: dict[str, Any], output_format: str, *, all_steps: bool
) -> tuple[Plan, str]:
    """The plan that is the best in many runs, and the text that is printed."""
    sampled = sampled_plans(arguments, uncertain)
    result = sampled.best.plan
    if output_format == "json":
        return result, plan_document(result, None, sampled)
    if output_format == "csv":
        return result, as_csv(result.to_columns())
    from lightloom.views.tables.plan import plan_table

    return result, f"{plan_table(result, [], all_steps=all_steps)}\n\n{sampled_plans_text(sampled, output_format)}"


def _by_time(
    options: dict[str, Any],
    of_plan: dict[str, Any],
    output_format: str,
    *,
    baselines: bool,
    all_steps: bool,
    progress: bool,
) -> tuple[Plan, str]:
    """The plan of least time, and the text that is printed."""
    from lightloom import planning

    if "sequence" in of_plan:
        from lightloom.planning.sequences import completed

        options = completed(of_plan["sequence"], {**options, **of_plan})
        del options["sequence"]
    arguments = problem_arguments(options)
    budget = of_plan.get("budget")
    status = Status(None if budget is None else seconds_of("budget", budget))
    told = _say_better if progress else _best_so_far(status)
    result = with_progress(
        None if progress else "planning",
        lambda: planning.plan(**arguments, **of_plan, progress=told, report=status.say),
        status,
    )
    others = []
    if baselines and output_format != "csv":
        # A budget, or another option that only `plan` takes, makes another plan than the best of all planners.
        beside = None if of_plan else result
        others = with_progress("comparing", lambda: planning.baselines(**arguments, beside=beside))
    if output_format == "json":
        return result, plan_document(result, others if baselines else None)
    if output_format == "csv":
        return result, as_csv(result.to_columns())
    from lightloom.views.tables.plan import plan_table

    text = plan_table(result, others, all_steps=all_steps)
    if "sequence" in of_plan:
        from lightloom.formats.harvest_schedule.read import read_sequence
        from lightloom.views.tables.plan import stated_line

        text += f"\n{stated_line(result, read_sequence(of_plan['sequence']))}"
    return result, text


def _say_better(better: BetterPlan) -> None:
    """A line of a better plan on standard error."""
    shown = f"{show_time(better.elapsed_s)}: {show_time(better.total_s)}, {better.over_bound:.3f} of the lower bound"
    click.echo(shown, err=True)


def _best_so_far(status: Status) -> Callable[[BetterPlan], None] | None:
    """What says on a terminal which plan is the best so far."""
    if not sys.stderr.isatty():
        return None

    def say(better: BetterPlan) -> None:
        # The bound may not be known yet.
        over = f", {better.over_bound:.3f} of the lower bound" if better.lower_bound_s > 0 else ""
        status.say(f"best so far {show_time(better.total_s)}{over}")

    return say


def _check_ranges(sizes: str | None, delays: str | None, tolerance: str | None) -> None:
    """Raise `InputError` for an option of ranges without those that it goes with."""
    if delays is None and tolerance is not None:
        raise refuse("tolerance", "it goes with --sizes and --delays, such as --delays 1us:10ms")
    if delays is not None and sizes is None:
        raise refuse("delays", "it goes with --sizes, such as --sizes 64KiB:1GiB")


def _sizes(
    sizes: str,
    ranges: tuple[str, str | None, str | None] | None,
    output: str | None,
    output_format: str,
    options: dict[str, Any],
) -> str:
    """The output for many sizes; their plans go to a folder where one is named.

    ranges: delays, tolerance and picture, where there is to be a table for sizes and delays.
    """
    if ranges is not None:
        from lightloom.cli.plan_table import planned_table

        return planned_table(sizes, *ranges, output, output_format, options)
    from lightloom.planning.sizes import plan_sizes, size_list

    of_plan = given_of({option.name: options.pop(option.name) for option in OF_PLAN if option.name in options})
    asked = size_list(sizes)
    arguments = problem_arguments({**options, "size": asked[0]})
    del arguments["size"]
    with progress_bar("planning", len(asked), "sizes") as advance:
        table = with_progress(
            None,
            lambda: plan_sizes(
                sizes=asked, **arguments, **of_plan, report=lambda done: advance("", done), output=output
            ),
        )
    if output_format == "json":
        rows = [row._asdict() for row in table.rows]
        made = {"schema": SIZES_SCHEMA, "collective": table.collective, "gpus": table.gpus, "rows": rows}
        return json.dumps(made, indent=1)
    if output_format == "csv":
        return as_csv(table.to_columns())
    from lightloom.views.tables.sizes import sizes_table

    return sizes_table(table, arguments["fabric"])

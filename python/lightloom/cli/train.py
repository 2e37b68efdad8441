"""The verb `train`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from lightloom.base.errors import refuse
from lightloom.base.files import write_bytes
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import Status, progress_bar, with_progress
from lightloom.inputs.options import FABRIC_KEYS
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom import Training, Workload
    from lightloom.inputs.fabric import Fabric
    from lightloom.training.break_even import BreakEven
    from lightloom.training.layouts import Layouts


class WorkloadName(click.ParamType[str]):
    """A file, or the name of a model, which the shell completes."""

    name = "workload"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """The models that start so, or files."""
        from lightloom.inputs.workloads.model import presets

        found = [CompletionItem(name) for name in presets() if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


@verb("train")
@click.argument("workload", metavar="WORKLOAD|TRACE|MODEL", type=WorkloadName())
def command(
    workload: str,
    all_communications: bool,
    output: str | None,
    trace: str | None,
    plot: str | None,
    break_even: str | None,
    delays: str | None,
    layouts: str | None,
    output_format: str,
    **settings: Any,
) -> None:
    """Plan one iteration of training or inference: a WORKLOAD (JSON), somebody's TRACE of one, or a MODEL.

    A workload has computation, collectives over groups of ranks or axes of a mesh, and messages; a TRACE is a
    profile of PyTorch, NCCL's log, or Chakra's, AICB's or TopoOpt's; a MODEL is a TOML file or one of `lightloom
    list models`. All collectives are planned together: the circuits that one ends with are those that the next one
    begins with, circuits change while ranks compute, and axes share the ports. With inference, an iteration is a
    decode step, a batch of prompts, or both on pools of ranks, with the time to the first token and per token.
    Other policies and an ideal packet switch are shown for comparison, with a lower bound.

    \b
    Examples:
      lightloom train bert-pccl --ranks 8
      lightloom train bert-pccl --ranks 8 --reconfiguration-delay 100us --plot iteration.png --trace trace.json.gz
      lightloom train llama-3-70b-decode --ports 2
      lightloom train llama-3-70b --ranks 32 --ports 4 --layout auto --memory 80GiB
      lightloom train llama-3-70b --ports 4 --layout tensor=8,sharded=true --layouts layouts.csv
      lightloom train bert-pccl --ranks 16 --ports 2 --bandwidth 800Gbps,400Gbps
      lightloom train examples/profiles/pytorch --ports 2
      lightloom train bert-pccl --ranks 8 --break-even delays.png --delays 1us,100us,10ms
    """  # noqa: D301
    import lightloom as ll
    from lightloom.training.break_even import DELAYS_S, delay_list
    from lightloom.training.layouts import best_layout
    from lightloom.views.tables.layouts import layouts_table

    _check_outputs(trace, plot, break_even)
    if delays is not None and break_even is None:
        raise refuse("delays", "it is used only together with --break-even FILE")
    delays_s = DELAYS_S if delays is None else delay_list(delays)
    given = given_of(settings)
    policy = given.pop("policy", "carry")
    overrides = {name: given.pop(name) for name in FABRIC_KEYS if name in given}
    fabric = ll.Fabric.load(given.pop("fabric", "default"), **overrides)
    layout, memory = given.pop("layout", None), given.pop("memory", None)
    _check_layout(layout, {"memory": memory, "layouts": layouts}, given)
    status = Status()
    searched = None
    if layout is not None:
        given |= {"layout": layout, "memory": memory}
        searched = with_progress(
            "planning",
            lambda: best_layout(workload, fabric=fabric, policy=policy, report=status.say, **given),
            status,
        )
        training, read = searched.best, searched.workload
    else:
        read = with_progress("reading", lambda: ll.Workload.read(workload, **given))
        training = with_progress(
            "planning", lambda: ll.train(read, fabric=fabric, policy=policy, report=status.say), status
        )
    found = None if break_even is None else _at_delays(read, fabric, policy, delays_s)
    if output is not None:
        training.save(output)
    if searched is not None and layouts is not None:
        _save_layouts(searched, layouts)
    if trace is not None:
        with_progress("writing the trace", lambda: training.trace(trace))
    if plot is not None:
        with_progress("drawing", lambda: training.plot(plot))
    if found is not None:
        found.plot(break_even)
    text = _text(training, found, output_format, all_communications=all_communications)
    if searched is not None and output_format == "table":
        text = f"{layouts_table(searched, memory)}\n\n{text}"
    click.echo(text)


def _check_layout(layout: str | None, of_layouts: dict[str, str | None], given: dict[str, Any]) -> None:
    """Refuse options that go only with --layout, or not with it."""
    for name, value in of_layouts.items():
        if value is not None and layout is None:
            raise refuse(name, "it is used only together with --layout")
    if layout is not None:
        for name in given.keys() - {"ranks"}:
            raise refuse(name, "it is only for traces, and --layout is for models")


def _save_layouts(found: Layouts, path: str) -> None:
    if path.endswith(".csv"):
        write_bytes("layouts", path, (as_csv(found.to_columns()) + "\n").encode())
    else:
        found.save(path)


def _check_outputs(trace: str | None, plot: str | None, break_even: str | None) -> None:
    """Refuse outputs that cannot be written before anything is planned."""
    if trace is not None:
        from lightloom.views.perfetto.events import check_trace_path

        check_trace_path(trace)
    for field, path in (("plot", plot), ("break_even", break_even)):
        if path is not None:
            from lightloom.views.charts import check_plot_path

            check_plot_path(path, field)
    check_outputs()


def _at_delays(workload: Workload, fabric: Fabric, policy: str, delays_s: Sequence[float]) -> BreakEven:
    """The same at every delay, with a bar."""
    import lightloom as ll
    from lightloom.training.break_even import break_even

    with progress_bar("break-even", len(delays_s), "delays") as advance:
        return with_progress(
            None,
            lambda: break_even(
                lambda delay_s: ll.train(workload, fabric=fabric.varied(reconfiguration_delay=delay_s), policy=policy),
                delays_s,
                report=lambda done: advance("", done),
            ),
        )


def _text(training: Training, found: BreakEven | None, output_format: str, *, all_communications: bool) -> str:
    """The text that is printed: only tables have the times by delay."""
    if output_format == "json":
        return training.to_json().rstrip("\n")
    if output_format == "csv":
        return as_csv(training.to_columns())
    from lightloom.views.tables.break_even import break_even_table
    from lightloom.views.tables.training import training_table

    text = training_table(training, all_communications=all_communications)
    return text if found is None else f"{text}\n\n{break_even_table(found)}"

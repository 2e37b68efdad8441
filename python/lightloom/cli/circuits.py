"""The verb `circuits`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import refuse
from lightloom.base.files import read_text
from lightloom.cli.options import given_of, verb
from lightloom.cli.outputs import check_outputs
from lightloom.cli.progress import with_progress
from lightloom.cli.switches import Use, check_use, opened_gate, restore_switches, send_circuits, simulate_switch
from lightloom.views.rows import as_csv

if TYPE_CHECKING:
    from lightloom.optics.port_maps import Circuits

# The schema that a file of circuits states at its beginning.
SCHEMA = '"lightloom.circuits/1"'


@verb("circuits")
@click.argument("plan", metavar="[PLAN]", type=click.Path(), required=False)
def command(
    plan: str | None, all_connections: bool, output: str | None, plot: str | None, output_format: str, **settings: Any
) -> int:
    """Put the circuits of a PLAN or training iteration (JSON) on the ports of switches: what to connect, and when.

    Circuits that stay from one topology to the next stay on their ports where that is possible. Ports are numbered
    from 1: transmitters are at ingress, receivers at egress ports. A plan that `verify` refuses is refused. PLAN may
    be what --output wrote, too, which is shown or sent as it is.

    For a file of `train`, the circuits of all groups are put on the switches together, over one iteration that repeats:
    when each configuration has to begin being set, after which events, and which events need it.

    For a file of `plan --overlap asynchronous` there is a configuration whenever a switch begins to turn, in which the
    other switches keep what they hold.

    With --send, switches set these circuits and are read back. Their former state is kept in a file, which
    --restore brings back. Exit status 1: a switch did not acknowledge. To try it: --simulated-switch scpi in one
    terminal, PLAN --send scpi://127.0.0.1:5025 --follow in another. With --gate, the ranks of a job wait for the
    circuits of each step: crates/gate/include/lightloom_gate.h.

    \b
    Examples:
      lightloom plan --collective all-reduce --size 1MiB --gpus 8 --output plan.json
      lightloom circuits plan.json
      lightloom circuits plan.json --all-connections
      lightloom circuits plan.json --output circuits.json --plot circuits.png
      lightloom train bert-pccl --ranks 8 --output iteration.json
      lightloom circuits iteration.json --optics parallel
    """  # noqa: D301
    given = {"plan": plan, "all_connections": all_connections, "output": output, "plot": plot, **settings}
    use = check_use(given)
    if use is Use.SIMULATE:
        simulate_switch(settings)
        return 0
    if plot is not None:
        from lightloom.views.charts import check_plot_path

        check_plot_path(plot)
    check_outputs()
    if use is Use.RESTORE:
        return restore_switches(settings, output_format)
    assert plan is not None  # noqa: S101 (all other uses need one)
    made = with_progress("assigning ports", lambda: _made(plan, settings["optics"]))
    text = "" if use is Use.SEND else _text(made, output_format, all_connections=all_connections)
    with opened_gate(made, settings) as gate:
        if output is not None:
            made.save(output)
        if plot is not None:
            made.plot(plot)
        if use is Use.SEND:
            return send_circuits(made, settings, gate, output_format)
    click.echo(text)
    return 0


def _made(plan: str, optics: str | None) -> Circuits:
    """The circuits of a plan; those of the file itself where it holds circuits."""
    from lightloom.clocks.reader import is_timeline
    from lightloom.clocks.timeline import Timeline
    from lightloom.optics.port_maps import MAX_FILE_BYTES, Circuits, circuits

    text = read_text("plan", plan, MAX_FILE_BYTES)
    if is_timeline(text):
        return Timeline.from_json(text).circuits(optics)
    if SCHEMA in text[:200]:
        if optics is not None:
            raise refuse(
                "optics",
                f"`{plan}` is a file of circuits, whose switches are chosen already; --optics is only for a plan",
            )
        return Circuits.from_json(text)
    return circuits(plan, **given_of({"optics": optics}))


def _text(made: Circuits, output_format: str, *, all_connections: bool) -> str:
    if output_format == "json":
        return made.to_json().rstrip("\n")
    if output_format == "csv":
        return as_csv(made.to_columns())
    from lightloom.views.tables.circuits import circuits_table

    return circuits_table(made, all_connections=all_connections)

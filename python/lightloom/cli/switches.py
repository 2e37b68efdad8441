"""Switches in the verb `circuits`: configurations are sent, the former state is restored, a switch is simulated."""

from __future__ import annotations

import json
import sys
from contextlib import closing, contextmanager
from enum import Enum
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import FailedError, printable, refuse
from lightloom.cli.progress import with_progress
from lightloom.inputs.quantities import seconds_of
from lightloom.views.rows import rows_as_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lightloom.optics.port_maps import Circuits
    from lightloom.switches import Applied, Switches

    # It serves the ranks.
    Gate = Callable[[Switches, "Told"], None]


class Use(Enum):
    """The use that is asked for: by the option that selects it, and the options that go with it."""

    MAP = (None, {"plan", "all_connections", "output", "plot", "optics"})
    SEND = (
        "send",
        {
            "plan",
            "output",
            "plot",
            "optics",
            "configuration",
            "follow",
            "interval",
            "gate",
            "ranks",
            "runs",
            "replace",
            "undo_on_failure",
            "state",
        },
    )
    RESTORE = ("restore", {"undo_on_failure", "state"})
    SIMULATE = ("simulated_switch", {"ports", "listen", "faults"})

    def __init__(self, option: str | None, others: set[str]) -> None:
        self.option = option
        self.takes = others | ({option} if option else set())


def check_use(options: Mapping[str, Any]) -> Use:
    """The use that the given options select.

    Raises `InputError` that names an option that does nothing together with the others, or `plan`.
    """
    given = {name for name, value in options.items() if value not in (None, False, ())}
    if "interval" in given and "follow" not in given:
        raise refuse("interval", "it is used only together with --send and --follow")
    if given & {"ranks", "runs"} and "gate" not in given:
        raise refuse(min(given & {"ranks", "runs"}), "it is used only together with --send and --gate")
    use = next((one for one in reversed(Use) if one.option in given), Use.MAP)
    for name in sorted(given - use.takes):
        if use is Use.MAP:
            takes = " or ".join(_flag(one.option) for one in Use if one.option and name in one.takes)
            raise refuse(name, f"it is used only together with {takes}")
        taken = "no PLAN is taken" if name == "plan" else "it cannot be combined"
        raise refuse(name, f"{taken} with {_flag(use.option or '')}")
    if "plan" in use.takes - given:
        raise refuse("plan", "missing; give PLAN, such as: lightloom circuits plan.json")
    for sends_all in ("follow", "gate"):
        if {sends_all, "configuration"} <= given:
            raise refuse(
                "configuration", f"it cannot be combined with {_flag(sends_all)}, which sends all configurations"
            )
    if {"follow", "gate"} <= given:
        raise refuse("gate", "it cannot be combined with --follow, which waits for no ranks")
    return use


def addresses_of(send: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """The addresses of `--send` by the switches' names. Raises `InputError` for one that is unclear."""
    if not names:
        raise refuse("send", "the file names no switches, so its circuits cannot be sent")
    found: dict[str, str] = {}
    for text in send:
        name, separator, address = text.partition("=")
        if not separator or "://" in name:
            if len(names) != 1:
                raise refuse(
                    "send", f"the plan has {len(names)} switches, {', '.join(names)}; give NAME=ADDRESS for each"
                )
            name, address = names[0], text
        if name in found:
            raise refuse("send", f"switch `{name}` is given twice")
        found[name] = address
    return found


def send_circuits(circuits: Circuits, options: Mapping[str, Any], gate: Gate | None, output_format: str) -> int:
    """Send what `--send`, `--configuration` and `--follow` say, or a gate's ranks wait for; the exit status."""
    from lightloom.switches import Switches
    from lightloom.views.tables.sending import identity_line

    addresses = addresses_of(options["send"], [switch.name for switch in circuits.switches])
    interval_s = 0.0 if options["interval"] is None else seconds_of("interval", options["interval"])
    count = len(circuits.configurations)
    chosen = range(count) if options["follow"] else [(options["configuration"] or 1) - 1]
    if chosen[0] >= count:
        raise refuse("configuration", f"`{chosen[0] + 1}` is not accepted; the plan has configurations 1 to {count}")
    state = None if options["state"] is None else Path(options["state"])
    with Switches.of(
        circuits, addresses, replace=options["replace"], state=state, undo=options["undo_on_failure"]
    ) as switches:
        identities = with_progress("reaching the switches", switches.check)
        if output_format == "table":
            for name, identity in identities.items():
                click.echo(printable(identity_line(name, addresses[name], identity)))
        told = Told(output_format, count)
        told.kept(switches.keep_state())
        if gate is not None:
            return _told(switches, told, lambda: gate(switches, told))
        return _told(switches, told, lambda: _sent(switches, chosen, interval_s, told))


@contextmanager
def opened_gate(circuits: Circuits, options: Mapping[str, Any]) -> Iterator[Gate | None]:
    """The gate that is asked for, open before any switch is read or file written; None where none is asked for."""
    from lightloom import _core
    from lightloom.switches.gate import configurations_by_step, serve_gate

    gate, runs = options["gate"], options["runs"]
    if gate is None:
        yield None
        return
    configurations = configurations_by_step(circuits)
    ranks = options["ranks"] or (None if circuits.plan is None else circuits.plan.members)
    if ranks is None:
        raise refuse("ranks", "missing; a file of circuits does not say how many ranks open the gate")

    with closing(_core.Gate(gate, ranks, len(configurations))) as opened:

        def serve(switches: Switches, told: Told) -> None:
            told.gate_opened(gate, ranks, len(configurations))
            told.gate_served(serve_gate(switches, opened, configurations, runs=runs, told=told.tell))

        yield serve


def _sent(switches: Switches, chosen: Sequence[int], interval_s: float, told: Told) -> None:
    for configuration in chosen:
        began_s = monotonic()
        what = f"configuration {configuration + 1} of {told.configurations}"
        told.tell(with_progress(what, lambda number=configuration: switches.apply(number)))  # type: ignore[misc]
        if configuration != chosen[-1]:
            sleep(max(0.0, began_s + interval_s - monotonic()))


def restore_switches(options: Mapping[str, Any], output_format: str) -> int:
    """Bring back what `--restore` says; the exit status."""
    from lightloom.switches import load_state, restorable

    state = None if options["state"] is None else Path(options["state"])
    states = load_state(options["restore"])
    with restorable(states, state=state, undo=options["undo_on_failure"]) as switches:
        told = Told(output_format, 1)
        told.kept(switches.keep_state())
        return _told(switches, told, lambda: told.tell(with_progress("restoring", lambda: switches.restore(states))))


def simulate_switch(options: Mapping[str, Any]) -> None:
    """Start a simulated switch, print its address, and serve until an interrupt comes."""
    from lightloom.switches.simulated import Faults, start_switch

    faults = None if options["faults"] is None else Faults.parse("faults", options["faults"])
    ports = 64 if options["ports"] is None else options["ports"]
    with start_switch(options["simulated_switch"], ports, listen=options["listen"], faults=faults) as switch:
        click.echo(switch.address)
        sys.stdout.flush()
        click.echo(f"a simulated switch of {ports} by {ports} ports; Ctrl-C ends it", err=True)
        try:
            switch.wait()
        except KeyboardInterrupt:
            raise click.Abort from None  # click writes an empty line after an interrupt


class Told:
    """The printed configurations: one line each as they come, or rows at the end."""

    def __init__(self, output_format: str, configurations: int) -> None:
        self.configurations = configurations
        self._format = output_format
        self._rows: list[dict[str, Any]] = []

    def tell(self, applied: Applied, *, acknowledged: bool = True) -> None:
        """A configuration that was sent."""
        from lightloom.views.tables.sending import applied_line, applied_rows, noted_lines

        self._rows += applied_rows(applied)
        if acknowledged:
            if self._format == "table":
                click.echo(applied_line(applied, self.configurations))
                sys.stdout.flush()
            for line in noted_lines(applied):
                click.echo(printable(line), err=True)

    def kept(self, state: Path) -> None:
        """The file of the switches' former circuits, printed before any change, so that it is known after a crash."""
        from lightloom.views.tables.sending import state_line

        if self._format == "table":
            click.echo(printable(state_line(state)))
            sys.stdout.flush()

    def gate_opened(self, gate: str, ranks: int, steps: int) -> None:
        """The gate, once ranks can open it."""
        if self._format == "table":
            click.echo(printable(f"the gate {gate} is open for ranks 0 to {ranks - 1}, {steps} steps a run"))
            sys.stdout.flush()

    def gate_served(self, steps: int) -> None:
        """The steps that all ranks have done."""
        if self._format == "table":
            click.echo(f"the gate is closed: all ranks have done {steps} steps")

    def end(self, state: Path | None) -> None:
        """The output for programs once all is over, also where it failed."""
        if self._format == "json":
            click.echo(json.dumps({"state": None if state is None else str(state), "sent": self._rows}, indent=1))
        elif self._format == "csv":
            click.echo(rows_as_csv(iter(self._rows)))


def _told(switches: Switches, told: Told, work: Callable[[], None]) -> int:
    """Do the work and print its outcome; the exit status. Raises `FailedError` for failures."""
    from lightloom.switches import ChangeError

    try:
        work()
    except ChangeError as error:
        told.tell(error.applied, acknowledged=False)
        told.end(switches.state)
        raise
    except FailedError:
        told.end(switches.state)
        raise
    except KeyboardInterrupt:
        if switches.state is not None:
            said = f"interrupted: lightloom circuits --restore {switches.state} brings back the former circuits"
            click.echo(("\n" if sys.stderr.isatty() else "") + printable(said), err=True)
        raise click.Abort from None
    told.end(switches.state)
    return 0


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")

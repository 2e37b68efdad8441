"""The table that the verb `circuits` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_time
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom.optics.mesh_light import LightPath
    from lightloom.optics.port_maps import Circuits, Configuration, ConfigurationEvents, SwitchSetting

# Configurations of an iteration that are shown; names of nodes in a cell, and characters of each.
MOST_CONFIGURATIONS, MOST_NAMES, MOST_CHARACTERS = 24, 2, 28
# Steps whose energy is listed.
MOST_STEPS = 8
RIGHT = ("configuration", "time", "connections", "keep", "connect", "disconnect", "ports changed")


def circuits_table(circuits: Circuits, *, all_connections: bool = False) -> str:
    """Changed and unchanged circuits, a row per switch of a configuration; with every connection, if asked for."""
    return render(*circuits_parts(circuits, all_connections=all_connections))


def circuits_parts(circuits: Circuits, *, all_connections: bool = False) -> list[RenderableType]:
    """The parts of the table."""
    parts: list[RenderableType] = [heading(_title(circuits))]
    if circuits.labels is not None:
        parts.append(Text(f"{circuits.labels.optics}: {circuits.labels.numbering}"))
    shown = _shown(circuits, all_connections=all_connections)
    parts += [_changes(circuits, shown), *_left_out(circuits, shown), Text("\n".join(_summary(circuits)))]
    if all_connections:
        parts += [part for configuration in circuits.configurations for part in _connections(circuits, configuration)]
    return parts


def _title(circuits: Circuits) -> str:
    switches = counted(len(circuits.switches), "switch")
    ports = sorted({switch.ports for switch in circuits.switches})
    size = f"{ports[0]}×{ports[0]}" if len(ports) == 1 else f"{ports[0]}×{ports[0]} to {ports[-1]}×{ports[-1]}"
    where = f"{switches} of {size} ports, {counted(len(circuits.configurations), 'configuration')}"
    plan, training = circuits.plan, circuits.training
    if training is not None:
        name = training.name or "an iteration"
        return f"{name} on {training.ranks} ranks, {show_time(training.total_s)} an iteration: {where}"
    return where if plan is None else f"{plan.collective} on {plan.members} GPUs: {where}"


def _of_iteration(circuits: Circuits) -> bool:
    return circuits.training is not None or any(one.events is not None for one in circuits.configurations)


def _of_timeline(circuits: Circuits) -> bool:
    """Whether no configuration is for a step or an event: each is for the time from which a switch has to turn."""
    return not any(one.steps or one.events for one in circuits.configurations) and circuits.training is None


def _shown(circuits: Circuits, *, all_connections: bool) -> tuple[Configuration, ...]:
    """The configurations that are listed: all of a plan; the first of an iteration, if not all are asked for."""
    everything = all_connections or not _of_iteration(circuits)
    return circuits.configurations if everything else circuits.configurations[:MOST_CONFIGURATIONS]


def _changes(circuits: Circuits, shown: tuple[Configuration, ...]) -> RenderableType:
    several = len(circuits.switches) > 1
    of_steps = [] if _of_timeline(circuits) else ["topology", "steps"]
    what = ["set after", "needed by"] if _of_iteration(circuits) else of_steps
    columns = ["configuration", *what, "time", *(["switch"] if several else [])]
    made = table(*columns, *RIGHT[2:], right=RIGHT)
    for configuration in shown:
        for place, switch in enumerate(configuration.switches):
            named = _named(circuits, configuration) if place == 0 else [""] * (2 + len(what))
            made.add_row(*named, *([switch.name] if several else []), *_counts(configuration, switch))
    return made


def _named(circuits: Circuits, configuration: Configuration) -> list[str]:
    what = [_topology_name(circuits, configuration), _steps(configuration.steps)]
    if _of_iteration(circuits):
        events = configuration.events
        what = ["-", "the first events"] if events is None else [_nodes(events.after), _needed_by(events)]
    elif _of_timeline(circuits):
        what = []
    return [str(configuration.index + 1), *what, show_time(configuration.time_s)]


def _needed_by(events: ConfigurationEvents) -> str:
    """The events that need a configuration; `rest` where ports go back to the resting topology."""
    if events.after == events.before and len(events.steps) == 1:
        return f"its step {events.steps[0] + 1}"
    return _nodes(events.before, "rest")


def _nodes(names: tuple[str, ...], none: str = "-") -> str:
    """The first names, each cut where it is long."""
    cut = [name if len(name) <= MOST_CHARACTERS else f"{name[: MOST_CHARACTERS - 1]}…" for name in names[:MOST_NAMES]]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(cut)}{more}" if names else none


def _left_out(circuits: Circuits, shown: tuple[Configuration, ...]) -> list[Text]:
    left = len(circuits.configurations) - len(shown)
    if not left:
        return []
    return [Text(f"and {left} more, which --all-connections and --format csv list")]


def _topology_name(circuits: Circuits, configuration: Configuration) -> str:
    listed = () if circuits.plan is None else circuits.plan.topologies
    if configuration.topology_index < len(listed):
        return listed[configuration.topology_index].name
    return str(configuration.topology_index)


def _steps(steps: tuple[int, ...]) -> str:
    """`3`, `4–9`, `before 1`: those of a configuration follow each other."""
    if not steps:
        return "before 1"
    return str(steps[0] + 1) if len(steps) == 1 else f"{steps[0] + 1}–{steps[-1] + 1}"


def _counts(configuration: Configuration, switch: SwitchSetting) -> list[str]:
    connects, disconnects = len(switch.connect), len(switch.disconnect)
    told = [len(switch.connections), switch.kept, connects, disconnects, switch.changed_ports]
    if configuration.index == 0:
        return [str(told[0]), "-", str(connects), "-", "-"]
    return [str(number) if number else "-" for number in told]


def _summary(circuits: Circuits) -> list[str]:
    lit, still = circuits.lit_ports, circuits.still_ports
    lines = []
    if len(circuits.configurations) == 1 and _of_iteration(circuits):
        lines.append("the circuits never change")
    if len(circuits.configurations) > 1:
        lines.append(f"connections set up after the first configuration: {circuits.connects}{_judged(circuits)}")
    plan, charged_s = circuits.plan, circuits.charged_s
    if plan is not None and charged_s is not None and plan.reconfigurations:
        planned_s = sum(step.reconfiguration_s for step in plan.steps)
        lines.append(
            f"delay of all changes: {show_time(planned_s)} in the plan, {show_time(charged_s)} as counted from the "
            "ports that change"
        )
    for configuration, paths in zip(circuits.configurations, circuits.light, strict=False):
        lines.append(f"light of configuration {configuration.index + 1}: {_light(paths)}")
    lines += [*_energy(circuits), *_fibre_delay(circuits)]
    if lit:
        never = f"{still} of the {lit} used ports ({100 * still / lit:.3g}%) are never switched"
        lines.append(never if still else "every used port is switched at least once")
    return lines


def _light(paths: tuple[LightPath, ...]) -> str:
    """The longest way and the largest loss of a configuration's circuits."""
    if not paths:
        return "none"
    wavelengths = counted(len({one.wavelength for one in paths}), "wavelength")
    longest = counted(max(len(one.waveguides) for one in paths), "waveguide")
    losses = f"losses of up to {max(one.loss_db for one in paths):.2f} dB"
    launched = [one.launch_mw for one in paths if one.launch_mw is not None]
    power = f", lasers of up to {max(launched):.3g} mW, {sum(launched):.4g} mW in all" if launched else ""
    lengths_m = [one.fibre_m for one in paths if one.fibre_m is not None]
    fibres = f", fibres of up to {max(lengths_m):.4g} m" if lengths_m else ""
    return f"{wavelengths}, paths of up to {longest}, {losses}{power}{fibres}"


def _energy(circuits: Circuits) -> list[str]:
    """The energy of the lasers by step, in all and for a bit, where it is known."""
    energy = circuits.energy
    if energy is None:
        return []
    shown = [f"{step_j:.3g} J" for step_j in energy.steps_j[:MOST_STEPS]]
    more = len(energy.steps_j) - len(shown)
    steps = ", ".join(shown) + (f" and {counted(more, 'step')} more" if more else "")
    changes = f", {energy.changes_j:.3g} J of it during changes" if energy.changes_j else ""
    return [
        f"energy of the lasers: {energy.total_j:.4g} J{changes}, {energy.picojoules_per_bit:.4g} pJ for each bit sent",
        f"by step: {steps}",
    ]


def _fibre_delay(circuits: Circuits) -> list[str]:
    """The time that fibres add to the plan, where their lengths are known."""
    delay = circuits.fibre_delay
    if delay is None:
        return []
    added = f"fibres, by the longest circuit of each step for each of its hops: {show_time(delay.total_s)}"
    plan = circuits.plan
    together = "" if plan is None else f"; {show_time(plan.total_s + delay.total_s)} with the plan's own time"
    return [f"{added}{together}"]


def _judged(circuits: Circuits) -> str:
    least = circuits.least_connects
    if least is None:
        return ""
    if circuits.connects == least:
        return ", the fewest possible, proved"
    return f"; no fewer than {least} are possible on these switches"


def _connections(circuits: Circuits, configuration: Configuration) -> list[RenderableType]:
    number, *what, time = _named(circuits, configuration)
    parts: list[RenderableType] = [Text("")]
    if len(what) == 2:
        words = f"step{'s' * (len(configuration.steps) > 1)} {what[1]}" if configuration.steps else what[1]
        named = f"{what[0]}, {words}, "
    else:
        named = ""
    if _of_iteration(circuits):
        named = "as the iteration begins, " if configuration.index == 0 else f"after {what[0]}, for {what[1]}, "
    parts.append(heading(f"configuration {number}: {named}at {time}"))
    if configuration.index < len(circuits.light):
        parts.append(_ways(circuits.light[configuration.index]))
    for switch in configuration.switches:
        of_switch = f"{switch.name}: " if len(configuration.switches) > 1 else ""
        new = {tuple(pair) for pair in switch.connect.tolist()}
        wavelengths = dict(zip(map(tuple, switch.connections.tolist()), switch.wavelengths.tolist(), strict=False))
        kept = [pair for pair in switch.connections.tolist() if tuple(pair) not in new]
        lists = {"disconnect": switch.disconnect.tolist(), "connect": switch.connect.tolist(), "keep": kept}
        for change, pairs in lists.items():
            if pairs:
                shown = "  ".join(_connection(pair, wavelengths) for pair in pairs)
                parts.append(Text(f"{of_switch}{change} {len(pairs)}: {shown}"))
    return parts


def _connection(pair: list[int], wavelengths: dict[tuple[int, ...], int]) -> str:
    """The ports of a connection, and the wavelength that its laser is tuned to where there is one."""
    ingress, egress = pair
    tuned = wavelengths.get((ingress, egress))
    return f"{ingress}→{egress}" if tuned is None else f"{ingress}→{egress} at λ{tuned}"


def _ways(paths: tuple[LightPath, ...]) -> RenderableType:
    """A row a circuit: its ports, wavelength, loss and the MZIs that it passes."""
    power = ["launch"] if any(one.launch_mw is not None for one in paths) else []
    named = ["ingress", "egress", "wavelength", "loss", *power]
    made = table(*named, "MZIs", right=tuple(named))
    for one in paths:
        ports = (str(one.ingress), str(one.egress), str(one.wavelength))
        launched = [] if one.launch_mw is None else [f"{one.launch_mw:.3g} mW"]
        made.add_row(*ports, f"{one.loss_db:.2f} dB", *launched, " ".join(map(str, one.mzis)))
    return made

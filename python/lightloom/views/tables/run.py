"""The table that the verb `run` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.views.tables.page import heading, render, table
from lightloom.views.tables.problem import gigabytes, what_is_planned
from lightloom.views.tables.step_groups import group_steps, reconfiguration_caption

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from lightloom.running.judged import Judged
    from lightloom.running.measurement import MeasuredStep, Measurement
    from lightloom.views.tables.step_groups import StepGroup

# As NCCL's tests call them.
TESTED = ("size", "count", "type", "redop", "time", "algbw", "busbw", "#wrong")
# Collectives whose receivers reduce; others only copy.
REDUCING = ("all-reduce", "reduce-scatter", "reduce")
COLUMNS = ("step", "topology", "dark", "measured", "plan", "ratio", "waiting", "forwarded")
# Parts of a measured step, each behind it with its time by the plan.
PARTS = ("step", "barrier", "planned", "dark", "switch", "planned", "release", "transfer", "planned")


def run_table(measurement: Measurement, *, all_steps: bool = False) -> str:
    """The run and its settings, the columns of NCCL's tests, a row per run of equal steps, and the machine's state.

    all_steps: a row per step.
    """
    return render(*run_parts(measurement, all_steps=all_steps))


def run_parts(measurement: Measurement, *, all_steps: bool = False) -> list[RenderableType]:
    """The parts of `run_table`."""
    plan = measurement.plan
    title = (
        f"{what_is_planned(plan, plan.root, plan.members)} ({plan.algorithm}, {plan.planner}): "
        f"measured {show_time(measurement.measured.median)}, "
        f"{measurement.ratio:.1%} of the plan's {show_time(measurement.predicted_s)}"
    )
    lines = [
        results_line(measurement.wrong, f"all {counted(plan.gpus, 'rank')} match NumPy"),
        *machine_lines(measurement, _mean_step(measurement), _clocks_s(measurement)),
    ]
    return [
        heading(title),
        Text(_settings(measurement)),
        _tested(measurement),
        _steps(measurement, all_steps=all_steps),
        *_parts_of_steps(measurement, all_steps=all_steps),
        Text(""),
        *map(Text, lines),
    ]


def _settings(measurement: Measurement) -> str:
    settings = measurement.settings
    runs = counted_runs(counted(settings.runs, "run"), settings.warm_ups)
    said = [settings.transport, runs]
    if settings.packet_bytes:  # not where messages go as they are
        slow = f"slowed down {settings.dilation:g} times"
        said = [settings.transport, slow, runs, f"packets of {show_size(settings.packet_bytes)}"]
    if not settings.has_hop_delay:
        said.append("without hop delay, which the plan's times here leave out")
    if settings.hosts:
        clocks = show_time(_clocks_s(measurement))
        said.append(f"{counted(len(settings.hosts), 'host')} whose clocks are compared to within {clocks}")
    if settings.switch is not None:
        said.append(f"circuits on {settings.switch}")
    return ", ".join(said)


def _clocks_s(measurement: Measurement) -> float:
    return max((host.clock_uncertainty_s for host in measurement.settings.hosts), default=0.0)


def _mean_step(measurement: Measurement) -> str:
    return "a mean step, slowed down" if measurement.settings.packet_bytes else "the plan's mean step"


def _tested(measurement: Measurement) -> Table:
    plan, settings = measurement.plan, measurement.settings
    made = table("", *TESTED, right=TESTED)
    redop = settings.reduction if plan.collective in REDUCING else "none"
    sent = [show_size(plan.size_bytes), f"{measurement.elements:,}", settings.dtype, redop]
    spread = measurement.measured
    rows = (
        ("fastest", spread.min),
        ("median", spread.median),
        ("slowest", spread.max),
        ("plan", measurement.predicted_s),
    )
    for name, time_s in rows:
        algbw = plan.size_bytes / time_s
        rates = [f"{gigabytes(rate)} GB/s" for rate in (algbw, algbw * measurement.busbw / measurement.algbw)]
        made.add_row(name, *sent, show_time(time_s), *rates, f"{measurement.wrong:,}" if name == "median" else "")
    return made


def _steps(measurement: Measurement, *, all_steps: bool) -> Table:
    # Measured times are never equal; planned times of equal steps are.
    groups = group_steps(measurement.steps, lambda step: (step.reconfigured, step.predicted_s), all_steps=all_steps)
    made = table(*COLUMNS, right=("step", *COLUMNS[2:]))
    for group in groups:
        made.add_row(*_row(group))
    made.caption, made.caption_justify = reconfiguration_caption(groups), "left"
    return made


def _row(group: StepGroup[MeasuredStep]) -> list[str]:
    dark_s, measured_s, predicted_s, waiting_s, forwarded = (
        group.total(name) for name in ("dark_s", "measured_s", "predicted_s", "waiting_s", "forwarded_bytes")
    )
    return [
        group.numbers,
        group.marked_topologies,
        show_time(dark_s) if group.reconfigurations else "-",
        show_time(measured_s),
        show_time(predicted_s),
        f"{measured_s / predicted_s:.1%}" if predicted_s else "-",
        show_time(waiting_s),
        show_size(int(forwarded)) if forwarded else "-",
    ]


def _parts_of_steps(measurement: Measurement, *, all_steps: bool) -> list[RenderableType]:
    """The parts of steps where these are no emulation: by MPI, on hosts, or with an outside switch."""
    settings = measurement.settings
    if settings.transport not in {"mpi", "tcp"} and settings.switch is None:
        return []
    groups = group_steps(measurement.steps, lambda step: (step.reconfigured, step.predicted_s), all_steps=all_steps)
    made = table(*PARTS, right=PARTS)
    for group in groups:
        changes = group.reconfigurations > 0
        cells = [
            (group.total("barrier_s"), True),
            (group.total("predicted_barrier_s"), True),
            (group.total("dark_s"), changes),
            (0.0 if settings.switch is None else group.total("switch_s"), changes and settings.switch is not None),
            (group.total("predicted_dark_s"), changes),
            (group.total("release_s"), True),
            (group.total("transfer_s"), True),
            (group.total("predicted_transfer_s"), True),
        ]
        made.add_row(group.numbers, *(show_time(time_s) if is_there else "-" for time_s, is_there in cells))
    made.caption = (
        "dark: from the request for circuits to their acknowledgement; switch: of it, until the switch had answered"
    )
    made.caption_justify = "left"
    return [Text(""), made]


def results_line(wrong: int, right: str) -> str:
    """How many elements are wrong; `right` where none is."""
    return f"results     {counted(wrong, 'element')} wrong" if wrong else f"results     {right}"


def counted_runs(count: str, warm_ups: int) -> str:
    """A number of runs in words, with the warm-ups before them where there are some."""
    return f"{count} after {counted(warm_ups, 'warm-up')}" if warm_ups else count


def machine_lines(measurement: Judged, mean: str, clocks_s: float = 0.0) -> list[str]:
    """The state of the machine, and the verdict.

    mean: words for the time of which lateness may be a part. clocks_s: the uncertainty of hosts' clocks.
    """
    settings, jitter = measurement.settings, measurement.jitter
    granted = "real-time priority" if settings.real_time else "no real-time priority"
    locked = "memory locked" if settings.locked else "memory not locked"
    late = ", ".join(
        f"{name} {show_time(one.median_s)} and {show_time(one.most_of_99_s)}"
        for name, one in (("before", jitter.probe), ("switch", jitter.switch), ("ranks", jitter.ranks))
        if one.sleeps
    )
    found, most = show_time(measurement.lateness_s), show_time(measurement.tolerated_lateness_s)
    is_late = measurement.lateness_s > measurement.tolerated_lateness_s
    what = (
        f"clocks are compared to within {found}" if measurement.lateness_s == clocks_s else f"timers are {found} late"
    )
    why = f"{what}; up to {most} (5% of {mean}) is allowed"
    lines = [f"machine     {granted}, {locked}", f"jitter      of timers, median and p99: {late}"]
    if settings.packet_rate is not None and settings.most_packet_rate is not None:
        kept = "at most" if settings.keeps_up_with_packets else "more than"
        rates = f"{settings.packet_rate:,.0f} a second over all hops, {kept} the {settings.most_packet_rate:,.0f}"
        lines.append(f"packets     {rates} that the cores keep up with")
        if not settings.keeps_up_with_packets and not is_late:
            why = "more packets than the cores keep up with"
    return [*lines, f"verdict     {measurement.verdict}: {why}"]

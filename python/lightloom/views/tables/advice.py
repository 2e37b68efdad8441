"""The table that the verb `advise` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_time
from lightloom.inputs.catalogue import UNKNOWN
from lightloom.views.axis_units import time_label
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

    from lightloom.advice.result import Advice, AdviceRow, Limit

NUMBERS = ("delay", "time", "gain", "over packet switch", "cost", "energy")


def advice_table(advice: Advice) -> str:
    """A row a switch, the recommended one marked; and in words the recommendation and what it depends on."""
    return render(*advice_parts(advice))


def advice_parts(advice: Advice) -> list[RenderableType]:
    """The parts of `advice_table`."""
    mix = ", ".join(f"{count:g} × {label}" for label, count in advice.mix)
    parts: list[RenderableType] = [heading(f"{advice.job} on {advice.gpus} GPUs: {mix}")]
    for ports in dict.fromkeys(row.ports for row in advice.rows):
        rows = [row for row in advice.rows if row.ports == ports]
        parts += [Text(""), heading(f"{counted(ports, 'port')} a GPU"), _rows(advice, rows)]
    parts += [Text(line) for line in advice.reasons]
    if advice.equal_time:
        words = ", ".join(f"with {counted(one.ports, 'port')} {_limit(one)}" for one in advice.equal_time)
        parts.append(Text(f"As fast as what is recommended: {words}."))
    parts.append(Text("gain: time of circuits that never change over that of the switch"))
    return parts


def _rows(advice: Advice, rows: list[AdviceRow]) -> RenderableType:
    # Prices, and powers, are columns only where one of them is known.
    shown = [
        name
        for name, is_known in (
            ("cost", any(row.cost is not None for row in rows)),
            ("energy", any(row.energy_j is not None for row in rows)),
        )
        if is_known
    ]
    made = table("", "switch", *NUMBERS[:4], *shown, "remark", right=NUMBERS)
    best = advice.best
    for row in rows:
        cells = {"cost": _or_unknown(row.cost, "{:g}".format), "energy": _or_unknown(row.energy_j, "{:.3g} J".format)}
        made.add_row(
            "*" if row is best else "",
            row.switch,
            "-"
            if row.technology is None and not row.switches
            else _or_unknown(row.reconfiguration_delay_s, time_label),
            "-" if row.total_s is None else show_time(row.total_s),
            "-" if row.over_never_change is None else factor(row.over_never_change),
            "-" if row.over_packet_switch is None else factor(row.over_packet_switch),
            *(cells[name] for name in shown),
            row.reason,
        )
    return made


def _or_unknown(value: float | None, words: Callable[[float], str]) -> str:
    return UNKNOWN if value is None else words(value)


def _limit(one: Limit) -> str:
    if one.reconfiguration_delay_s is None:
        return "no switch, however fast it changes"
    if one.unlimited:
        return "every switch, however slowly it changes"
    return f"switches that change within {time_label(one.reconfiguration_delay_s)}"

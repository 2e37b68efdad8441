"""The table that the verb `adapt` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.online.adaptation import WAYS
from lightloom.views.ratios import ROUNDING, factor
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom.online.adaptation import Adaptation

NUMBERS = ("total", "per call", "changes", "regret", "over known")
PHASES = ("from call", "delays", "estimate", "plan")
# Runs of calls by one plan that are shown.
MOST_SHOWN = 20


def adaptation_table(found: Adaptation) -> str:
    """A row a way to choose, a row a run of calls by one plan, and how the choice was made."""
    calls = len(found.delays_s)
    made = table("way", *NUMBERS, "plan of each call", right=NUMBERS)
    for one in found.totals:
        regret = "-" if one.name == "known" else _signed(one.regret_s, one.total_s)
        made.add_row(
            one.name,
            show_time(one.total_s),
            show_time(one.total_s / calls),
            str(one.changes),
            regret,
            "-" if one.name == "known" else factor(one.over_known),
            WAYS[one.name],
        )
    size = show_size(found.size_bytes)
    title = f"{counted(calls, 'call')} of {found.collective}, {size} on {found.gpus} GPUs, by measured delays"
    return render(heading(title), made, *_phases(found), *map(Text, _sentences(found)))


def _phases(found: Adaptation) -> list[RenderableType]:
    plans = found.ways["adaptive"].plans
    firsts = [0, *(np.flatnonzero(np.diff(plans)) + 1).tolist()]
    made = table(*PHASES, "its algorithm", right=PHASES)
    for first, last in list(zip(firsts, [*firsts[1:], len(plans)], strict=True))[:MOST_SHOWN]:
        low_s, high_s = found.delays_s[first:last].min(), found.delays_s[first:last].max()
        delays = show_time(low_s) if low_s == high_s else f"{show_time(low_s)} to {show_time(high_s)}"
        place = int(plans[first])
        made.add_row(str(first), delays, show_time(found.estimates_s[first]), str(place), found.plans[place])
    parts: list[RenderableType] = [Text("adaptive: calls by one plan"), made]
    if len(firsts) > MOST_SHOWN:
        parts.append(Text(f"{counted(len(firsts) - MOST_SHOWN, 'change')} more: --format csv has all calls"))
    return parts


def _signed(seconds: float, time_s: float) -> str:
    if abs(seconds) <= ROUNDING * time_s:
        return "0"
    return f"{'-' if seconds < 0 else '+'}{show_time(abs(seconds))}"


def _sentences(found: Adaptation) -> list[str]:
    made = [
        f"a change of plan counts as {show_time(found.change_cost_s)}",
        f"estimate: the median of the {counted(found.window, 'delay')} that were measured last, outside of calls "
        f"{counted(found.probes, 'time')}",
    ]
    if found.predicted_s is not None:
        ratio = float(np.median(found.ways["adaptive"].calls_s / found.predicted_s))
        wrong = counted(found.wrong, "element")
        made.append(
            f"adaptive ran on processes: calls took {ratio:.3f} of the plan's time in the median, {wrong} wrong; the "
            "others are computed"
        )
    return made

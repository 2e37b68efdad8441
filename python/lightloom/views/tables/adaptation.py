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
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from lightloom.online.adaptation import Adaptation

NUMBERS = ("total", "per call", "changes", "regret", "over known")
PHASES = ("from call", "size", "calls", "delays", "estimate", "plan")
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
    size = size_words(found)
    title = f"{counted(calls, 'call')} of {found.collective}, {size} on {found.gpus} GPUs, by measured delays"
    return render(heading(title), made, *_phases(found), *map(Text, _sentences(found)))


def size_words(found: Adaptation) -> str:
    """The size of calls, or how many sizes there are and their ends."""
    sizes = np.unique(found.sizes_bytes).tolist()
    ends = f"{show_size(sizes[0])} to {show_size(sizes[-1])}"
    return show_size(sizes[0]) if len(sizes) == 1 else f"{counted(len(sizes), 'size')} of {ends}"


def _phases(found: Adaptation) -> list[RenderableType]:
    runs = sorted(
        run for size in np.unique(found.sizes_bytes) for run in _runs(found, np.flatnonzero(found.sizes_bytes == size))
    )
    made = table(*PHASES, "its algorithm", right=PHASES)
    for first, rows in runs[:MOST_SHOWN]:
        low_s, high_s = found.delays_s[rows].min(), found.delays_s[rows].max()
        delays = show_time(low_s) if low_s == high_s else f"{show_time(low_s)} to {show_time(high_s)}"
        place = int(found.ways["adaptive"].plans[first])
        made.add_row(
            str(first),
            show_size(int(found.sizes_bytes[first])),
            str(len(rows)),
            delays,
            show_time(found.estimates_s[first]),
            str(place),
            found.plans[place],
        )
    parts: list[RenderableType] = [Text("adaptive: calls by one plan"), made]
    if len(runs) > MOST_SHOWN:
        parts.append(Text(f"{counted(len(runs) - MOST_SHOWN, 'row')} more: --format csv has all calls"))
    return parts


def _runs(found: Adaptation, rows: NDArray[np.intp]) -> list[tuple[int, list[int]]]:
    """Calls of one size by one plan, one after the other: the first, and all."""
    plans = found.ways["adaptive"].plans[rows]
    pieces = np.split(rows, np.flatnonzero(np.diff(plans)) + 1)
    return [(int(piece[0]), piece.tolist()) for piece in pieces]


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

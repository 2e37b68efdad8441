"""The table that the verb `train` prints of several reconfiguration delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import show_time
from lightloom.views.axis_units import time_label
from lightloom.views.policy_titles import IDEAL, OURS, title_of
from lightloom.views.ratios import factor
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from lightloom.training.break_even import BreakEven


def break_even_table(found: BreakEven) -> str:
    """A row a delay: the time of joint planning, of each other policy over it; and where that takes as long."""
    return render(*break_even_parts(found))


def break_even_parts(found: BreakEven) -> list[RenderableType]:
    """The parts of `break_even_table`."""
    others = [name for name in found.policies if name != OURS]
    headers = ("delay", *map(title_of, (OURS, *others)))
    made = table(*headers, right=headers)
    factors = {name: found.over_ours(name) for name in others}
    for row, (delay_s, time_s) in enumerate(zip(found.delays_s, found.policies[OURS], strict=True)):
        cells = [factors[name][row] for name in others]
        made.add_row(
            time_label(delay_s),
            "-" if time_s is None else show_time(time_s),
            *("-" if over is None else factor(over) for over in cells),
        )
    title = heading(
        f"iteration time by reconfiguration delay; other policies as multiples of the time of {title_of(OURS)}"
    )
    return [title, made, *map(Text, _ends(found, others))]


def _ends(found: BreakEven, others: list[str]) -> list[str]:
    from lightloom.training.break_even import AS_LONG

    served = [name for name in others if name != IDEAL and any(over is not None for over in found.over_ours(name))]
    ends = [(name, found.as_long_from_s(name)) for name in served]
    return [
        f"{title_of(name)}: slower than {title_of(OURS)} at every delay"
        if delay_s is None
        else f"{title_of(name)}: within {AS_LONG:.1%} of {title_of(OURS)} from {time_label(delay_s)} on"
        for name, delay_s in ends
    ]

"""A figure of a paper, made again: its claims judged, its data, its picture."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.papers import shown_figures
from lightloom.page.work.say import Kind

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

KEYS = ("figure",)


def work(asked: dict[str, Any], _limits: Limits, say: Say) -> Outcome:
    """Make `figure` by the cost model: simulations and runs take long, and are for the command line."""
    for name in asked:
        if name not in KEYS:
            raise unknown_name("option", name, KEYS)
    figure = asked.get("figure")
    if not isinstance(figure, str):
        raise refuse("figure", f"`{shown(figure)}` is not accepted; it takes the name of a figure")

    def advance(done: int, total: int) -> None:
        say(Kind.PROGRESS, {"done": done, "of": total})

    return Outcome(DONE, json.dumps(shown_figures().make(figure, advance), ensure_ascii=False).encode())

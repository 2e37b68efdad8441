"""The papers' figures that can be made again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.papers import shown_figures

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say


def work(_asked: dict[str, Any], _limits: Limits, _say: Say) -> Outcome:
    """By paper: name, title, source, and what makes each."""
    return Outcome(DONE, json.dumps({"papers": shown_figures().papers()}, ensure_ascii=False).encode())

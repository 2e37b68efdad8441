"""Advice on switches, as the verb `advise` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.results import advice_of

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Advise on the job that is asked about."""
    return Outcome(DONE, advice_of(asked, limits).to_json().encode())

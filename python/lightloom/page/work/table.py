"""Tables, as the verbs print them with `--format csv`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import unknown_name
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.subject import shown_by

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

CSV = "text/csv; charset=utf-8"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """The table `of` a plan, a comparison, bounds, training, a map or another subject."""
    asked = dict(asked)
    subject, kind = asked.pop("of", "plan"), asked.pop("format", "csv")
    if kind != "csv":
        raise unknown_name("format", kind, ("csv",))
    rows = shown_by("table", "of", subject)
    return Outcome(DONE, (rows(asked, limits) + "\n").encode(), CSV, f"{subject}.csv")

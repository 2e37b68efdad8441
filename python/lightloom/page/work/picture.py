"""Pictures, as `--plot` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.base.errors import unknown_name
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.subject import shown_by

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """The picture `of` a plan, a simulation, training, a map or another subject, in `format` svg, png or pdf."""
    asked = dict(asked)
    subject, kind = asked.pop("of", "plan"), asked.pop("format", "svg")
    if kind not in list(TYPES):
        raise unknown_name("format", kind, TYPES)
    draw = shown_by("picture", "of", subject)
    from lightloom.views.charts import as_bytes

    return Outcome(DONE, as_bytes(draw(asked, limits), kind), TYPES[kind], f"{subject}.{kind}")

"""Lower bounds, as the verb `bound` prints them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.page.arguments import arguments_of, checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.views.documents import bound_document

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Bound, without a plan."""
    arguments, _ = arguments_of(checked("bound", asked), limits)
    return Outcome(DONE, json.dumps(bound_document(ll.bound(**arguments)), indent=1).encode())

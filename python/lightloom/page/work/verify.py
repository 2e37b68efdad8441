"""A plan executed symbolically and checked, as the verb `verify` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lightloom as ll
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.results import plan_of
from lightloom.views.documents import checks_document

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

# In the place of a file's name.
SUBJECT = "plan"


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """Verify the plan that is given, or that the options ask for."""
    checks = ll.verify(plan_of(asked, limits))
    return Outcome(DONE, checks_document([(SUBJECT, SUBJECT, checks)]).encode())

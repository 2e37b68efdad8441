"""A request as a command and as Python code: either gives the answer that the page shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown, unknown_name
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import Code
from lightloom.page.work.subject import shown_by

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say

KEYS = ("verb", "options")


def work(asked: dict[str, Any], limits: Limits, _say: Say) -> Outcome:
    """`options` of `verb` as a command line and as Python, with the files to be saved next to them."""
    for name in asked:
        if name not in KEYS:
            raise unknown_name("option", name, KEYS)
    verb, options = asked.get("verb", "plan"), asked.get("options", {})
    if not isinstance(options, dict):
        raise refuse("options", f"`{shown(options)}` is not accepted; it takes options by name")
    write = shown_by("code", "verb", verb)
    code = Code()
    write(options, code, limits)
    told = {"command": "\n".join(code.commands), "python": "\n".join(code.lines) + "\n", "files": code.files}
    return Outcome(DONE, json.dumps(told, ensure_ascii=False).encode())

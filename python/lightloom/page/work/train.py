"""A training iteration, as the verb `train` prints it; its course in time, and its time against the delay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.results import training_of
from lightloom.page.work.say import Kind
from lightloom.views.training_rows import timeline

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say
    from lightloom.training.break_even import BreakEven


def work(asked: dict[str, Any], limits: Limits, say: Say) -> Outcome:
    """Plan the iteration; with `break_even`, at every delay; with `timeline`, tell the rows of its picture too."""

    def report(done: int, total: int) -> None:
        say(Kind.PROGRESS, {"done": done, "of": total})

    asked = dict(asked)
    with_timeline = asked.pop("timeline", False)
    if not isinstance(with_timeline, bool):
        raise refuse("timeline", f"`{shown(with_timeline)}` is not accepted; it takes true or false")
    training, found = training_of(asked, limits, report)
    text = training.to_json().rstrip()
    beside: dict[str, Any] = {}
    if found is not None:
        beside["break_even"] = _told(found)
    if with_timeline:
        beside["timeline"] = timeline(training)
    for name, value in beside.items():
        text = f'{text.removesuffix("}").rstrip()},\n  "{name}": {json.dumps(value)}\n}}'
    return Outcome(DONE, text.encode())


def _told(found: BreakEven) -> dict[str, Any]:
    """Times by policy at every delay, and from which delay on a policy takes as long as ours."""
    return {
        "delays_s": list(found.delays_s),
        "policies_s": {name: list(times) for name, times in found.policies.items()},
        "lower_bounds_s": list(found.lower_bounds_s),
        "as_long_from_s": {name: found.as_long_from_s(name) for name in found.policies},
    }

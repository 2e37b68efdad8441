"""A training iteration, as the verb `train` prints it, and its time against the reconfiguration delay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.made import training_of
from lightloom.page.work.say import Kind

if TYPE_CHECKING:
    from lightloom.page.limits import Limits
    from lightloom.page.work.say import Say
    from lightloom.training.break_even import BreakEven


def work(asked: dict[str, Any], limits: Limits, say: Say) -> Outcome:
    """Plan the iteration; with `break_even`, at every delay."""

    def report(done: int, total: int) -> None:
        say(Kind.PROGRESS, {"done": done, "of": total})

    training, found = training_of(asked, limits, report)
    text = training.to_json().rstrip()
    if found is not None:
        text = f'{text.removesuffix("}").rstrip()},\n  "break_even": {json.dumps(_told(found))}\n}}'
    return Outcome(DONE, text.encode())


def _told(found: BreakEven) -> dict[str, Any]:
    """Times by policy at every delay, and from which delay on a policy takes as long as ours."""
    return {
        "delays_s": list(found.delays_s),
        "policies_s": {name: list(times) for name, times in found.policies.items()},
        "lower_bounds_s": list(found.lower_bounds_s),
        "as_long_from_s": {name: found.as_long_from_s(name) for name in found.policies},
    }

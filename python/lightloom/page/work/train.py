"""A training iteration, as the verb `train` prints it; its course in time, and its time against the delay."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, shown
from lightloom.page.arguments import checked
from lightloom.page.outcome import DONE, Outcome
from lightloom.page.work.code import Bare, arguments_text, fabric_line, flags_text
from lightloom.page.work.iterations import training_of
from lightloom.page.work.say import Kind
from lightloom.page.work.subject import Subject
from lightloom.views.training_rows import timeline

if TYPE_CHECKING:
    from lightloom import Training
    from lightloom.page.limits import Limits
    from lightloom.page.work.code import Code
    from lightloom.page.work.say import Say
    from lightloom.training.break_even import BreakEven

WORKLOAD, MODEL = "workload.json", "model.toml"


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


def _training(asked: dict[str, Any], limits: Limits) -> Training:
    return training_of(asked, limits, lambda _done, _total: None)[0]


def _break_even(asked: dict[str, Any], limits: Limits) -> BreakEven:
    _, found = training_of({**asked, "break_even": True}, limits, lambda _done, _total: None)
    if found is None:
        raise refuse("break_even", "no delays were computed")
    return found


def _code(options: dict[str, Any], code: Code, _limits: Limits) -> None:
    options = dict(options)
    for name in ("break_even", "delays", "timeline"):
        options.pop(name, None)
    name = options.pop("model", None)
    for key, file in (("workload", WORKLOAD), ("description", MODEL)):
        if options.get(key) is not None:
            told = options.pop(key)
            code.files[file] = told if isinstance(told, str) else json.dumps(told, indent=1)
            name = file
    if not isinstance(name, str):
        raise refuse("model", "it takes one of three: model, a name; description, a model's TOML text; workload, JSON")
    given = checked("train", options)
    code.commands.append(f"lightloom train {quote(name)}{flags_text('train', given)}")
    code.lines.append(fabric_line(given))
    arguments = arguments_text({"workload": name, "fabric": Bare("fabric"), **given}, ("workload",))
    code.lines += [f"training = ll.train({arguments})", "print(training.to_json())"]


SUBJECTS = {"train": Subject.of_result(_training, _code), "break-even": Subject.of_result(_break_even)}

"""The widget of a plan."""

from __future__ import annotations

import json
from bisect import bisect_right
from itertools import accumulate
from math import isnan
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.page.work.journey import journey
from lightloom.page.work.loads import MOST_GPUS, loads
from lightloom.page.work.ports import ports
from lightloom.widgets.modules import joined_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightloom.plans import Plan

# The longest text of answers that the widget brings along, so that it moves where no Python runs, such as in a saved
# notebook; the answers of larger plans are asked for, a step at a time.
LONGEST = 1_000_000
# The place of a step's beginning after the end of the step before, over the plan's time, as the page's player has it.
INTO = 5e-10


class PlanWidget(anywidget.AnyWidget):
    """A plan as the page shows it, with its circuits in time.

    time_s: the time in the plan that is shown, from 0 to its total. step: the index of the step then, from 0. Both
    follow the widget's controls, and may be set.
    """

    _esm = joined_modules("notebook/plan.js")
    _plan = traitlets.Unicode().tag(sync=True)
    _prepared = traitlets.Unicode().tag(sync=True)
    time_s = traitlets.Float(0.0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._starts_s = [0.0, *accumulate(step.total_s for step in plan.steps)][:-1]
        super().__init__(_plan=plan.to_json(), _prepared=_prepared(plan))
        self.on_msg(self._answer)

    @traitlets.validate("time_s")
    def _within_the_plan(self, proposal: dict[str, float]) -> float:
        time_s = proposal["value"]
        return 0.0 if isnan(time_s) else min(max(time_s, 0.0), self.plan.total_s)

    @traitlets.validate("step")
    def _of_the_plan(self, proposal: dict[str, int]) -> int:
        return min(max(proposal["value"], 0), len(self.plan.steps) - 1)

    @traitlets.observe("time_s")
    def _follow_time(self, _change: object) -> None:
        self.step = self._step_then()

    @traitlets.observe("step")
    def _follow_step(self, _change: object) -> None:
        if self.step != self._step_then():
            self.time_s = self._starts_s[self.step] + INTO * self.plan.total_s

    def _step_then(self) -> int:
        return max(bisect_right(self._starts_s, self.time_s) - 1, 0)

    def _answer(self, _widget: object, asked: Any, _buffers: object) -> None:
        try:
            self.send({"id": asked["id"], "answer": _told(self.plan, asked["path"], asked["more"])})
        except InputError as error:
            self.send({"id": asked["id"], "refused": str(error)})


def _told(plan: Plan, path: str, more: dict[str, Any]) -> dict[str, Any]:
    """The answer of the page's server about the plan. Raises `InputError`."""
    if path == "/api/ports":
        return ports(ll.circuits(plan))
    return loads(plan, more["step"]) if path == "/api/loads" else journey(plan, more.get("chunk", 0))


def _prepared(plan: Plan) -> str:
    """JSON of answers by their question, each once: `places` of `answers`, as many as are not too long."""
    texts: dict[str, int] = {}
    places: dict[str, int] = {}
    length = 0
    for asked, told in _answers(plan):
        text = json.dumps(told, ensure_ascii=False)
        length += len(text) if text not in texts else 0
        if length > LONGEST:
            break
        places[asked] = texts.setdefault(text, len(texts))
    return f'{{"places": {json.dumps(places)}, "answers": [{", ".join(texts)}]}}'


def _answers(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Answers that circuits in time need, each with its question as `notebook/model.js` writes it, until a refusal."""
    if plan.gpus > MOST_GPUS:
        return
    try:
        yield "/api/ports {}", ports(ll.circuits(plan))
        for step in range(len(plan.steps)):
            told = loads(plan, step)
            # Equal steps have equal answers.
            yield f'/api/loads {{"step":{step}}}', {key: told[key] for key in ("paths", "links")}
    except InputError:
        return

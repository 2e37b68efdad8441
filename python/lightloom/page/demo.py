"""The page as files that any web server can host, with answers prepared for the problems that it offers."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import FailedError
from lightloom.page.files import INDEX, UNKNOWN, index_of, page_files, view_addresses
from lightloom.page.limits import Limits
from lightloom.page.parser import as_text
from lightloom.page.tasks import TASKS, task
from lightloom.page.work.options import examples
from lightloom.page.worker import carried_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lightloom.page.frames import Kind
    from lightloom.page.outcome import Outcome

__all__ = ["as_asked", "demo_files"]

# The planner that a plan is compared with, as the page asks for it; the baseline of maps.
NEVER_CHANGE = "never-change"
# The policy of the best circuits that never change, whose names the page explains.
FIXED = "one-shot"
# Names of figures that take less than a second, a line each.
FIGURES = "demo_figures.txt"
# Tasks whose answers depend on what else is installed: the page says so where they refuse.
MAY_REFUSE = {"figures", "reproduce"}
# Before the names of what the second of two fabrics has instead.
OTHER = "other_"
ENDINGS = {"application/json": "json", "image/svg+xml": "svg", "image/png": "png"}
# Addresses of the page in its HTML.
ADDRESS = re.compile(rb'(href|src)="/([^"]*)"')


class _Unheard:
    """Rows and progress of work that nobody follows."""

    told: Sequence[dict[str, Any]] = ()
    is_to_pause = False

    def __call__(self, _kind: Kind, _row: dict[str, Any]) -> None:
        """Nothing is done with it."""


class _Answers:
    """Answers by what is asked, as files, each once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.files: dict[str, bytes] = {}
        self.prepared: dict[str, dict[str, Any]] = {}
        self._say = say
        # Maps of the examples have some hundred points; their work takes the time that it takes.
        self._limits = Limits()

    def add(self, name: str, asked: dict[str, Any]) -> Outcome:
        """The task's answer, kept. Raises `FailedError` where an example is refused."""
        self._say(f"{len(self.files)} answers are ready; computing {name}")
        outcome = carried_out(as_text(name, json.dumps(asked).encode()), self._limits, _Unheard())
        if outcome is None or not (outcome.is_done or name in MAY_REFUSE):
            said = "" if outcome is None else json.loads(outcome.content)["error"]
            raise FailedError(f"the example {name} cannot be prepared: {said}")
        ending = ENDINGS.get(outcome.media_type.partition(";")[0], "txt")
        file = f"answers/{len(self.files):04}-{name}.{ending}"
        self.files[file] = outcome.content
        self.prepared[f"/api/{name} {as_asked(asked)}"] = {"file": file, "status": outcome.status}
        return outcome


def demo_files(say: Callable[[str], None]) -> dict[str, bytes]:
    """Contents of files by their names: the page, its views, and answers, found by `prepared.json`.

    say: is told how far it is. Raises `FailedError` where an example is refused.
    """
    answers = _Answers(say)
    for one in TASKS:
        if not one.is_asked:
            answers.add(one.name, {})
    for figure in resources.files("lightloom.page").joinpath(FIGURES).read_text("utf-8").split():
        answers.add("reproduce", {"figure": figure})
    for verb, options, axes in _problems():
        _add_problem(answers, verb, options, axes)
    files = page_files()
    made = {f"static/{path}": file.content for path, file in files.items() if path not in {INDEX, UNKNOWN}}
    for address in view_addresses(files[INDEX]):
        view = address.strip("/")
        content = index_of(files, address).content
        made[f"{view}/{INDEX}" if view else INDEX] = _placed(content, b"../" if view else b"./")
    made["404.html"] = _placed(files[UNKNOWN].content, b"./")
    made["prepared.json"] = json.dumps(answers.prepared, ensure_ascii=False).encode()
    return {**made, **answers.files}


def _problems() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Verb, options, and axes of a map, of all examples, and of the problems that other views begin with."""
    presets = examples()["presets"]
    plans = [preset["options"] for preset in presets if preset["verb"] == "plan"]
    yield "map", plans[0], {}
    for preset in presets:
        yield preset["verb"], preset["options"], preset.get("axes", {})
    # What plans are offered for is compared, too.
    for options in plans:
        yield "compare", options, {}


def _add_problem(answers: _Answers, verb: str, options: dict[str, Any], axes: dict[str, Any]) -> None:
    """The requests of a view about a problem: its answer, files, code, and other things that it shows."""
    if verb == "two-fabrics":
        second = {name.removeprefix(OTHER): value for name, value in axes.items()}
        for one in (options, {**options, **second}):
            _add_plan(answers, one)
        return
    if verb == "map":
        options = _map(options, axes)
    if verb == "train":
        answers.add(verb, {**options, "timeline": True})
        answers.add(verb, {**options, "break_even": True})
        answers.add("circuits", options)
        answers.add("explain", {**options, "policy": FIXED})
    else:
        answers.add(verb, options)
    if verb == "plan":
        _add_plan(answers, options)
        answers.add(verb, {**options, "planner": NEVER_CHANGE})
        for name in ("explain", "circuits", "ports", "journey"):
            answers.add(name, options)
    ways = task(verb).subjects[verb]
    if "code" in ways:
        answers.add("as-code", {"verb": verb, "options": options})
    for way, formats in (("picture", ("svg", "png")), ("table", ("csv",))):
        for form in formats if way in ways and verb != "map" else ():
            answers.add(way, {"of": verb, **options, "format": form})


def _add_plan(answers: _Answers, options: dict[str, Any]) -> None:
    """A plan, with the loads of its steps and its code."""
    outcome = answers.add("plan", options)
    for step in range(len(json.loads(outcome.content)["steps"])):
        answers.add("loads", {**options, "step": step})
    answers.add("as-code", {"verb": "plan", "options": options})


def _map(options: dict[str, Any], axes: dict[str, Any]) -> dict[str, Any]:
    """The request for a map as the page's form makes it."""
    ranges = examples()["ranges"]
    of_pairs = "/pair" if str(options.get("size", "")).endswith("/pair") else ""
    asked: dict[str, Any] = {"options": options, "against": NEVER_CHANGE}
    for letter, option in (("x", "size"), ("y", "reconfiguration-delay")):
        varied = axes.get(letter, option)
        told = {**ranges[varied], **({"points": axes[f"{letter}_points"]} if f"{letter}_points" in axes else {})}
        unit = of_pairs if varied == "size" else ""
        ends = {end: told[end] + unit for end in ("from", "to")}
        asked[letter] = {"option": varied, **ends, "points": told["points"]}
    return asked


def _placed(content: bytes, root: bytes) -> bytes:
    """HTML whose addresses are relative to the folder of the demo, which it names, as it is seen from there."""
    relative = ADDRESS.sub(rb'\1="\2"', content)
    return relative.replace(b"<head>", b'<head>\n  <base href="%s">' % root, 1)


def as_asked(asked: dict[str, Any]) -> str:
    """A request as a text that is the same however its numbers and names are written; `prepared.js` writes it, too."""
    return json.dumps(_plain(asked), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        named = {name.replace("_", "-"): _plain(one) for name, one in value.items() if one is not None}
        return dict(sorted(named.items()))
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)

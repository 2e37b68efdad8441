"""Widgets in Python: the answers that they bring along, time and step, and the display of results in a notebook."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import IPython
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter

import lightloom as ll
from lightloom.page import tasks
from lightloom.widgets import WIDGETS, modules, view
from lightloom.widgets.modules import joined_modules, style_sheet
from tests.conftest import ROOT

if TYPE_CHECKING:
    from anywidget import AnyWidget

PLAN = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, reconfiguration_delay="1us"), planner="harvest")
TRAINING = ll.train("bert-pccl", ranks=4)
RESULTS: dict[str, Any] = {"Plan.widget": PLAN, "Training.widget": TRAINING}
STARTS_S = [0.0, *itertools.accumulate(step.total_s for step in PLAN.steps)][:-1]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of IPython as a notebook's kernel has it."""
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=object()))


def test_every_widget_is_tried() -> None:
    assert set(RESULTS) == set(WIDGETS)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("name", WIDGETS)
def test_a_notebook_has_the_widget_and_the_html(name: str) -> None:
    data, _ = DisplayFormatter().format(RESULTS[name])
    (kind,) = [kind for kind in data if kind.startswith("application/vnd.jupyter.widget-view")]
    assert data[kind]["model_id"]
    assert data["text/html"] == RESULTS[name]._repr_html_()
    assert data["text/plain"] == repr(RESULTS[name])


@pytest.mark.parametrize("name", WIDGETS)
def test_without_a_notebook_there_is_the_html_as_ever(name: str) -> None:
    data, _ = DisplayFormatter().format(RESULTS[name])
    assert set(data) == {"text/html", "text/plain"}


@pytest.mark.usefixtures("kernel")
def test_without_the_package_there_is_the_html_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [*sys.modules]:
        if module.startswith("lightloom.widgets."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.setattr("lightloom.base.views.find_spec", lambda _name: None)
    assert set(DisplayFormatter().format(PLAN)[0]) == {"text/html", "text/plain"}
    with pytest.raises(ll.InputError) as refused:
        PLAN.widget()
    assert str(refused.value) == "widget: a widget needs the package `anywidget`: pip install 'lightloom[notebook]'"


def test_plans_are_imported_without_widgets() -> None:
    program = "import sys, lightloom as ll; ll.Plan, ll.Training; sys.exit('anywidget' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@given(st.floats(0, PLAN.total_s))
def test_the_step_follows_the_time(seconds: float) -> None:
    widget = PLAN.widget()
    widget.set_trait("time_s", seconds)
    assert widget.trait_values()["step"] == max(index for index, start_s in enumerate(STARTS_S) if start_s <= seconds)
    widget.close()


@pytest.mark.parametrize("step", range(len(PLAN.steps)))
def test_the_time_follows_the_step(step: int) -> None:
    widget = PLAN.widget()
    widget.set_trait("step", step)
    assert widget.trait_values()["time_s"] == pytest.approx(STARTS_S[step], abs=1e-9 * PLAN.total_s)
    assert widget.trait_values()["step"] == step


def test_what_a_notebook_sets_is_observed() -> None:
    widget = PLAN.widget()
    seen: list[int] = []
    widget.observe(lambda change: seen.append(change.new), "step")
    inside_s = STARTS_S[2] + 0.5 * PLAN.steps[2].total_s
    widget.set_state({"time_s": inside_s, "step": 2})
    widget.set_state({"time_s": inside_s * (1 + 1e-9), "step": 2})
    assert seen == [2]
    assert widget.trait_values()["time_s"] == inside_s * (1 + 1e-9)


def test_what_is_outside_of_the_plan_is_its_beginning_or_its_end() -> None:
    widget = PLAN.widget()
    end = (PLAN.total_s, len(PLAN.steps) - 1)
    for told, is_then in ((2 * PLAN.total_s, end), (-1.0, (0.0, 0)), (math.inf, end), (math.nan, (0.0, 0))):
        widget.set_trait("time_s", told)
        assert (widget.trait_values()["time_s"], widget.trait_values()["step"]) == is_then
    widget.set_trait("step", len(PLAN.steps))
    assert widget.trait_values()["step"] == len(PLAN.steps) - 1


def _asked(widget: AnyWidget, monkeypatch: pytest.MonkeyPatch, path: str, **more: Any) -> dict[str, Any]:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(widget, "send", sent.append)
    widget._handle_custom_msg({"id": "7", "path": path, "more": more}, [])
    (answer,) = sent
    assert answer.pop("id") == "7"
    return answer


def _of_server(path: str, **more: Any) -> Any:
    """The answer of the page's server."""
    from importlib import import_module

    from lightloom.page.limits import Limits

    task = tasks.task(path.removeprefix("/api/"))
    asked = {"plan": json.loads(PLAN.to_json()), **more}
    return json.loads(import_module(task.module).work(asked, Limits(), lambda *_: None).content)


def test_what_a_widget_brings_along_is_what_the_server_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    widget = PLAN.widget()
    prepared = json.loads(widget.get_state()["_prepared"])
    places, answers = prepared["places"], prepared["answers"]
    assert set(places) == {"/api/ports {}", *(f'/api/loads {{"step":{step.index}}}' for step in PLAN.steps)}
    assert len(answers) < len(places)
    for asked, place in places.items():
        path, _, more = asked.partition(" ")
        answer = _of_server(path, **json.loads(more))
        assert {key: answer[key] for key in answers[place]} == answers[place]
        assert _asked(widget, monkeypatch, path, **json.loads(more)) == {"answer": answer}
    assert _asked(widget, monkeypatch, "/api/journey", chunk=1) == {"answer": _of_server("/api/journey", chunk=1)}


def test_what_cannot_be_answered_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = _asked(PLAN.widget(), monkeypatch, "/api/journey", chunk=99)
    assert refused == {"refused": "chunk: `99` is not accepted; it takes a whole number from 0 to 7"}


def test_of_a_large_plan_the_answers_are_left_to_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lightloom.widgets.plan.LONGEST", 5_000)
    widget = PLAN.widget()
    prepared = json.loads(widget.get_state()["_prepared"])
    assert 0 < len(prepared["places"]) < 1 + len(PLAN.steps)
    assert len(json.dumps(prepared["answers"])) < 6_000
    assert "answer" in _asked(widget, monkeypatch, "/api/loads", step=len(PLAN.steps) - 1)


def test_of_more_gpus_than_are_drawn_nothing_is_brought_along() -> None:
    plan = ll.plan("all-gather", "1MiB", fabric=ll.Fabric(gpus=2048), algorithm="recursive-doubling", planner="static")
    assert json.loads(plan.widget().get_state()["_prepared"]) == {"places": {}, "answers": []}


@pytest.mark.parametrize("name", WIDGETS)
def test_a_module_has_all_that_it_imports_as_it_is(name: str) -> None:
    text: str = getattr(view(name), "_esm")  # noqa: B009
    literal, _ = json.JSONDecoder().raw_decode(text.partition("export default widgetOf(")[2])
    names = [one for one, _ in literal]
    assert len(set(names)) == len(names) > 5
    for place, (one, joined) in enumerate(literal):
        source = (ROOT / "python" / "lightloom" / "page" / "static" / "js" / one).read_text()
        imported = [
            line.rpartition(' from "page:')[2].removesuffix('";')
            for line in joined.splitlines()
            if ' from "' in line and "/** @import" not in line
        ]
        assert set(imported) <= set(names[:place])
        # Only addresses differ, and each names the file that it did.
        differing = [pair for pair in zip(source.splitlines(), joined.splitlines(), strict=True) if pair[0] != pair[1]]
        assert len(differing) == len(imported)
        for (line, _), of in zip(differing, imported, strict=True):
            relative = line.rpartition(' from "')[2].removesuffix('";')
            assert ((ROOT / one).parent / relative).resolve() == ROOT / of
    # Modules that only a server serves are not among them.
    assert not {"api.js", "site.js", "prepared.js"} & set(names)


def test_styles_have_no_place_outside_of_the_widget() -> None:
    text = style_sheet()
    assert ":root" not in text
    assert "@media (max-width" not in text
    assert text.count("{") == text.count("}")
    assert joined_modules("notebook/plan.js").count(json.dumps(text, ensure_ascii=False)) == 1
    assert text.count("@container") == sum(
        (ROOT / "python/lightloom/page/static/css" / name).read_text().count("@media (max-width")
        for name in modules.STYLES
    )

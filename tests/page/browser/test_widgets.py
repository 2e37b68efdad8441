"""Widgets of notebooks in a page that is a file: no server answers, and a model stands for the kernel."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import lightloom as ll
from tests.page.browser.chromium import NARROW
from tests.page.browser.notebook import DARK, LIGHT, with_widget
from tests.page.browser.rules import is_wider_than_the_screen, violations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from anywidget import AnyWidget
    from playwright.sync_api import Browser, Page

    from tests.page.browser.chromium import Opened

    Shown = Callable[..., Opened]

pytestmark = pytest.mark.large
PLAN = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=8, reconfiguration_delay="1us"), planner="harvest")
# The end of every step, by its terms.
ENDS_S = [*itertools.accumulate(step.total_s for step in PLAN.steps)]


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    """Opens a page with a widget; nothing may be wrong in it when the test ends."""
    made: list[Opened] = []

    def show(widget: AnyWidget, around: str = LIGHT, **options: Any) -> Opened:
        made.append(with_widget(browser, tmp_path, widget, around, **options))
        return made[-1]

    yield show
    for one in made:
        one.context.close()
        assert one.problems == []


def _value(page: Page, name: str) -> Any:
    return page.evaluate("(name) => model.get(name)", name)


def _step_at(seconds: float) -> int:
    return next(index for index, end_s in enumerate(ENDS_S) if seconds < end_s)


def test_a_plan_is_drawn_with_what_its_circuits_carry(shown: Shown) -> None:
    page = shown(PLAN.widget()).page
    carrying = {link for path in PLAN.routes(0) for link in itertools.pairwise(path.gpus.tolist())}
    expect(page.locator(".gpu")).to_have_count(PLAN.gpus)
    expect(page.locator(".drawing:not(.switch) .circuit.busy")).to_have_count(len(carrying))
    joined = sum(int(count) for *_, count in PLAN.steps[0].topology.links)
    expect(page.locator(".switch .connection:not(.gone)")).to_have_count(joined)
    assert page.evaluate("model.sent") == []
    # Styles of the notebook do not reach it.
    assert page.locator(".player button").first.evaluate("(one) => getComputedStyle(one).fontSize") == "14px"


def test_it_plays_and_python_is_told(shown: Shown) -> None:
    page = shown(PLAN.widget()).page
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("model.get('step') > 0 && model.saved.some((one) => one.step > 0)")
    page.get_by_role("button", name="Pause").click()
    page.wait_for_function("Object.keys(model.changed).length === 0")
    stopped = _value(page, "time_s")
    page.wait_for_timeout(150)
    assert _value(page, "time_s") == stopped
    told: dict[str, Any] = page.evaluate("Object.assign({}, ...model.saved)")
    assert told == {"time_s": stopped, "step": _step_at(stopped)}


def test_time_is_dragged(shown: Shown) -> None:
    page = shown(PLAN.widget()).page
    page.get_by_label("Time in the plan", exact=True).fill("1500")
    assert _value(page, "time_s") == pytest.approx(0.75 * PLAN.total_s)
    assert _value(page, "step") == _step_at(0.75 * PLAN.total_s)
    expect(page.locator(".aside h3").first).to_contain_text(f"Step {_value(page, 'step') + 1} of {len(PLAN.steps)}")


def test_python_sets_time_and_step(shown: Shown) -> None:
    widget = PLAN.widget()
    widget.set_trait("step", 1)
    page = shown(widget).page
    expect(page.locator(".aside h3").first).to_contain_text("Step 2 of")
    page.evaluate("(seconds) => model.set('time_s', seconds)", (ENDS_S[1] + ENDS_S[2]) / 2)
    expect(page.locator(".aside h3").first).to_contain_text("Step 3 of")
    assert _value(page, "step") == 2
    page.evaluate("model.set('step', 0)")
    expect(page.locator(".aside h3").first).to_contain_text("Step 1 of")
    assert _value(page, "time_s") < ENDS_S[0]


def test_keys_do_everything_and_do_not_reach_the_notebook(shown: Shown) -> None:
    page = shown(PLAN.widget()).page
    page.locator(".scene-of").focus()
    page.keyboard.press("ArrowRight")
    assert _value(page, "step") == 1
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("GPU", exact=True)).to_have_value("0")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    page.get_by_label("GPU", exact=True).fill("")
    page.keyboard.type("5")
    assert page.evaluate("keys") == []
    assert page.locator("#one > *").get_attribute("data-lm-suppress-shortcuts") == "true"


def test_what_it_does_not_bring_along_is_asked_for(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    widget = PLAN.widget()
    answers: list[dict[str, Any]] = []
    monkeypatch.setattr(widget, "send", answers.append)
    page = shown(widget).page
    for chunk in (len(PLAN.chunks()), 3):
        page.get_by_label("Chunk", exact=True).fill(str(chunk))
        page.wait_for_function("model.sent.length > 0")
        (asked,) = page.evaluate("model.sent.splice(0)")
        widget._handle_custom_msg(asked, [])
        page.evaluate("(said) => model.tell('msg:custom', said)", answers.pop())
        words = f"Chunk 3 of 0 to {len(PLAN.chunks()) - 1}" if chunk == 3 else f"There is no chunk {chunk}"
        expect(page.locator(".aside")).to_contain_text(words)


def test_without_motion_it_goes_from_step_to_step(shown: Shown) -> None:
    page = shown(PLAN.widget(), reduced_motion="reduce").page
    assert page.locator(".flow").first.evaluate("(one) => getComputedStyle(one).display") == "none"
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("model.get('step') === 1")
    assert _value(page, "time_s") == pytest.approx(ENDS_S[0], rel=1e-6)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_as_light_as_what_is_around(shown: Shown, scheme: Any) -> None:
    """Whichever scheme the system has."""
    page = shown(PLAN.widget(), color_scheme=scheme).page
    host, card = page.locator("#one > *"), page.locator("section.card").first
    grounds = {}
    for around, theme in ((LIGHT, "light"), (DARK, "dark")):
        page.evaluate("(colour) => document.body.style.setProperty('--around', colour)", around)
        expect(host).to_have_attribute("data-theme", theme)
        grounds[theme] = card.evaluate("(one) => getComputedStyle(one).backgroundColor")
    assert grounds == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 29, 36)"}


@pytest.mark.parametrize("around", [LIGHT, DARK])
@pytest.mark.parametrize("kind", ["plan", "training"])
def test_a_widget_breaks_no_rule_and_no_screen(shown: Shown, axe: str, kind: str, around: str) -> None:
    widget = PLAN.widget() if kind == "plan" else ll.train("bert-pccl").widget()
    opened = shown(widget, around)
    for details in opened.page.locator("summary").all():
        details.click()
    assert violations(opened, axe) == []
    opened.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    opened.page.wait_for_timeout(60)
    assert not is_wider_than_the_screen(opened)


def test_a_training_iteration_is_drawn_and_zoomed(shown: Shown) -> None:
    training = ll.train("bert-pccl")
    page = shown(training.widget()).page
    expect(page.locator(".sentence")).to_contain_text("iteration takes")
    tracks = page.locator(".tracks")
    whole = tracks.get_attribute("data-last") or ""
    assert float(whole) == pytest.approx(training.total_s)
    page.get_by_role("button", name="Closer").click()
    expect(tracks).not_to_have_attribute("data-last", whole)
    page.get_by_role("button", name="The whole time").click()
    expect(tracks).to_have_attribute("data-last", whole)
    drawn = "(one) => [...one.getContext('2d').getImageData(0, 0, one.width, one.height).data]"
    levels = page.locator(".tracks canvas").evaluate(drawn)
    assert len(set(zip(levels[::4], levels[1::4], levels[2::4], strict=True))) > 3


def test_what_is_ended_tells_what_is_left_and_nothing_more(shown: Shown) -> None:
    page = shown(PLAN.widget()).page
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("model.saved.length > 0")
    page.get_by_label("Time in the plan", exact=True).evaluate(
        "(one) => { one.value = 1500; one.dispatchEvent(new Event('input')); end(); }"
    )
    assert page.evaluate("[model.heard, model.changed]") == [[], {}]
    told: list[dict[str, Any]] = page.evaluate("model.saved")
    assert told[-1]["time_s"] == pytest.approx(0.75 * PLAN.total_s)
    page.wait_for_timeout(200)
    assert page.evaluate("model.saved") == told

"""A narrow screen: the result first, its problem in a line that unfolds, by finger and by keyboard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.page.browser.chromium import NARROW, WIDE, Opened
from tests.page.browser.rules import is_wider_than_the_screen, violations
from tests.page.browser.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator

    from tests.page.served import Served

WITH_FORMS = [view for view in VIEWS if view not in {"results", "figure"}]
PROBLEM = "/plan?collective=all-reduce&size=1MiB&gpus=16"


@pytest.fixture
def narrow(browser: Browser, server: Served) -> Iterator[Opened]:
    """A page as a phone shows it; nothing may be wrong in it when the test ends."""
    opened = Opened.at(browser, server.address, viewport=NARROW, has_touch=True)
    yield opened
    opened.context.close()
    assert opened.problems == []


def fold(opened: Opened) -> Locator:
    return opened.page.locator("button.fold")


def is_on_the_first_screen(place: Locator) -> bool:
    box = place.bounding_box()
    return box is not None and box["y"] + min(box["height"], 60) <= NARROW["height"] * 0.6


@pytest.mark.large
@pytest.mark.parametrize("view", WITH_FORMS)
def test_the_result_is_on_the_first_screen(narrow: Opened, axe: str, view: str) -> None:
    page = narrow.go(VIEWS[view])
    assert page.evaluate("scrollY") == 0
    assert is_on_the_first_screen(page.locator(".result > *").first)
    assert fold(narrow).get_attribute("aria-expanded") == "false"
    assert not page.get_by_label("Ports", exact=True).is_visible()
    fold(narrow).tap()
    assert fold(narrow).get_attribute("aria-expanded") == "true"
    expect(page.get_by_label("Ports", exact=True)).to_be_visible()
    assert not is_wider_than_the_screen(narrow)
    assert violations(narrow, axe) == []
    fold(narrow).tap()
    assert not page.get_by_label("Ports", exact=True).is_visible()
    assert violations(narrow, axe) == []


@pytest.mark.large
def test_the_line_says_the_problem(narrow: Opened) -> None:
    page = narrow.go(f"{PROBLEM}&ports=2&bandwidth=400Gbps")
    assert re.sub(r"\s+", " ", fold(narrow).inner_text()) == (
        "16 GPUs · all-reduce · 1MiB · ports 2 · bandwidth 400Gbps Change"
    )
    narrow.go(VIEWS["training"])
    expect(fold(narrow)).to_contain_text("bert-pccl")
    page = narrow.go(VIEWS["when-it-pays"])
    expect(page.locator("button.fold .said")).to_contain_text("reconfiguration delay by size")


@pytest.mark.large
def test_a_problem_is_changed_by_keys_alone(narrow: Opened) -> None:
    page = narrow.go(PROBLEM)
    before = page.locator(".headline").inner_text()
    fold(narrow).focus()
    page.keyboard.press("Enter")
    size = page.get_by_label("Size", exact=True)
    for _ in range(12):
        page.keyboard.press("Tab")
        if size.evaluate("(one) => one === document.activeElement"):
            break
    page.keyboard.press("Control+A")
    page.keyboard.type("2MiB")
    page.wait_for_url(re.compile("size=2MiB"))
    narrow.settle()
    page.get_by_role("button", name="Show the result").press("Enter")
    assert page.evaluate("document.activeElement.id") == "result"
    assert is_on_the_first_screen(page.locator(".headline"))
    assert page.locator(".headline").inner_text() != before
    assert not size.is_visible()
    expect(fold(narrow)).to_contain_text("2MiB")
    # What is folded is passed over: the next stop is in the result.
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_what_is_wrong_is_not_folded(narrow: Opened) -> None:
    page = narrow.page
    page.goto(f"{narrow.address}/plan?collective=all-reduce&size=nothing&gpus=16")
    expect(page.locator('[data-field="size"] .wrong')).to_be_visible()
    assert fold(narrow).get_attribute("aria-expanded") == "true"
    narrow.forgive("422")


@pytest.mark.large
def test_a_wide_screen_folds_nothing(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    assert not fold(opened).is_visible()
    assert not page.get_by_role("button", name="Show the result").is_visible()
    for viewport, is_shown in ((WIDE, True), (NARROW, False), (WIDE, True)):
        page.set_viewport_size(viewport)  # type: ignore[arg-type]
        expect(page.get_by_label("Size", exact=True)).to_be_visible(visible=is_shown)


@pytest.mark.large
def test_a_figure_is_on_the_first_screen(narrow: Opened, axe: str) -> None:
    page = narrow.go(VIEWS["figure"])
    assert is_on_the_first_screen(page.locator(".result .card").first)
    assert violations(narrow, axe) == []
    # The paper's numbers and ours are in the table without scrolling it sideways.
    claims = page.get_by_role("region", name="Claims of harvest-3")
    assert claims.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    expect(claims.get_by_text("Paper: 1. Ours: 1.", exact=True)).to_be_visible()
    fold(narrow).tap()
    page.get_by_role("link", name="Overview").tap()
    page.wait_for_url(re.compile("/results$"))
    narrow.settle()
    expect(page.get_by_role("link", name="schedules between static and BvN")).to_be_visible()


@pytest.mark.large
def test_a_deviation_is_below_the_numbers_that_it_is_of(narrow: Opened) -> None:
    claims = narrow.go("/results?figure=harvest-5a").get_by_role("region", name="Claims of harvest-5a")
    assert claims.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    expect(claims.get_by_text(re.compile(r"^Paper: \S+×\. Ours: \S+×\. Deviation: .*\d %\.$")).first).to_be_visible()


FITS = "(box) => box.scrollWidth <= box.clientWidth"
# The parts of the line of the bound that lie within a text of the drawing, at whose edges letters may touch it.
CROSSED = """() => [...document.querySelectorAll('svg.chart')].flatMap((svg) => {
  const texts = [...svg.querySelectorAll('text')].map((text) => [text.textContent, text.getBBox()]);
  return [...svg.querySelectorAll('path.reference')].flatMap((line) =>
    [...line.getAttribute('d').matchAll(/M([\\d.]+) ([\\d.]+)V([\\d.]+)/g)].flatMap(([, x, from, to]) =>
      texts.filter(([, box]) => x > box.x + 2 && x < box.x + box.width - 2
        && Math.min(to, box.y + box.height - 3) > Math.max(from, box.y + 3)).map(([words]) => words)));
})"""


@pytest.mark.large
def test_claims_that_no_figure_covers_fit(narrow: Opened) -> None:
    page = narrow.go("/results")
    claims = page.get_by_role("region", name="Claims judged without a figure")
    assert claims.evaluate(FITS)
    # Options are not broken at their dashes.
    lines = claims.locator("code").evaluate_all("(codes) => codes.map((code) => code.getClientRects().length)")
    assert lines
    assert set(lines) == {1}


@pytest.mark.large
def test_the_table_of_colours_fits_a_desk_s_display(opened: Opened) -> None:
    page = opened.go("/training?model=gpt-3&ranks=64&ports=4")
    table = page.get_by_role("region", name="Time by row and colour")
    assert table.evaluate(FITS)
    cells = table.locator("tbody td:first-child")
    line = cells.first.evaluate("(cell) => parseFloat(getComputedStyle(cell).lineHeight)")
    assert cells.evaluate_all("(all) => Math.max(...all.map((cell) => cell.firstChild.length))") > 20
    heights = cells.evaluate_all(
        "(all) => all.map((cell) => { const range = document.createRange(); range.selectNodeContents(cell);"
        " return range.getBoundingClientRect().height; })"
    )
    assert max(heights) <= 2.2 * line


@pytest.mark.large
@pytest.mark.parametrize("width", [WIDE["width"], NARROW["width"]])
@pytest.mark.parametrize("view", ["compare", "advice", "training"])
def test_the_line_of_the_bound_leaves_words_out(browser: Browser, server: Served, view: str, width: int) -> None:
    opened = Opened.at(browser, server.address, viewport={"width": width, "height": 900})
    try:
        page = opened.go(VIEWS[view])
        assert page.locator("path.reference").count() > 0
        assert page.evaluate(CROSSED) == []
        assert opened.problems == []
    finally:
        opened.context.close()


@pytest.mark.large
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_line_has_the_colour_of_bars(browser: Browser, server: Served, scheme: Any) -> None:
    opened = Opened.at(browser, server.address, color_scheme=scheme)
    try:
        page = opened.go(VIEWS["robust"])
        bar = page.locator("rect.term-transmission").first.evaluate("(one) => getComputedStyle(one).fill")
        assert page.locator("svg.lines path").first.evaluate("(one) => getComputedStyle(one).stroke") == bar
    finally:
        opened.context.close()

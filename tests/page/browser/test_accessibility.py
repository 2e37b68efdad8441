"""Every view by the rules of WCAG 2.2 A and AA, in both colour schemes, and at the widths of a desk and a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.page.browser.chromium import NARROW, WIDE, Opened
from tests.page.browser.rules import is_wider_than_the_screen, violations
from tests.page.browser.views import VIEWS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.page.served import Served


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_breaks_no_rule_and_no_screen(
    browser: Browser, server: Served, axe: str, view: str, scheme: Any
) -> None:
    opened = Opened.at(browser, server.address, color_scheme=scheme)
    try:
        page = opened.go(VIEWS[view])
        for viewport in (WIDE, NARROW) if scheme == "light" else (NARROW, WIDE):
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            page.wait_for_timeout(60)
            assert not is_wider_than_the_screen(opened), viewport
        # Each view is judged in light colours as on a phone, and in dark ones as on a desk.
        assert violations(opened, axe) == []
        assert opened.problems == []
    finally:
        opened.context.close()


@pytest.mark.large
def test_axe_finds_what_is_wrong(opened: Opened, axe: str) -> None:
    opened.go(VIEWS["plan"])
    opened.page.evaluate("document.querySelector('.field input').removeAttribute('id')")
    assert any(found.startswith("label:") for found in violations(opened, axe))


@pytest.mark.large
def test_all_is_reached_by_the_tab_key(opened: Opened) -> None:
    page = opened.go(VIEWS["plan"])
    seen: list[str] = []
    for _ in range(48):
        page.keyboard.press("Tab")
        name, is_marked = page.evaluate(
            "() => { const one = document.activeElement; return one === document.body ? ['', true] : ["
            "(one.getAttribute('aria-label') ?? one.name ?? '').trim() || one.textContent.trim(),"
            " getComputedStyle(one).outlineStyle !== 'none']; }"
        )
        assert is_marked, name
        seen.append(name)
    for words in ("Skip to the result", "Compare", "size", "Size, slider", "Play", "Time in the plan", "JSON"):
        assert words in seen
    assert "Copy: as a command" in seen

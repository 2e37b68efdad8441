"""The page without a mouse, on paper, and in the colours of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.page.browser.views import VIEWS

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened


@pytest.mark.large
def test_tabs_begin_at_the_top(opened: Opened) -> None:
    page = opened.go(VIEWS["plan"])
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the result")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_print_has_the_result_in_its_width(opened: Opened) -> None:
    page = opened.go(VIEWS["plan"])
    page.emulate_media(media="print")
    box = page.locator(".headline").bounding_box()
    width = page.evaluate("document.documentElement.clientWidth")
    assert box is not None
    assert box["width"] > 0.9 * width
    expect(page.locator("form")).to_be_hidden()


def test_legends_keep_their_colours_where_the_system_has_its_own(opened: Opened) -> None:
    page = opened.go(VIEWS["plan"])
    # The legend of the switch is there last.
    page.locator(".swatch[class*=port-]").first.scroll_into_view_if_needed()
    colours = "[...document.querySelectorAll('.swatch')].map((one) => getComputedStyle(one).backgroundColor)"
    before = page.evaluate(colours)
    page.emulate_media(forced_colors="active")
    assert page.evaluate(colours) == before

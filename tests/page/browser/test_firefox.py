"""Every view in Firefox: its result is there, nothing is wrong, and it breaks no rule on a desk and on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.page.browser.chromium import NARROW, WIDE, Opened
from tests.page.browser.firefox import firefox
from tests.page.browser.rules import is_wider_than_the_screen, violations
from tests.page.browser.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.page.served import Served


@pytest.fixture(scope="module")
def fox() -> Iterator[Browser]:
    with firefox() as found:
        yield found


@pytest.mark.large
@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "viewport"), [("light", NARROW), ("dark", WIDE)])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_whole_in_firefox(
    fox: Browser, server: Served, axe: str, view: str, scheme: Any, viewport: Any
) -> None:
    opened = Opened.at(fox, server.address, color_scheme=scheme, viewport=viewport)
    try:
        page = opened.go(VIEWS[view])
        assert page.locator(".result > *").first.is_visible()
        assert not is_wider_than_the_screen(opened)
        assert violations(opened, axe) == []
        assert opened.problems == []
    finally:
        opened.context.close()

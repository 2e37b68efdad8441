"""A browser for all tests, and a page for each, in which nothing may go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.interfaces import interfaces_stay
from tests.page.browser.chromium import Opened, chromium
from tests.page.browser.rules import axe_script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.page.served import Served


@pytest.fixture(autouse=True)
def still() -> Iterator[None]:
    """No test adds or removes a network interface meanwhile."""
    with interfaces_stay():
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture
def opened(browser: Browser, server: Served) -> Iterator[Opened]:
    """A page of the server; nothing may be wrong in it when the test ends."""
    opened = Opened.at(browser, server.address)
    yield opened
    opened.context.close()
    assert opened.problems == []


@pytest.fixture(scope="session")
def axe() -> str:
    return axe_script()

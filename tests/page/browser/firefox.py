"""Firefox without a screen, as the system's packages have it, driven by WebDriver BiDi."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.page.browser.chromium import TIMEOUT_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

NAMES = ("firefox-esr", "firefox")


@contextmanager
def firefox() -> Iterator[Browser]:
    """The browser that this machine has; the test is skipped if there is none."""
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        pytest.skip(f"no Firefox: none of {', '.join(NAMES)} is on the path")
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        # The channel of Firefox as Mozilla builds it; without, one of playwright's own is expected.
        browser = playwright.firefox.launch(executable_path=path, channel="moz-firefox")
        try:
            yield browser
        finally:
            browser.close()

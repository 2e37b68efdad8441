"""A browser without a screen, and its errors."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Locator, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Sizes of a desk's and of a phone's display.
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
# Longer than any wait: a view that takes this long is broken.
TIMEOUT_MS = 60_000
# Whether the shown answer is that for the address, in its full colours: results fade in.
SETTLED = (
    "() => document.getElementById('view')?.dataset.shown === location.pathname + location.search"
    " && document.querySelector('.result.outdated, .result[aria-busy]') === null"
    " && document.getAnimations().every((animation) => animation.playState === 'finished')"
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser that this machine has; the test is skipped if there is none."""
    path = next((found for found in map(shutil.which, NAMES) if found), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on the path")
    # The content of a view waits for the server, whose machine may be busy.
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Opened:
    """A page of a server in a browser, with all that went wrong in it.

    problems: errors that the console or the page has, breaches of the content security policy among them, and requests
    to anywhere but the server.
    """

    address: str
    context: BrowserContext
    page: Page
    problems: list[str] = field(default_factory=list)
    forgiven: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, browser: Browser, address: str, **options: Any) -> Opened:
        """A page without history, in English."""
        context = browser.new_context(**{"viewport": WIDE, "locale": "en-GB", **options})
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        opened = cls(address, context, page)
        page.on("console", opened._heard)
        page.on("pageerror", lambda error: opened._noted(f"error: {error}"))
        page.on("request", lambda request: opened._asked(request.url))
        return opened

    def _heard(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self._noted(f"{message.type}: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self.address}/", "blob:", "data:")):
            self._noted(f"request to {url}")

    def _noted(self, problem: str) -> None:
        if not any(words in problem for words in self.forgiven):
            self.problems.append(problem)

    def go(self, path: str) -> Page:
        """To an address of the page; returns when its result is there."""
        self.page.goto(self.address + path)
        self.settle()
        return self.page

    def code(self, kind: str = "command") -> Locator:
        """The problem as a `command` or in `python`, which is asked for where it is near the screen."""
        self.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        found = self.page.locator(f".code.{kind}")
        expect(found).to_be_visible()
        return found

    def settle(self) -> None:
        """Wait until the shown answer is that for the address, in its full colours: results fade in."""
        self.page.wait_for_function(SETTLED)

    def forgive(self, words: str) -> None:
        """Takes errors that a test provoked off the list of errors, those among them that are heard later.

        The page may show what went wrong before the console's message is heard here.
        """
        self.forgiven.append(words)
        self.problems[:] = [problem for problem in self.problems if words not in problem]

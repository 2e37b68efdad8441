"""The page as files, below any address of any web server: every view answers, and says what is not prepared."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from lightloom.base.files import write_folder
from lightloom.page import demo
from lightloom.page.files import INDEX, page_files, view_addresses
from lightloom.page.work import options
from tests.page.browser.chromium import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

# All tests here share one demo, which takes some seconds to make.
pytestmark = pytest.mark.slow
VIEWS = [address for address in view_addresses(page_files()[INDEX]) if address != "/"]
SERVE = "import http.server, sys\nhttp.server.test(http.server.SimpleHTTPRequestHandler, port=0, bind='127.0.0.1')"
WHOLE = options.examples


@cache
def few() -> dict[str, Any]:
    """The first example of every verb, and maps of few points."""
    found = WHOLE()
    verbs = {preset["verb"]: preset for preset in reversed(found["presets"])}
    ranges = {option: {**told, "points": 2} for option, told in found["ranges"].items()}
    return {"presets": [one for one in found["presets"] if one in verbs.values()], "ranges": ranges}


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a demo in a folder of a web server."""
    root: Path = tmp_path_factory.mktemp("hosted")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(demo, "examples", few)
        patched.setattr(options, "examples", few)
        write_folder("export", root / "demo", demo.demo_files(lambda _words: None))
    words = [sys.executable, "-u", "-c", SERVE]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=root) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split(" port ")[1].split()[0]
        yield f"http://127.0.0.1:{port}/demo"
        server.terminate()


@pytest.fixture
def opened(browser: Browser, hosted: str) -> Iterator[Opened]:
    """A page of the demo, in which no request fails."""
    opened = Opened.at(browser, hosted)
    opened.page.on(
        "response", lambda one: opened.problems.append(f"{one.status}: {one.url}") if one.status >= 400 else None
    )
    yield opened
    opened.context.close()
    assert opened.problems == []


@pytest.mark.large
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_answers(opened: Opened, view: str) -> None:
    page = opened.go(view)
    assert page.locator(".demo").count() == 1
    assert page.locator(".result > *").count() > 0
    page.wait_for_load_state("networkidle")
    assert page.locator(".notice").count() == 0
    page.reload()
    opened.settle()
    assert page.locator(".notice").count() == 0


def test_steps_and_files_of_a_plan_are_there(opened: Opened) -> None:
    page = opened.go("/")
    page.wait_for_load_state("networkidle")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_load_state("networkidle")
    for words, start in {"CSV": b"index,", "SVG": b"<?xml"}.items():
        with page.expect_download() as found:
            page.get_by_role("group", name="Downloads").first.get_by_role("button", name=words).click()
        assert found.value.path().read_bytes().startswith(start)
    assert "lightloom plan" in opened.code().inner_text()


def test_links_stay_within_the_demo(opened: Opened, hosted: str) -> None:
    page = opened.go("/plan")
    page.get_by_role("link", name="Compare", exact=True).click()
    opened.settle()
    assert page.url.startswith(f"{hosted}/compare")
    page.go_back()
    opened.settle()
    assert page.url.startswith(f"{hosted}/plan")


def test_what_is_not_prepared_is_said(opened: Opened) -> None:
    page = opened.go("/plan")
    page.get_by_label("GPUs", exact=True).fill("48")
    page.get_by_text("This demo has no server").first.wait_for()


def test_a_request_is_written_as_the_page_writes_it(opened: Opened, hosted: str) -> None:
    asked = {"b_c": [1, True, None, {"z": 2.5, "a": 'µ\n"'}], "a": None, "B": "x"}
    page = opened.go("/plan")
    written = page.evaluate(
        "async ([asked, module]) => JSON.stringify((await import(module)).plain(asked))",
        [asked, f"{hosted}/static/js/prepared.js"],
    )
    assert written == demo.as_asked(asked)

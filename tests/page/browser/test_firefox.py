"""Every view in Firefox: its result is there, nothing is wrong, and it breaks no rule on a desk and on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.page.browser.chromium import NARROW, WIDE
from tests.page.browser.firefox import Firefox, firefox
from tests.page.browser.rules import IS_WIDER, JUDGE, RULES, broken
from tests.page.browser.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.page.served import Served

pytestmark = [pytest.mark.large, pytest.mark.slow]
DARK = "matchMedia('(prefers-color-scheme: dark)').matches"


@pytest.fixture(scope="module")
def fox() -> Iterator[Firefox]:
    with firefox() as found:
        yield found


@pytest.mark.parametrize(("scheme", "viewport"), [("light", NARROW), ("dark", WIDE)])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_whole_in_firefox(
    fox: Firefox, server: Served, axe: str, view: str, scheme: str, viewport: dict[str, int]
) -> None:
    fox.show_as(viewport, scheme)
    fox.go(server.address + VIEWS[view])
    assert fox.evaluate(f"[innerWidth, {DARK}]") == [viewport["width"], scheme == "dark"]
    assert fox.evaluate("document.querySelector('.result > *').getBoundingClientRect().height") > 0
    assert not fox.evaluate(IS_WIDER)
    fox.run(axe)
    assert broken(fox.evaluate(JUDGE, RULES)) == []
    assert fox.problems(server.address) == []


def test_what_is_wrong_in_firefox_is_found(fox: Firefox, server: Served, axe: str) -> None:
    fox.go(server.address + VIEWS["plan"])
    fox.run("document.querySelector('.field input').removeAttribute('id')")
    # Refused by the policy of the page.
    fox.run("const one = document.createElement('script'); one.textContent = '1'; document.head.append(one)")
    fox.run(axe)
    assert any(found.startswith("label:") for found in broken(fox.evaluate(JUDGE, RULES)))
    assert fox.problems(server.address) != []

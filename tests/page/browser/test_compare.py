"""The view that compares: rows as they are found, the bound, links to plans."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom._core import show_time

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

PROBLEM = "/compare?collective=all-gather&size=64KiB&gpus=16&reconfiguration-delay=1us"


def test_the_best_of_each_planner_are_those_of_the_comparison(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    comparison = ll.compare("all-gather", size="64KiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1us"))
    assert comparison.best is not None
    assert comparison.best.reconfigurations
    best = comparison.by_planner()
    names = page.locator("svg.chart text:has(tspan.detail), svg.chart text.strong").all_text_contents()
    assert {re.split(r" ·", name)[0] for name in names} == {row.planner for row in best}
    assert best[0].total_s is not None
    sentence = page.locator(".sentence").inner_text().replace("\xa0", " ")
    with_algorithm = "" if best[0].algorithm == best[0].planner else f" with {best[0].algorithm}"
    assert sentence.startswith(f"{best[0].planner}{with_algorithm} is fastest: {show_time(best[0].total_s)}")
    assert page.locator(".sentence code").first.inner_text() == best[0].planner
    assert show_time(comparison.lower_bound_s) in sentence
    fixed = ll.plan("all-gather", size="64KiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="100s"))
    assert fixed.reconfigurations == 0
    assert f"never change take at best {show_time(fixed.total_s)} ({fixed.algorithm})" in sentence
    rows = page.get_by_role("region", name="Every planner").locator("tbody tr")
    assert rows.count() == len([row for row in comparison.rows if row.total_s is not None])
    assert page.locator("summary", has_text="without a time").count() == 1


@pytest.mark.large
@pytest.mark.slow
def test_rows_are_shown_before_all_are_there(opened: Opened) -> None:
    page = opened.page
    # A comparison that takes seconds in all, and milliseconds until the first row.
    page.goto(f"{opened.address}/compare?collective=all-to-all&size=64MiB&gpus=64&ports=2")
    expect(page.locator("svg.chart text.strong")).to_have_count(1)
    expect(page.locator(".card .quiet").first).to_contain_text("found")
    assert page.locator("details.behind").count() == 0
    opened.settle()
    assert page.locator("details.behind").count() == 1


@pytest.mark.large
@pytest.mark.parametrize("planner", ["weave", "static", "harvest"])
def test_a_row_opens_its_plan(opened: Opened, planner: str) -> None:
    page = opened.go(PROBLEM)
    rows = page.get_by_role("region", name="Every planner").locator("tbody tr")
    row = rows.filter(has=page.get_by_role("link", name=planner, exact=True)).first
    shown = row.locator("td").nth(3).inner_text()
    row.get_by_role("link").press("Enter")
    page.wait_for_url(re.compile(rf"/plan\?.*planner={planner}"))
    opened.settle()
    assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", page.locator(".headline .first dd").first.inner_text())
    assert f"planner {planner}" in page.locator(".headline").inner_text()


@pytest.mark.large
def test_what_is_outdated_is_cancelled(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    size = page.get_by_label("Size", exact=True)
    for text in ("1MiB", "2MiB", "3MiB", "8MiB"):
        size.fill(text)
    opened.settle()
    expect(opened.code()).to_contain_text("8MiB")
    best = ll.compare("all-gather", size="8MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1us")).best
    assert best is not None
    assert best.total_s is not None
    expect(page.locator(".sentence")).to_contain_text(show_time(best.total_s).split()[0])


@pytest.mark.large
def test_the_drawing_is_saved(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    starts = {"JSON": b"{", "CSV": b"planner,", "SVG": b"<svg", "PNG": b"\x89PNG"}
    for words, start in starts.items():
        with page.expect_download() as found:
            page.get_by_role("group", name="Downloads").get_by_role("button", name=words).click()
        with found.value.path().open("rb") as file:
            kept = file.read()
        assert kept.startswith(start)
        if words == "SVG":
            # Alone, it says what it shows and what its colours are.
            assert all(part in kept.decode() for part in ("all-gather of 64KiB on 16 GPUs", "propagation"))

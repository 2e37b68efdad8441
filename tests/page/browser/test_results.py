"""The view of the papers' figures: the list, a figure with its claims, figures measured elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from lightloom.base import plugins
from lightloom.base.errors import InputError
from lightloom.page.work.papers import shown_figures
from lightloom_papers.registry import PAPERS

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened


def claims_of(figure: str, opened: Opened) -> list[dict[str, Any]]:
    """The claims that the server answers for a figure."""
    claims = opened.page.evaluate(
        "(figure) => fetch('/api/reproduce', {method: 'POST', body: JSON.stringify({figure}),"
        " headers: {'Content-Type': 'application/json'}}).then((answer) => answer.json())",
        figure,
    )["claims"]
    assert isinstance(claims, list)
    assert claims
    return claims


def test_all_figures_of_all_papers_are_listed(opened: Opened) -> None:
    page = opened.go("/results")
    listed = page.get_by_role("navigation", name="Figures")
    assert listed.get_by_role("listitem").count() == sum(len(paper.figures) for paper in PAPERS)
    claims = sum(len(paper.other_claims) for paper in PAPERS)
    assert page.get_by_role("region", name="Claims judged without a figure").locator("tbody tr").count() == claims


@pytest.mark.large
def test_a_figure_is_computed_with_its_claims(opened: Opened) -> None:
    page = opened.go("/results")
    page.get_by_role("navigation", name="Figures").get_by_role("link", name="schedules between static and BvN").click()
    page.wait_for_url(re.compile("figure=harvest-3"))
    opened.settle()
    picture = page.locator(".pictures img")
    expect(picture).to_be_visible()
    page.wait_for_function("() => document.querySelector('.pictures img').naturalWidth > 100")
    rows = page.get_by_role("region", name="Claims of harvest-3").locator("tbody tr")
    assert rows.locator(".verdict").all_text_contents() == [
        claim["verdict"] for claim in claims_of("harvest-3", opened)
    ]
    assert opened.code().inner_text().endswith("lightloom reproduce harvest-3")
    for words, start in {"JSON": b"{", "CSV": b"", "SVG": b"<?xml"}.items():
        with page.expect_download() as found:
            page.get_by_role("group", name="Downloads").get_by_role("button", name=words).click()
        assert found.value.path().read_bytes().startswith(start)
    page.go_back()
    page.wait_for_url(re.compile("/results$"))
    expect(page.get_by_text("Choose a figure")).to_be_visible()


@pytest.mark.large
def test_the_papers_numbers_are_beside_ours(opened: Opened) -> None:
    page = opened.go("/results?figure=harvest-5a")
    claims = claims_of("harvest-5a", opened)
    rows = page.get_by_role("region", name="Claims of harvest-5a").locator("tbody tr")
    assert rows.count() == len(claims)
    drawn = {"number": 0, "words": 0}
    for row, claim in zip(rows.all(), claims, strict=True):
        cells = row.locator("td").all()
        verdict, _, paper, ours, deviation = (cell.inner_text() for cell in cells[:5])
        assert [verdict, paper, ours, deviation] == [
            claim["verdict"],
            claim["paper"],
            claim["ours"],
            claim["deviation"] or "–",
        ]
        assert cells[5].locator("svg").count() == (claim["numbers"] is not None)
        drawn["number" if claim["numbers"] else "words"] += 1
        if claim["numbers"]:
            # Both are drawn from nothing on, to the same scale.
            box = cells[5].locator("rect.ours").bounding_box()
            mark = cells[5].locator(".paper-mark").bounding_box()
            assert box is not None
            assert mark is not None
            to_mark = mark["x"] + mark["width"] / 2 - box["x"]
            ratio = claim["numbers"]["ours"] / claim["numbers"]["paper_least"]
            assert box["width"] / to_mark == pytest.approx(ratio, rel=0.02)
    assert min(drawn.values()) > 0
    # The paper says that a gain persists, and names no number.
    persists = rows.filter(has_text="the gain persists")
    assert persists.locator("td").nth(2).inner_text() == "not stated"


def test_what_is_measured_on_processes_says_so(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}/results?figure=harvest-7")
    expect(page.get_by_role("alert")).to_contain_text("lightloom reproduce harvest-7")
    opened.forgive("422")


def test_where_the_papers_are_not_installed_it_says_how(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "brought", lambda _: {})
    with pytest.raises(InputError) as raised:
        shown_figures()
    body = {"error": str(raised.value), "field": raised.value.field}
    opened.page.route("**/api/figures", lambda route: route.fulfill(status=422, json=body))
    page = opened.go("/results")
    expect(page.get_by_role("alert")).to_contain_text("pip install lightloom-papers")
    expect(page.get_by_role("navigation", name="Figures")).to_be_hidden()
    opened.forgive("422")


def test_commands_in_claims_are_code(opened: Opened) -> None:
    page = opened.go("/results")
    claims = page.get_by_role("region", name="Claims judged without a figure")
    expect(claims.locator("code").first).to_be_visible()
    assert "`" not in claims.inner_text()


def test_a_figure_that_there_is_not_is_said(opened: Opened) -> None:
    page = opened.go("/results?figure=nonsense&more=1")
    words = page.locator(".notices").all_inner_texts()
    assert "The address says figure=nonsense: there is no figure of that name." in "\n".join(words)
    assert "The address says more: this view takes only figure." in "\n".join(words)

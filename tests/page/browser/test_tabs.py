"""The links of the header: what goes along from view to view, and what stays with each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.page.browser.chromium import Opened

PLANNED = ("Plan", "Compare", "Two fabrics", "When does it pay?")


def link(page: Page, name: str) -> dict[str, str]:
    """The options that the tab's link has."""
    href = page.get_by_role("navigation", name="Views").get_by_role("link", name=name, exact=True).get_attribute("href")
    return {key: values[0] for key, values in parse_qs(urlsplit(href or "").query).items()}


def to(opened: Opened, name: str) -> Page:
    opened.page.get_by_role("navigation", name="Views").get_by_role("link", name=name, exact=True).click()
    opened.settle()
    return opened.page


@pytest.mark.large
def test_a_number_of_ranks_is_one_of_gpus_elsewhere(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=8&ports=2")
    for name in PLANNED:
        assert {key: link(page, name).get(key) for key in ("gpus", "ports", "ranks")} == {
            "gpus": "8",
            "ports": "2",
            "ranks": None,
        }
    to(opened, "Plan")
    assert page.get_by_label("GPUs", exact=True).input_value() == "8"
    expect(page.locator(".headline")).to_be_visible()


def test_which_gpus_run_a_collective_is_no_number_of_ranks(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=1MiB&gpus=8&ranks=0-3")
    assert "ranks" not in link(page, "Training")
    assert link(page, "Compare")["ranks"] == "0-3"


@pytest.mark.large
def test_a_view_has_its_own_again(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=8&policy=static")
    to(opened, "Plan")
    page.get_by_label("Ports", exact=True).fill("3")
    page.wait_for_url(re.compile("ports=3"))
    opened.settle()
    to(opened, "Training")
    assert page.get_by_label("Training job", exact=True).input_value() == "bert-pccl"
    assert page.get_by_label("Ranks", exact=True).input_value() == "8"
    assert page.get_by_label("Policy", exact=True).input_value() == "static"
    assert page.get_by_label("Ports", exact=True).input_value() == "3"
    # The link to the view itself changes nothing.
    said = parse_qs(urlsplit(page.url).query)
    to(opened, "Training")
    assert parse_qs(urlsplit(page.url).query) == said


@pytest.mark.large
def test_a_text_that_was_pasted_stays_with_its_view(opened: Opened) -> None:
    page = opened.go("/jobs")
    text = page.get_by_label("Jobs (TOML)", exact=True)
    own = '[[job]]\nname = "one"\narrival = "0s"\nmodel = "bert-pccl"\nranks = 2\niterations = 3\n'
    text.fill(own)
    opened.settle()
    to(opened, "Plan")
    to(opened, "Several jobs")
    assert page.get_by_label("Jobs (TOML)", exact=True).input_value() == own


@pytest.mark.large
def test_many_iterations_begin_with_a_problem_of_their_own(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=1MiB&gpus=64&bandwidth=100Gbps")
    assert link(page, "Many iterations") == {"bandwidth": "100Gbps"}
    to(opened, "Many iterations")
    assert page.get_by_label("GPUs", exact=True).input_value() == "8"
    assert page.get_by_label("Size", exact=True).input_value() == "1MiB/pair"
    assert link(page, "Plan")["gpus"] == "64"

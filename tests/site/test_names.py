"""The page of names agrees with the registries."""

from __future__ import annotations

from docs.generators.names_page import ELSEWHERE, PAGE, page

from lightloom.views.listings import everything


def test_the_page_is_up_to_date() -> None:
    assert page() == PAGE.read_text(), "run: python -m docs.generators.names_page"


def test_every_kind_is_on_a_page() -> None:
    text = PAGE.read_text()
    for kind, entries in everything().items():
        if kind not in ELSEWHERE:
            assert all(f"| `{entry['name']}" in text for entry in entries), kind

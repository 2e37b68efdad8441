"""The page of the server says what its OpenAPI document says."""

from __future__ import annotations

from docs.generators.server_page import PAGE, page

from lightloom.page.interface import openapi


def test_the_page_is_up_to_date() -> None:
    assert page() == PAGE.read_text(), "run: python -m docs.generators.server_page"


def test_every_operation_has_a_section_with_its_own_keys() -> None:
    sections = PAGE.read_text().split("\n## ")
    for path, methods in openapi()["paths"].items():
        for method, operation in methods.items():
            section = next(one for one in sections if one.startswith(f"`{method.upper()} {path}`"))
            assert operation["summary"] in section
            assert all(f"`{content}`" in section for content in operation["responses"]["200"]["content"])


def test_what_documents_say_is_linked_and_not_repeated() -> None:
    text = PAGE.read_text()
    assert "[training](json.md#training), and:" in text
    assert "| `steps[].transfers` |" not in text

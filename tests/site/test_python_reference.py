"""Docstrings become lists of parameters, and nothing public is left out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import pytest
from docs.generators.python_page import PAGE, page

import lightloom
from tests.conftest import ROOT

EXTENSIONS = str(ROOT / "docs" / "site" / "extensions")


@dataclass
class Measured:
    first: int
    second: int


def measured(first: int, second: int, **others: int) -> None:
    del first, second, others


@pytest.fixture
def reference() -> Iterator[ModuleType]:
    """The extension of the site."""
    sys.path.insert(0, EXTENSIONS)
    try:
        yield import_module("python_reference")
    finally:
        sys.path.remove(EXTENSIONS)


def _listed(reference: ModuleType, value: object, text: str) -> str:
    lines = text.split("\n")
    reference._arguments_listed(None, "", "", value, None, lines)
    return "\n".join(lines)


def test_a_line_each(reference: ModuleType) -> None:
    text = "What it does.\n\nfirst: one, `a|b`,\n    and more.\nsecond, others: two\n\nRaises `E`."
    made = "What it does.\n\n:param first: one, `a|b`, and more.\n:param second, others: two\n\nRaises `E`."
    assert _listed(reference, measured, text) == made


def test_several_in_a_line(reference: ModuleType) -> None:
    """As dataclasses tell of their fields; `Note:` is no field."""
    text = "A row.\n\nfirst: one. second: two; Note: three\ngo on."
    assert _listed(reference, Measured, text) == "A row.\n\n:param first: one.\n:param second: two; Note: three go on."


def test_prose_stays(reference: ModuleType) -> None:
    text = "Note: it holds\nfor `x_` and |group|.\n\nfor example: no *argument*."
    made = "Note: it holds\nfor `x_` and \\|group\\|.\n\nfor example: no \\*argument\\*."
    assert _listed(reference, measured, text) == made


def test_everything_public_is_there(reference: ModuleType) -> None:
    text = reference.exported()
    assert all(f":: lightloom.{name}\n" in text for name in lightloom.__all__ if not name.startswith("_"))
    text = reference.modules()
    for module in reference.public_modules():
        assert f"## `{module.__name__}`" in text
        for name in module.__all__:
            exported = getattr(lightloom, name, None) is getattr(module, name)
            assert (
                exported or f"{module.__name__}.{name}\n" in text or f":: {name}\n   :module: {module.__name__}" in text
            )


def test_the_page_is_up_to_date() -> None:
    assert page() == PAGE.read_text(), "run: python -m docs.generators.python_page"


def test_compiled_classes_are_described_by_their_stub(reference: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("Schedule", "Statement", "Topology"):
        monkeypatch.setattr(lightloom, name, getattr(lightloom, name))
    reference.describe_compiled()
    assert lightloom.Topology.named.__annotations__["ports"] == "int"
    assert lightloom.Schedule is not lightloom._core.Schedule

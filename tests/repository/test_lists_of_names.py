"""Lists of names in tests come from the registries, so that none lacks what is added later."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.names import KINDS, names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A list of this many of a registry's names, and of this share of them, is meant to have all.
FEWEST, SHARE = 4, 0.8
FILES = sorted(file for folder in ("tests", "papers/tests", "benches") for file in (ROOT / folder).rglob("*.py"))


def copied(text: str) -> Iterator[tuple[int, str]]:
    """Line and kind of every list, tuple or set that has nearly all names of a registry."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            said = {one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            for kind in KINDS:
                found = len(said & set(names(kind)))
                if found >= FEWEST and found > SHARE * len(names(kind)):
                    yield node.lineno, kind


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_list_of_names_comes_from_its_registry(file: Path) -> None:
    assert list(copied(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if len(names(kind)) * (1 - SHARE) > 1])
def test_a_copied_list_is_found(kind: str) -> None:
    assert (1, kind) in copied(f"ALL = {list(names(kind))[1:]}")
    assert (1, kind) in copied(f"ALL = {list(names(kind))}")
    assert list(copied(f"ALL = {list(names(kind))[:3]}")) == []

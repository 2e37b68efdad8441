"""Indices and powers of running text are lowered and raised; names are not changed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

import pytest

from tests.conftest import ROOT

EXTENSIONS = str(ROOT / "docs" / "site" / "extensions")


@pytest.fixture
def shown() -> Callable[[str], str]:
    """The text with tags."""
    sys.path.insert(0, EXTENSIONS)
    with_indices = import_module("indices").with_indices
    sys.path.remove(EXTENSIONS)
    tags = {"subscript": "sub", "superscript": "sup"}

    def show(text: str) -> str:
        pieces = ((tags.get(type(node).__name__), node.astext()) for node in with_indices(text))
        return "".join(piece if tag is None else f"<{tag}>{piece}</{tag}>" for tag, piece in pieces)

    return show


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("α_r and m_i·load_i(G_{i+1})", "α<sub>r</sub> and m<sub>i</sub>·load<sub>i</sub>(G<sub>i+1</sub>)"),
        ("h_1 + … + h_(t+1)", "h<sub>1</sub> + … + h<sub>t+1</sub>"),
        ("Σ_a w_a·dist_(y,h)(a)", "Σ<sub>a</sub> w<sub>a</sub>·dist<sub>y,h</sub>(a)"),
        ("r^(h+x), 2^53, (…)^K, (8!)^d", "r<sup>h+x</sup>, 2<sup>53</sup>, (…)<sup>K</sup>, (8!)<sup>d</sup>"),
        ("Z_a×Z_b×Z_c", "Z<sub>a</sub>×Z<sub>b</sub>×Z<sub>c</sub>"),
    ],
)
def test_indices_and_powers(shown: Callable[[str], str], text: str, made: str) -> None:
    assert shown(text) == made


@pytest.mark.parametrize(
    "text", ["duration_s", "STATE_DB", "lower_bound_s of a plan", "a_long_name", "x_name", "n + 1"]
)
def test_names_and_plain_text_stay(shown: Callable[[str], str], text: str) -> None:
    assert shown(text) == text

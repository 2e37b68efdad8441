"""Cut-offs stand in `cutoffs.rs` of their crate, each with its meaning, and the page has them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs.generators.cutoffs_page import PAGE, Cutoff, cutoffs, page, sources

ROOT = Path(__file__).parents[2]
NAMED = re.compile(
    r"^(?:pub(?:\([a-z]+\))? )?const ((?:MOST|FEW|FEWEST|LEAST|LARGEST|LONGEST|WORTH|MANY|ENOUGH)(?:_[A-Z0-9_]+)?):",
    re.MULTILINE,
)
# Sizes of a layout in shared memory, of which other constants are made.
ELSEWHERE = {"crates/runtime/src/lateness.rs": ["MOST"]}


def of_product(text: str) -> str:
    """A source without its unit tests."""
    return text.partition("#[cfg(test)]")[0]


def test_no_cut_off_stands_elsewhere() -> None:
    files = {str(path.relative_to(ROOT)): path for path in sorted(ROOT.glob("crates/*/src/**/*.rs"))}
    others = {name: NAMED.findall(of_product(path.read_text())) for name, path in files.items() if path.stem != "tests"}
    assert {name: found for name, found in others.items() if found} == ELSEWHERE


@pytest.mark.parametrize("crate", sources())
def test_every_cut_off_is_read_and_has_a_meaning(crate: str) -> None:
    source = sources()[crate]
    found = cutoffs(source)
    assert len(found) == len(re.findall(r"\bconst [A-Z]", source))
    before: Cutoff | None = None
    for one in found:
        shares = before is not None and before.module == one.module
        assert one.meaning or shares, one
        before = one


def test_the_page_is_what_the_sources_say() -> None:
    assert PAGE.read_text() == page(), "run: python -m docs.generators.cutoffs_page"

"""`docs/reproduction.md` is what the figures say: every claim is recomputed."""

from pathlib import Path

import pytest

from lightloom.reproduction import Claim, Figure, Setting
from lightloom.reproduction.pages import paper_claims, summary_page
from lightloom.reproduction.registry import PAPERS
from lightloom.reproduction.run import reproduce
from tests.conftest import ROOT

DOCUMENT = ROOT / "docs" / "reproduction.md"
FIGURES = [figure for paper in PAPERS for figure in paper.figures]
CLAIMS: dict[str, tuple[Claim, ...]] = {}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_the_figure_is_made_and_its_verdicts_are_the_documents(figure: Figure, tmp_path: Path) -> None:
    made = reproduce(figure, tmp_path, Setting())
    CLAIMS[figure.name] = made.claims
    for name in (made.data, made.picture, made.page):
        assert (tmp_path / name).stat().st_size > 100
    documented = DOCUMENT.read_text()
    for claim in made.claims:
        row = f"| {figure.name} | {claim.words} | {claim.paper} | {claim.ours} | {claim.verdict.value} |"
        assert row in documented, "run: lightloom reproduce all, and copy reproduction.md to docs/"


def test_the_document_holds_every_claim_and_nothing_else() -> None:
    if len(CLAIMS) < len(FIGURES):
        pytest.skip("it needs all figures made by the tests above")
    assert DOCUMENT.read_text() == summary_page(PAPERS, CLAIMS)


def test_every_paper_has_figures_and_each_a_claim() -> None:
    for paper in PAPERS:
        assert paper.figures
        assert paper_claims(paper, {})  # what no figure covers
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)

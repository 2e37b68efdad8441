"""`docs/reproduction.md` agrees with the figures: every claim is recomputed."""

import re
import textwrap
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Picture
from tests.conftest import ROOT
from tests.picture_checks import faults

from lightloom.views.charts import save
from lightloom_papers import run
from lightloom_papers.claims import Claim, Verdict
from lightloom_papers.figure import MODEL, PACKET, Figure, Paper, Setting
from lightloom_papers.pages import summary_page
from lightloom_papers.registry import PAPERS
from lightloom_papers.run import Made, packet_claims, reproduce
from lightloom_papers.sentences import Sentences

pytestmark = pytest.mark.slow

DOCUMENT = ROOT / "docs" / "reproduction.md"
# What is measured on this machine is not in the document.
FIGURES = [figure for paper in PAPERS for figure in paper.figures if MODEL in figure.engines]
MADE: dict[str, Made] = {}
# Faults of each picture.
FAULTS: dict[str, list[str]] = {}


def made(figure: Figure, folder: Path) -> Made:
    """The figure with its files in `folder`, made once for all tests."""

    def save_and_look(picture: Picture, path: Path) -> None:
        save(picture, path)
        FAULTS[figure.name] = faults(picture)

    if figure.name not in MADE:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "save", save_and_look)
            MADE[figure.name] = reproduce(figure, folder, Setting())
    return MADE[figure.name]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("figures")


@pytest.mark.large
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_the_figure_is_made_and_its_verdicts_are_the_documents(figure: Figure, folder: Path) -> None:
    one = made(figure, folder)
    for name in (one.data, one.picture, one.page):
        assert (folder / name).stat().st_size > 50
    documented = DOCUMENT.read_text()
    for claim in one.claims:
        row = f"| {figure.name} | {claim.words} | {claim.paper} | {claim.ours} | {claim.verdict.value} |"
        assert row in documented, "run: lightloom reproduce all, and copy reproduction.md to docs/"


@pytest.mark.large
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_the_picture_can_be_read(figure: Figure, folder: Path) -> None:
    made(figure, folder)
    assert not FAULTS[figure.name], "\n".join(FAULTS[figure.name])


@pytest.mark.large
def test_the_document_holds_every_claim_and_nothing_else(folder: Path) -> None:
    claims = {figure.name: made(figure, folder).claims for figure in FIGURES}
    assert DOCUMENT.read_text() == summary_page(PAPERS, claims, packet_claims())


@pytest.mark.large
@pytest.mark.parametrize("figure", [one for one in FIGURES if PACKET in one.engines], ids=lambda figure: figure.name)
def test_packets_have_judged_the_same_claims(figure: Figure, folder: Path) -> None:
    judged = packet_claims()[figure.name]
    assert [(claim.words, claim.paper) for claim in judged] == [
        (claim.words, claim.paper) for claim in made(figure, folder).claims
    ], "run: lightloom reproduce all --engine packet, and copy packet_claims.json to papers/src/lightloom_papers/"


def test_every_paper_has_figures() -> None:
    assert all(paper.figures for paper in PAPERS)
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_result_of_a_paper_has_its_claim(paper: Paper) -> None:
    results = paper.sentences.results
    assert len({begins for begins, _ in results}) == len(results) <= paper.sentences.with_numbers
    rows = [row for row in DOCUMENT.read_text().splitlines() if row.startswith("| ")]
    for _, claim in results:
        assert any(f" | {claim} | " in row for row in rows), claim


def test_only_claims_with_a_verdict_judge_a_result() -> None:
    sentences = Sentences(4, (("One", "judged"), ("Two", "open"), ("Three", "missing")))
    claims = [
        Claim.equal("judged", "fig. 1", paper=1, ours=2, why="a reason"),
        Claim.not_judged("open", "fig. 1", paper="1", why="a reason"),
    ]
    assert sentences.judged(claims) == 1


def test_the_figure_of_the_guide_is_made(tmp_path: Path) -> None:
    """`docs/how-to-add.md`, section "A figure": its code is a figure as it stands."""
    guide = (ROOT / "docs" / "how-to-add.md").read_text()
    section = guide.partition("## A figure\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"^ *```python\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    exec(textwrap.dedent(code), names)  # noqa: S102
    figure = names["FIGURE_12"]
    assert isinstance(figure, Figure)
    for engine in figure.engines:
        one = reproduce(figure, tmp_path, Setting(engine, tmp_path))
        assert [claim.verdict for claim in one.claims] == [Verdict.HOLDS]
        assert (tmp_path / one.data).read_text().count("\n") == 12

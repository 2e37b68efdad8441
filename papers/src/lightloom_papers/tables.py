"""The tables that `reproduce` prints."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lightloom.views.tables import render, table
from lightloom_papers.claims import Verdict
from lightloom_papers.pages import tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom_papers.run import Made

STYLES = {Verdict.HOLDS: "green", Verdict.FAILS: "bold red", Verdict.OPEN: "dim"}
COUNTS = ("hold", "do not", "not judged")


def claims_table(made: Made) -> str:
    """A figure's claims next to our results."""
    shown = table("the paper says", "paper", "ours", "deviation", "holds if", "verdict")
    for claim in made.claims:
        cells = claim.words, claim.paper, claim.ours, claim.deviation, claim.rule, claim.verdict
        shown.add_row(*cells, style=STYLES[claim.verdict])
    return render(shown, tally(made.claims))


def figures_table(made: Sequence[Made]) -> str:
    """The number of each figure's claims that hold."""
    shown = table("figure", "claims", *COUNTS, right=("claims", *COUNTS))
    for figure in made:
        counts = Counter(claim.verdict for claim in figure.claims)
        shown.add_row(figure.name, str(len(figure.claims)), *(str(counts[verdict]) for verdict in Verdict))
    return render(shown, tally(claim for figure in made for claim in figure.claims))

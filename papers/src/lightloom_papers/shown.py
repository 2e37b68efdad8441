"""Figures for the page: their list, and one of them with its claims, its table and its picture."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse, unknown_name
from lightloom.views.charts import as_bytes
from lightloom_papers.figure import MODEL, Setting
from lightloom_papers.registry import PAPERS
from lightloom_papers.run import table_as_csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom_papers.claims import Claim
    from lightloom_papers.figure import Figure

SCHEMA = "lightloom.figure/1"


def papers() -> list[dict[str, Any]]:
    """The papers with their figures, and the claims that no figure covers."""
    return [
        {
            "name": paper.name,
            "title": paper.title,
            "figures": [
                {
                    "name": figure.name,
                    "title": figure.title,
                    "source": figure.source,
                    "engines": list(figure.engines),
                }
                for figure in paper.figures
            ],
            "other_claims": [_told(claim) for claim in paper.other_claims],
        }
        for paper in PAPERS
    ]


def make(name: str, advance: Callable[[int, int], None]) -> dict[str, Any]:
    """The figure of that name by the cost model, nothing written; `advance` is told how many of how many are done.

    Raises `InputError` that names `figure`.
    """
    figure = _figure(name)
    from matplotlib.figure import Figure as Picture

    outcome = figure.make(Setting(MODEL, None, 1, advance))
    picture = Picture(layout="constrained")
    outcome.draw(picture)
    return {
        "schema": SCHEMA,
        "figure": figure.name,
        "title": figure.title,
        "source": figure.source,
        "notes": outcome.notes,
        "claims": [_told(claim) for claim in outcome.claims],
        "csv": table_as_csv(outcome),
        "svg": as_bytes(picture, "svg").decode(),
    }


def _figure(name: str) -> Figure:
    figures = {figure.name: figure for paper in PAPERS for figure in paper.figures}
    if name not in figures:
        raise unknown_name("figure", name, figures)
    figure = figures[name]
    if MODEL not in figure.engines:
        raise refuse(
            "figure", f"{name} is measured on processes, which a server does not run; use `lightloom reproduce {name}`"
        )
    return figure


def _told(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.words,
        "where": claim.where,
        "paper": claim.paper,
        "ours": claim.ours,
        "rule": claim.rule,
        "verdict": claim.verdict.value,
        "why": claim.why,
        "deviation": claim.deviation,
        "numbers": asdict(claim.numbers) if claim.numbers else None,
    }

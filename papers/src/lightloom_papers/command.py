"""The verb `reproduce`."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lightloom.base.errors import printable
from lightloom.cli.verb import FORMAT_OPTION, progress_bar, with_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom_papers.figure import Figure
    from lightloom_papers.run import Made


@click.command("reproduce", short_help="Make the papers' figures again, and judge their claims.")
@click.argument("name")
@click.option(
    "--output",
    "-o",
    metavar="FOLDER",
    default="out/reproduction",
    show_default=True,
    help="Folder of the data, pictures and pages.",
)
@click.option(
    "--engine",
    metavar="NAME",
    show_default="model, or the only engine that can make NAME",
    help="Source of a plan's time: `model`, the additive cost; `packet`, a simulation of its packets; or `run`, "
    "measured on processes of this machine.",
)
@click.option(
    "--picture", metavar="KIND", default="png", show_default=True, help="File format of pictures: png, pdf or svg."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    show_default="all cores",
    help="Number of threads that simulate packets.",
)
@FORMAT_OPTION
def command(name: str, output: str, engine: str | None, picture: str, workers: int | None, output_format: str) -> None:
    """Make a figure or table of a paper again: NAME.csv, NAME.png and the page NAME.md.

    NAME is one of `lightloom reproduce list`; a paper's name makes all of that paper, `all` everything. The page sets
    the paper's claims next to our results, and says whether each holds, by which tolerance, and why not. `all` also
    writes reproduction.md, the table of all claims.

    \b
    Examples:
      lightloom reproduce list
      lightloom reproduce bridge-table-1
      lightloom reproduce harvest-5a --engine packet
      lightloom reproduce harvest-6
      lightloom reproduce short-circuit --output out/papers
    """  # noqa: D301
    from lightloom.base.errors import refuse, unknown_name
    from lightloom.base.files import write_bytes
    from lightloom.views.charts import SUFFIXES
    from lightloom_papers.figure import ENGINES, MODEL, PACKET, Setting
    from lightloom_papers.pages import summary_page
    from lightloom_papers.registry import PAPERS, find_figures
    from lightloom_papers.run import PACKET_CLAIMS, claims_as_json, packet_claims, reproduce_all

    if name == "list":
        _show_list(output_format)
        return
    if engine is not None and engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    if f".{picture}" not in SUFFIXES:
        raise unknown_name("picture", picture, [suffix[1:] for suffix in SUFFIXES])
    processes = workers or os.cpu_count() or 1
    named = find_figures(name)
    if engine is None:
        engine = named[0].engines[0] if len(named) == 1 else MODEL
    figures = [figure for figure in named if engine in figure.engines]
    if not figures:
        raise refuse("engine", f"`{engine}` cannot make {name}; it takes {' or '.join(named[0].engines)}")
    folder = Path(output)
    with progress_bar("reproducing", len(figures)) as advance:

        def setting_of(figure: Figure) -> Setting:
            def told(done: int, total: int) -> None:
                advance(f"{figure.name}, {done} of {total}", 0)

            advance(figure.name, 0)
            return Setting(engine, folder, processes, told)

        made = with_progress(
            "reproducing",
            lambda: reproduce_all(figures, folder, engine, setting_of, f".{picture}", lambda one: advance(one.name, 1)),
        )
    if name == "all":
        claims = {figure.name: figure.claims for figure in made}
        packets = packet_claims() if engine == MODEL else {}
        write_bytes("output", folder / _summary_file(engine), summary_page(PAPERS, claims, packets).encode())
        if engine == PACKET:
            write_bytes("output", folder / PACKET_CLAIMS, claims_as_json(made))
    if output_format == "json":
        click.echo(json.dumps(_as_json(made, engine, folder), indent=1, ensure_ascii=False))
        return
    from lightloom_papers.tables import claims_table, figures_table

    click.echo(claims_table(made[0]) if len(made) == 1 else figures_table(made))
    if len(made) == 1:
        click.echo(printable(f"page in {folder / made[0].page}, picture in {folder / made[0].picture}"))
    else:
        all_claims = f", all claims in {folder / _summary_file(engine)}" if name == "all" else ""
        click.echo(printable(f"data, pictures and pages in {folder}{all_claims}"))


def _summary_file(engine: str) -> str:
    return "reproduction.md" if engine == "model" else f"reproduction-{engine}.md"


def _as_json(made: Sequence[Made], engine: str, folder: Path) -> dict[str, Any]:
    return {
        "engine": engine,
        "figures": [
            {
                "name": figure.name,
                "claims": [asdict(claim) for claim in figure.claims],
                "data": str(folder / figure.data),
                "picture": str(folder / figure.picture),
                "page": str(folder / figure.page),
            }
            for figure in made
        ],
    }


def figure_list() -> list[dict[str, str]]:
    """The figures of all papers: name, summary, place in the paper, and engines."""
    from lightloom_papers.registry import PAPERS

    return [
        {"name": figure.name, "summary": figure.title, "source": figure.source, "engines": ", ".join(figure.engines)}
        for paper in PAPERS
        for figure in paper.figures
    ]


def _show_list(output_format: str) -> None:
    if output_format == "json":
        click.echo(json.dumps({"figures": figure_list()}, indent=1, ensure_ascii=False))
        return
    from lightloom.views.tables import registry_table

    click.echo(registry_table("figures", figure_list()))

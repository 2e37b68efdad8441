"""Reads HARVEST's published schedules whole: `python -m lightloom_papers.harvest.read_published [FOLDER]`.

FOLDER is a copy of the authors' folder of schedules: for each it prints its stated time, and the cost of its topologies
and take in packets when our algorithm runs on them. Without one it prints `docs/published-schedules.md`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lightloom import InputError
from lightloom_papers.figure import Setting
from lightloom_papers.harvest.figure_published import FIGURE_PUBLISHED
from lightloom_papers.harvest.published import SOLVER, is_schedule, question_of
from lightloom_papers.harvest.published_page import published_page
from lightloom_papers.harvest.read_whole import read_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Print the page, or read a folder of schedules: 1 where one is refused, not verified, or costs something else."""
    if not arguments:
        click.echo(published_page(FIGURE_PUBLISHED.make(Setting()).table), nl=False)
        return 0
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        click.echo("usage: python -m lightloom_papers.harvest.read_published [FOLDER]", err=True)
        return 2
    files = sorted(Path(arguments[0]).glob("*.json"))
    read = [path for path in files if is_schedule(path.stem)]
    click.echo("name,steps,reconfigurations,stated_s,cost_s,packets_s,ratio")
    failed = not read
    for path in read:
        try:
            found = read_whole(path, question_of(path.stem))
        except (InputError, ValueError) as error:
            click.echo(f"{path.stem}: {error}", err=True)
            failed = True
            continue
        click.echo(
            f"{path.stem},{found.steps},{found.reconfigurations},{found.stated_s!r},{found.cost_s!r},"
            f"{found.packets_s!r},{found.ratio:.7f}"
        )
        failed |= abs(found.ratio - 1) > SOLVER
    if len(read) < len(files):
        others = ", ".join(path.stem for path in files if path not in read)
        click.echo(f"left out, since their names do not state size, rate and delays: {others}", err=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Reads HARVEST's published schedules whole: `python -m lightloom_papers.harvest.read_published [FOLDER]`.

FOLDER is a copy of the authors' folder of schedules: for each it prints what it states, and what its topologies cost
and take in packets when our algorithm runs on them. Without one it prints `docs/published-schedules.md`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lightloom import InputError, plan, simulate, verify
from lightloom.inputs.schedules.harvest_topologies import read_sequence
from lightloom_papers.figure import Setting
from lightloom_papers.harvest.published import FIGURE_PUBLISHED, NAME, SOLVER, Question, published_page, question_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "read_whole"]


def read_whole(path: Path, question: Question) -> tuple[float, float, float]:
    """What a schedule in a file states, what our algorithm costs on its topologies, and what that takes in packets (s).

    Raises `InputError` where the file is not read, `ValueError` where the plan on it is not verified.
    """
    made = plan(
        question.collective,
        question.size,
        fabric=question.fabric,
        algorithm=question.algorithm,
        sequence=path,
        convention="harvest-published",
    )
    wrong = [check.name for check in verify(made) if not check.passed]
    if wrong:
        message = f"{path.name}: not verified: {', '.join(wrong)}"
        raise ValueError(message)
    return read_sequence(path).total_s, made.total_s, simulate(made).total_s


def main(arguments: Sequence[str]) -> int:
    """Print the page, or read a folder of schedules: 1 where one is refused, not verified, or costs something else."""
    if not arguments:
        click.echo(published_page(FIGURE_PUBLISHED.make(Setting()).table), nl=False)
        return 0
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        click.echo("usage: python -m lightloom_papers.harvest.read_published [FOLDER]", err=True)
        return 2
    files = [path for path in sorted(Path(arguments[0]).glob("*.json")) if NAME.fullmatch(path.stem)]
    click.echo("name,stated_s,cost_s,packets_s,ratio")
    failed = not files
    for path in files:
        try:
            stated_s, cost_s, packets_s = read_whole(path, question_of(path.stem))
        except (InputError, ValueError) as error:
            click.echo(f"{path.stem}: {error}", err=True)
            failed = True
            continue
        click.echo(f"{path.stem},{stated_s!r},{cost_s!r},{packets_s!r},{cost_s / stated_s:.7f}")
        failed |= abs(cost_s / stated_s - 1) > SOLVER
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A published schedule of HARVEST's read from its file: verified, simulated and costed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom import plan, simulate, verify
from lightloom.formats.harvest_schedule.read import read_sequence

if TYPE_CHECKING:
    from pathlib import Path

    from lightloom_papers.harvest.published import Question

__all__ = ["ReadWhole", "read_whole"]


class ReadWhole(NamedTuple):
    """The stated time of a schedule, our algorithm's cost on its topologies, and its time in packets (s)."""

    steps: int
    reconfigurations: int
    stated_s: float
    cost_s: float
    packets_s: float

    @property
    def ratio(self) -> float:
        """Our cost over the stated one."""
        return self.cost_s / self.stated_s


def read_whole(path: Path, question: Question) -> ReadWhole:
    """The schedule in a file, verified, with the algorithm of its problem.

    Raises `InputError` where the file is not read, `ValueError` where the plan on it is not verified, or changes
    circuits at other steps than it states.
    """
    stated = read_sequence(path)
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
    if made.reconfigurations != stated.reconfigurations:
        message = (
            f"{path.name}: states {stated.reconfigurations} reconfigurations, but its topologies change "
            f"{made.reconfigurations} times"
        )
        raise ValueError(message)
    return ReadWhole(len(made.steps), made.reconfigurations, stated.total_s, made.total_s, simulate(made).total_s)

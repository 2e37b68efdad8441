"""A figure of a paper, how it is made, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom_papers.measure import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure as Picture
    from numpy.typing import NDArray

    from lightloom_papers.claims import Claim
    from lightloom_papers.measure import Case
    from lightloom_papers.sentences import Sentences

MODEL, PACKET, RUN = "model", "packet", "run"
ENGINES = (MODEL, PACKET, RUN)


@dataclass(frozen=True)
class Setting:
    """Settings with which a figure is made.

    engine: whether a plan's time is the additive model's, its packet simulation's, or that of processes which run it;
    folder: where finished simulations and runs are kept, None for nowhere; workers: processes that simulate; advance:
    told how many of how many cases are done.
    """

    engine: str = MODEL
    folder: Path | None = None
    workers: int = 1
    advance: Callable[[int, int], None] = field(default=lambda _done, _total: None)

    def measure(self, cases: Sequence[Case]) -> list[Measured]:
        """The time of every case's plan, in order; cases that differ only in numbers share what does not depend on it.

        Raises `InputError` when a case has no plan.
        """
        return measure(cases, self)


class Outcome(NamedTuple):
    """The result of making a figure.

    table: columns of equal length, tidy, units in their names; draw: draws them on an empty matplotlib figure, whose
    size it sets; claims: of the paper, judged; notes: how it was made and where that departs from the paper.
    """

    table: Mapping[str, Sequence[Any] | NDArray[Any]]
    draw: Callable[[Picture], None]
    claims: tuple[Claim, ...]
    notes: str


class Figure(NamedTuple):
    """A figure or table that can be made again.

    name: such as `bridge-5`; source: where it is in the paper; engines: those that make it.
    """

    name: str
    title: str
    source: str
    make: Callable[[Setting], Outcome]
    engines: tuple[str, ...] = (MODEL,)


class Paper(NamedTuple):
    """A paper: its figures, its sentences with numbers, and the claims that no figure of these covers."""

    name: str
    title: str
    figures: tuple[Figure, ...]
    sentences: Sentences
    other_claims: tuple[Claim, ...] = ()

"""The four terms of a time: names, colours, and bars that are split into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence


class Term(NamedTuple):
    """A term: the attribute that holds its seconds, its name, and how its part of a bar is drawn."""

    attribute: str
    name: str
    fill: str
    color: str


# Okabe and Ito's colours, as in the pictures.
TERMS = (
    Term("startup_s", "startup", "░", "#56B4E9"),
    Term("propagation_s", "propagation", "▒", "#009E73"),
    Term("transmission_s", "transmission", "█", "#0072B2"),
    Term("reconfiguration_s", "reconfiguration", "▚", "#D55E00"),
)
# A text that is longer than the room for it ends with this.
CUT = "»"


def terms_of(subject: object) -> tuple[float, ...]:
    """The seconds of the four terms of a step or a row; None counts as 0."""
    return tuple(getattr(subject, term.attribute) or 0.0 for term in TERMS)


def split_bar(seconds: Sequence[float], cells_per_s: float, most: int) -> Text:
    """A bar of the four terms, each as many cells long as it has seconds; cut, with a mark, after `most` cells.

    At most half a cell is missing or too much where a term begins or ends; a bar has at least one cell.
    """
    ends = [round(sum(seconds[: index + 1]) * cells_per_s) for index in range(len(seconds))]
    made = Text()
    begin = 0
    for term, end in zip(TERMS, ends, strict=True):
        made.append(term.fill * (min(end, most) - begin), style=term.color)
        begin = max(begin, min(end, most))
    if ends[-1] > most:
        made = made[: most - 1] + Text(CUT)
    if not made.plain:
        largest = max(range(len(seconds)), key=lambda index: seconds[index])
        made = Text(TERMS[largest].fill, style=TERMS[largest].color)
    return made


def legend(cell: str) -> Text:
    """The legend of the parts of bars, and how long a cell is, in words."""
    made = Text()
    for term in TERMS:
        made += Text(f"{term.fill} ", style=term.color) + Text(f"{term.name}  ")
    return made + Text(cell)

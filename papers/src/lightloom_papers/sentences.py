"""How many sentences with numbers a paper has, and the claims that judge those of them that state a result.

Counted by reading each paper's text, from its abstract to its conclusion and in its appendices: sentences, captions
and rows of tables that have a number in figures. Not counted are headings, listings of algorithms, rows of example
schedules, equations that are set apart (but bounds), and numbers of references, sections, figures, steps and list
items. Those that state no result are of settings, of the notation, captions that repeat a setting, or cited from other
work. A sentence whose number the text at hand has lost counts where the sentence shows that there was one.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

from lightloom_papers.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lightloom_papers.claims import Claim


class Sentences(NamedTuple):
    """A paper's sentences with numbers.

    with_numbers: all of them; results: the first words of each that states a result, and the words of the claim that
    judges it, or is to.
    """

    with_numbers: int
    results: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, folder: str) -> Sentences:
        """`sentences.toml` of a paper's folder of this package."""
        text = resources.files("lightloom_papers").joinpath(folder, "sentences.toml").read_text("utf-8")
        told = tomllib.loads(text)
        return cls(told["with_numbers"], tuple((one["begins"], one["claim"]) for one in told["results"]))

    def judged(self, claims: Iterable[Claim]) -> int:
        """The number of results whose claim is judged."""
        known = {claim.words for claim in claims if claim.verdict is not Verdict.OPEN}
        return sum(claim in known for _, claim in self.results)

"""What a paper says of a figure, what we find, and whether that agrees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether a claim holds."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "not judged"


@dataclass(frozen=True)
class Claim:
    """One claim; made by its constructors, which judge it.

    words: what the paper says; where: its figure and section; paper, ours: the two numbers or facts; rule: when it
    holds; why: the reason, from numbers of the same run, where it does not hold or is not judged, else a remark.
    """

    words: str
    where: str
    paper: str
    ours: str
    rule: str
    verdict: Verdict
    why: str = ""

    def __post_init__(self) -> None:
        """A claim that does not hold is explained."""
        if self.verdict is not Verdict.HOLDS and not self.why:
            message = f"the claim {self.words!r} {self.verdict}, and nothing says why"
            raise ValueError(message)

    @classmethod
    def near(
        cls, words: str, where: str, *, paper: float, ours: float, within: float = 0.05, unit: str = "", why: str = ""
    ) -> Claim:
        """A number that ours is near: at most the part `within` of the paper's away from it."""
        holds = math.isfinite(ours) and abs(ours - paper) <= within * abs(paper)
        return cls._number(words, where, (paper, ours, unit), f"within {_percent(within)}", holds, why)

    @classmethod
    def at_least(
        cls, words: str, where: str, *, paper: float, ours: float, within: float = 0.0, unit: str = "", why: str = ""
    ) -> Claim:
        """A number that ours reaches, but for the part `within` of it."""
        rule = "at least" + (f", less {_percent(within)}" if within else "")
        return cls._number(words, where, (paper, ours, unit), rule, ours >= paper * (1 - within), why)

    @classmethod
    def at_most(
        cls, words: str, where: str, *, paper: float, ours: float, within: float = 0.0, unit: str = "", why: str = ""
    ) -> Claim:
        """A number that ours does not exceed, but for the part `within` of it."""
        rule = "at most" + (f", and {_percent(within)}" if within else "")
        return cls._number(words, where, (paper, ours, unit), rule, ours <= paper * (1 + within), why)

    @classmethod
    def between(
        cls, words: str, where: str, *, low: float, high: float, ours: float, unit: str = "", why: str = ""
    ) -> Claim:
        """A range that ours lies in."""
        shown = f"{_shown(low, '')} to {_shown(high, unit)}"
        return cls(words, where, shown, _shown(ours, unit), "in the range", _verdict(low <= ours <= high), why)

    @classmethod
    def equal(cls, words: str, where: str, *, paper: object, ours: object, why: str = "") -> Claim:
        """A value that ours equals."""
        return cls(words, where, str(paper), str(ours), "equal", _verdict(paper == ours), why)

    @classmethod
    def fact(cls, words: str, where: str, *, paper: str, ours: str, rule: str, holds: bool, why: str = "") -> Claim:
        """Something that is no single number: `ours` says what we find, `rule` when that agrees."""
        return cls(words, where, paper, ours, rule, _verdict(bool(holds)), why)

    @classmethod
    def not_judged(cls, words: str, where: str, *, paper: str, why: str) -> Claim:
        """What neither a model nor a simulator of ours can say; `why` says what it would take."""
        return cls(words, where, paper, "-", "-", Verdict.OPEN, why)

    @classmethod
    def _number(
        cls, words: str, where: str, numbers: tuple[float, float, str], rule: str, holds: bool, why: str
    ) -> Claim:
        paper, ours, unit = numbers
        return cls(words, where, _shown(paper, unit), _shown(ours, unit), rule, _verdict(holds), why)


def _verdict(holds: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.FAILS


def _shown(number: float, unit: str) -> str:
    """Three digits, or all of a whole number; `×` and `%` follow as people write them."""
    digits = f"{number:.0f}" if abs(number) < 1e6 and number == round(number) else f"{number:.3g}"
    return digits + ("" if unit in {"", "×"} else " ") + unit


def _percent(part: float) -> str:
    return f"{part * 100:g} %"

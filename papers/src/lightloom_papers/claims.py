"""Claims: a paper's statement about a figure, our result, and whether they agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Verdict(StrEnum):
    """Whether a claim holds."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "not judged"


# Largest distance of ours from a number that a paper claims, relative to it: two printed digits say no more.
OF_NUMBER = 0.05
# And from one that it rounds, by words (`about 2×`) or as the largest of points that are not ours (`up to 3×`).
OF_ROUNDED = 0.1

# The text that replaces a number that a paper does not have.
NOT_STATED = "not stated"


@dataclass(frozen=True)
class Numbers:
    """The numbers of a claim that compares some.

    paper_least, paper_most: the range that the paper states, both the same where it is one number; ours: our result;
    unit: of all three, such as `×`, `%` or `µs`; empty for counts.
    """

    paper_least: float
    paper_most: float
    ours: float
    unit: str

    @property
    def deviation(self) -> float | None:
        """The distance of ours from the nearer end of the paper's range; positive where ours is more.

        A part of the paper's number; in percentage points where the unit is per cent. None for a part of nothing.
        """
        nearest = min(max(self.ours, self.paper_least), self.paper_most)
        if self.unit == "%":
            return self.ours - nearest
        return (self.ours - nearest) / abs(nearest) if nearest else None


@dataclass(frozen=True)
class Claim:
    """One claim; made by its constructors, which judge it.

    words: the paper's statement; where: its figure and section; paper, ours: the two numbers or facts; rule: when it
    holds; why: the reason, from numbers of the same run, where it does not hold or is not judged, else a remark;
    numbers: those in `paper` and `ours`, where both are numbers or ranges of these.
    """

    words: str
    where: str
    paper: str
    ours: str
    rule: str
    verdict: Verdict
    why: str = ""
    numbers: Numbers | None = None

    def __post_init__(self) -> None:
        """A claim that does not hold is explained."""
        if self.verdict is not Verdict.HOLDS and not self.why:
            message = f"the claim {self.words!r} {self.verdict}, and nothing says why"
            raise ValueError(message)

    @property
    def deviation(self) -> str:
        """The deviation of ours from the paper's in words: `-17 %`, `+4.3 points`; empty without numbers."""
        found = self.numbers.deviation if self.numbers else None
        if found is None:
            return ""
        shown, unit = (found, "points") if self.numbers and self.numbers.unit == "%" else (found * 100, "%")
        digits = f"{shown:+.0f}" if abs(shown) >= 10 else f"{shown:+.1f}"
        return f"{'0' if float(digits) == 0 else digits} {unit}"

    @classmethod
    def near(cls, words: str, where: str, *, paper: float, ours: float, unit: str = "", why: str = "") -> Claim:
        """A number that ours is near: at most the part `OF_NUMBER` of the paper's away from it."""
        holds = math.isfinite(ours) and abs(ours - paper) <= OF_NUMBER * abs(paper)
        return cls._number(words, where, (paper, ours, unit), f"within {OF_NUMBER * 100:g} %", holds, why)

    @classmethod
    def about(cls, words: str, where: str, *, paper: float, ours: float, unit: str = "", why: str = "") -> Claim:
        """A number that the paper's words round: ours is within a tenth of it, or rounds to it as it is printed."""
        within = _rounded_by(paper)
        holds = math.isfinite(ours) and abs(ours - paper) <= within
        rule = f"{_stated(paper - within, '')} to {_stated(paper + within, unit)}"
        return cls._number(words, where, (paper, ours, unit), rule, holds, why)

    @classmethod
    def up_to(cls, words: str, where: str, *, paper: float, ours: float, unit: str = "", why: str = "") -> Claim:
        """The largest value of a range: ours is within a tenth of the paper's, or rounds to it as the paper prints it.

        More than the paper's counts as less does: either is another largest value than the one that is claimed.
        """
        within = _rounded_by(paper)
        holds = math.isfinite(ours) and abs(ours - paper) <= within
        rule = f"the largest is {_stated(paper - within, '')} to {_stated(paper + within, unit)}"
        return cls._number(words, where, (paper, ours, unit), rule, holds, why)

    @classmethod
    def across(
        cls, words: str, where: str, *, paper: float, ours: Sequence[float], unit: str = "", why: str = ""
    ) -> Claim:
        """A number that ours reaches across a wide range, at half of the sizes or more; `ours` has one for each."""
        least = paper * (1 - OF_NUMBER)
        reached = sum(value >= least for value in ours)
        shown = f"{_shown(least, unit)} or more at {reached} of {len(ours)} sizes, at most {_shown(max(ours), unit)}"
        rule = f"{_shown(least, unit)} or more at half of the sizes"
        return cls(words, where, _stated(paper, unit), shown, rule, _verdict(2 * reached >= len(ours)), why)

    @classmethod
    def at_least(cls, words: str, where: str, *, paper: float, ours: float, unit: str = "", why: str = "") -> Claim:
        """A number that ours reaches."""
        return cls._number(words, where, (paper, ours, unit), "at least", ours >= paper, why)

    @classmethod
    def at_most(cls, words: str, where: str, *, paper: float, ours: float, unit: str = "", why: str = "") -> Claim:
        """A number that ours does not exceed."""
        return cls._number(words, where, (paper, ours, unit), "at most", ours <= paper, why)

    @classmethod
    def at_least_ours(
        cls, words: str, where: str, *, least: float, ours: float, unit: str = "", why: str = ""
    ) -> Claim:
        """A number that ours reaches, where the paper has only words: `least` is what we take them to mean."""
        rule = f"at least {_shown(least, unit)}"
        return cls(words, where, NOT_STATED, _shown(ours, unit), rule, _verdict(ours >= least), why)

    @classmethod
    def between(
        cls, words: str, where: str, *, low: float, high: float, ours: float, unit: str = "", why: str = ""
    ) -> Claim:
        """A range that ours lies in."""
        shown = f"{_stated(low, '')} to {_stated(high, unit)}"
        numbers = _numbers(low, high, ours, unit)
        return cls(words, where, shown, _shown(ours, unit), "in the range", _verdict(low <= ours <= high), why, numbers)

    @classmethod
    def equal(cls, words: str, where: str, *, paper: object, ours: object, why: str = "") -> Claim:
        """A value that ours equals."""
        numbers = _numbers(paper, paper, ours, "") if isinstance(paper, int) and isinstance(ours, int) else None
        return cls(words, where, str(paper), str(ours), "equal", _verdict(paper == ours), why, numbers)

    @classmethod
    def fact(cls, words: str, where: str, *, paper: str, ours: str, rule: str, holds: bool, why: str = "") -> Claim:
        """Something that is no single number: `ours` says what we find, `rule` when that agrees."""
        return cls(words, where, paper, ours, rule, _verdict(bool(holds)), why)

    @classmethod
    def not_judged(cls, words: str, where: str, *, paper: str, why: str) -> Claim:
        """A claim that neither a model nor a simulator of ours can judge; `why` says what a judgement would need."""
        return cls(words, where, paper, "-", "-", Verdict.OPEN, why)

    @classmethod
    def _number(
        cls, words: str, where: str, numbers: tuple[float, float, str], rule: str, holds: bool, why: str
    ) -> Claim:
        paper, ours, unit = numbers
        found = _numbers(paper, paper, ours, unit)
        return cls(words, where, _stated(paper, unit), _shown(ours, unit), rule, _verdict(holds), why, found)


def _rounded_by(paper: float) -> float:
    """Largest distance of ours from a number that is rounded: a tenth, or half a unit of its last printed digit."""
    _, _, decimals = f"{paper:.12g}".partition(".")
    return max(OF_ROUNDED * abs(paper), 0.5 * 10.0 ** -len(decimals))


def _numbers(least: float, most: float, ours: float, unit: str) -> Numbers | None:
    return Numbers(float(least), float(most), float(ours), unit) if math.isfinite(ours) else None


def _verdict(holds: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.FAILS


def _shown(number: float, unit: str) -> str:
    """Three digits, or all of a whole number; `×` and `%` follow as people write them."""
    digits = f"{number:.0f}" if abs(number) < 1e6 and number == round(number) else f"{number:.3g}"
    return _with_unit(digits, unit)


def _stated(number: float, unit: str) -> str:
    """All digits that the paper has."""
    return _with_unit(f"{number:.12g}", unit)


def _with_unit(digits: str, unit: str) -> str:
    return digits + ("" if unit in {"", "×"} else " ") + unit

"""For which times of computation a claim's verdict holds: the claims are judged again with other times.

Times of computation are factors of the assumed one. Only the iterations depend on them, so that nothing is planned
again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from lightloom.views.axis_units import time_label
from lightloom_papers.claims import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lightloom_papers.claims import Claim

LEAST, MOST = 0.25, 4.0
# Each factor is 2^(1/4) of the one before; between two that differ the change is found to this part of it.
STEPS = 16
WITHIN = 1e-3

Ranges = tuple[tuple[float, float], ...]


def factors() -> list[float]:
    """Factors that are tried, in order; 1 is among them."""
    return [LEAST * (MOST / LEAST) ** (step / STEPS) for step in range(STEPS + 1)]


def change(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Where `holds` changes between `low` and `high`, at which it differs: bisected to `WITHIN` of it.

    On the side of those that hold.
    """
    at_low = holds(low)
    while high > low * (1 + WITHIN):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if holds(middle) == at_low else (low, middle)
    return low if at_low else high


def ranges(holds: Callable[[float], bool], tried: Sequence[float]) -> Ranges:
    """Ranges of factors in which `holds`, from the first of `tried`, which rise, to the last.

    A range between two neighbours of `tried` that do not hold, or a gap between two that do, is not seen.
    """
    ends = [
        tried[0],
        *(change(holds, *pair) for pair in pairwise(tried) if holds(pair[0]) != holds(pair[1])),
        tried[-1],
    ]
    starts_in = holds(tried[0])
    inner = ends if starts_in else ends[1:]
    inner = inner if holds(tried[-1]) else inner[:-1]
    return tuple(zip(inner[::2], inner[1::2], strict=True))


def with_ranges(
    claims_at: Callable[[float], Sequence[Claim]], assumed_s: float, published_s: Sequence[float]
) -> tuple[Claim, ...]:
    """The claims at factor 1; those that depend on the factor say in which ranges of it they hold.

    claims_at: the claims by the factor, always in one order; assumed_s: the time at factor 1; published_s: published
    times, each of which is tried (s).
    """
    at = cache(claims_at)
    tried = factors()
    published = sorted(published_s)
    made = []
    for index, claim in enumerate(at(1.0)):

        def holds(factor: float, index: int = index) -> bool:
            return at(factor)[index].verdict is Verdict.HOLDS

        if all(at(factor)[index].ours == claim.ours for factor in tried):
            made.append(claim)
            continue
        by_published = {time_s: holds(time_s / assumed_s) for time_s in published}
        text = said(ranges(holds, tried), by_published, assumed_s)
        made.append(replace(claim, why=f"{claim.why}. {text}" if claim.why else text))
    return tuple(made)


def said(where: Ranges, by_published: dict[float, bool], assumed_s: float) -> str:
    """The ranges in words, and the published times (s) with which it holds, and with which it does not."""
    assumed = f"the assumed {time_label(assumed_s)}"
    tried = f"{LEAST:g} to {MOST:g} times"
    if where == ((LEAST, MOST),) and all(by_published.values()):
        return f"It holds whether GPUs compute for {tried} {assumed}, which published times are among"
    if not where and not any(by_published.values()):
        return f"It does not hold when GPUs compute for {tried} {assumed}, which published times are among"
    parts = " and ".join(f"{low:.3g} to {high:.3g} times" for low, high in where) or "none of the times tried of"
    listed = {
        verdict: ", ".join(time_label(time_s) for time_s, holds in by_published.items() if holds == verdict) or "none"
        for verdict in (True, False)
    }
    return (
        f"It holds when GPUs compute for {parts} {assumed} ({tried} tried): with published times of {listed[True]}, "
        f"not of {listed[False]}"
    )

"""The reasons of a recommendation, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom._core import counted, show_time
from lightloom.advice.crossings import LARGEST_S, RESOLUTION
from lightloom.advice.result import FIXED
from lightloom.training.break_even import AS_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightloom.advice.choice import Option
    from lightloom.advice.job import Job
    from lightloom.advice.result import AdviceRow, Limit, Sensitivity

__all__ = ["reasons_of"]


def reasons_of(
    job: Job,
    rows: Sequence[AdviceRow],
    chosen: Option | None,
    limits: Sequence[Limit],
    sensitivity: Sequence[Sensitivity],
    near: float,
) -> tuple[str, ...]:
    """The recommendation first, then why, the break-even delays, and which input would change it."""
    if chosen is None:
        return ("No switch and no fixed circuits serve the mix.",)
    row = next(row for row in rows if (row.switch, row.ports) == (chosen.switch, chosen.ports))
    return (
        *_choice(job, rows, row, near),
        *_break_even(row, limits),
        *_too_small(rows),
        *_changes(sensitivity),
    )


def _choice(job: Job, rows: Sequence[AdviceRow], row: AdviceRow, near: float) -> Iterator[str]:
    usable = [one for one in rows if one.usable and one.total_s is not None]
    fastest = min(usable, key=lambda one: one.total_s or 0.0)
    total_s, best_s = row.total_s or 0.0, fastest.total_s or 0.0
    ports = counted(row.ports, "port")
    if row.switch == FIXED:
        yield f"Recommended: {FIXED} with {ports} a GPU; the mix takes {show_time(total_s)}."
        if best_s >= total_s * (1 - AS_LONG):
            yield f"Changing circuits does not pay: no switch that can be chosen is faster by more than {AS_LONG:.1%}."
        else:
            fastest_ports = counted(fastest.ports, "port")
            yield (
                f"The fastest, {fastest.switch} with {fastest_ports}, takes {show_time(best_s)}, "
                f"{1 - best_s / total_s:.1%} less."
            )
        yield from _fixed(job)
        return
    switches = f"{row.switches} switch{'es' * (row.switches > 1)}"
    yield f"Recommended: {row.switch}, {switches} for {ports} a GPU; the mix takes {show_time(total_s)}."
    known = [one for one in usable if (one.total_s or 0.0) <= best_s * (1 + near)]
    by_price = all(one.cost is not None or one.switch == FIXED for one in known)
    rule = "the cheapest" if by_price else "the slowest technology with the fewest ports"
    if (row.switch, row.ports) == (fastest.switch, fastest.ports):
        others = "cheaper switch" if by_price else "slower technology, and none with fewer ports,"
        yield f"It is the fastest, and no {others} comes within {near:.0%} of it."
    else:
        yield f"It is {rule} within {near:.0%} of the fastest, {fastest.switch}, which takes {show_time(best_s)}."
    if row.never_change_s is None:
        yield "Circuits that never change cannot serve the mix."
    else:
        times = f"{row.never_change_s / total_s:.3g} times as long"
        yield f"Circuits that never change take {show_time(row.never_change_s)}, {times}."
        yield from _fixed(job)
    if row.radix is None:
        yield f"The radix of {row.switch} is unknown: ask whether a switch joins {job.gpus} GPUs."


def _fixed(job: Job) -> Iterator[str]:
    """The assumptions behind the times of circuits that never change."""
    if len(job.entries) > 1:
        yield (
            "Each entry of the mix has the circuits that are best for it: one patch panel may not hold all of them, so "
            "circuits that never change may take longer than said."
        )


def _break_even(row: AdviceRow, limits: Sequence[Limit]) -> Iterator[str]:
    for one in limits:
        ports = counted(one.ports, "port")
        if one.reconfiguration_delay_s is None:
            yield f"With {ports} a GPU, changing circuits never pays, however short the reconfiguration delay."
        elif one.unlimited and row.never_change_s is None:
            yield f"With {ports} a GPU, only changing circuits serve the mix, at any reconfiguration delay."
        elif one.unlimited:
            yield f"With {ports} a GPU, changing circuits pays at every delay up to {show_time(LARGEST_S)}."
        else:
            yield (
                f"With {ports} a GPU, changing circuits pays up to a reconfiguration delay of "
                f"{show_time(one.reconfiguration_delay_s)} (found to within {RESOLUTION:.0%})."
            )


def _too_small(rows: Sequence[AdviceRow]) -> Iterator[str]:
    small = dict.fromkeys(row.switch for row in rows if row.radix is not None and "joins" in row.reason)
    if small:
        yield f"Too few ports for all GPUs: {', '.join(small)}."
    unknown = dict.fromkeys(row.switch for row in rows if "is unknown" in row.reason)
    if unknown:
        yield f"The reconfiguration delay is unknown, so there is no time: {', '.join(unknown)}."


def _changes(sensitivity: Sequence[Sensitivity]) -> Iterator[str]:
    changing = [
        f"{one.input} ({one.switch}{'' if one.ports is None else ', ' + counted(one.ports, 'port')})"
        for one in sensitivity
        if one.changes
    ]
    if changing:
        yield f"The recommendation would change with: {'; '.join(changing)}."
    else:
        yield "No change of one input that was tried would change the recommendation."

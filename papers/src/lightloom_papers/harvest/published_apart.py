"""Published schedules that state less than their circuits take, and how that is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.inputs.quantities import bytes_of, seconds_of
from lightloom.views.axis_units import time_label
from lightloom_papers.harvest.published import published, question_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightloom_papers.harvest.published import Published

__all__ = ["delays_of", "even_loads_s", "hops_of_direct", "startups_s", "why_apart"]


def _gpus(one: Published) -> int:
    gpus = question_of(one.name).fabric.gpus
    if gpus is None:
        raise ValueError(f"{one.name}: the name does not state the number of GPUs")
    return gpus


def startups_s(one: Published) -> float:
    """The startups of all steps of a direct All-to-All, one step for each of the other GPUs."""
    return (_gpus(one) - 1) * question_of(one.name).fabric.startup_s


def hops_of_direct(one: Published) -> float:
    """Hops of all steps together in a time of a direct All-to-All on one port, where every hop sends one block."""
    question = question_of(one.name)
    fabric = question.fabric
    block_s = 8 * bytes_of("size", question.size) / _gpus(one) / fabric.bandwidth_bps
    changes_s = one.reconfigurations * seconds_of("delay", str(fabric.reconfiguration_delay))
    return (one.total_s - startups_s(one) - changes_s) / (fabric.hop_delay_s + block_s)


def even_loads_s(one: Published) -> float:
    """Swing on the two-way ring if the bytes of every step lay evenly on all of its circuits, which they do not.

    Step s halves the bytes and has its peer |1 - (-2)^(s+1)|/3 places away, from s = 0 on, in both halves of the
    AllReduce. A GPU's bytes then lie on that many circuits of the two a GPU has.
    """
    question = question_of(one.name)
    fabric = question.fabric
    steps = _gpus(one).bit_length() - 1
    bits = 8 * bytes_of("size", question.size)
    distances = [abs(1 - (-2) ** (step + 1)) // 3 for step in range(steps)]
    half_s = 0.0
    for step, places in enumerate(distances):
        sent_s = bits / (2 << step) / fabric.bandwidth_bps
        half_s += fabric.startup_s + places * (fabric.hop_delay_s + sent_s / 2)
    return 2 * half_s


def why_apart(apart: Sequence[Published]) -> str:
    """Evidence that schedules which state another time than ours state one that no circuits can take."""
    if not apart:
        return ""
    direct = [one for one in apart if "-direct1-" in one.name]
    short = [one for one in direct if one.total_s < startups_s(one)]
    parts = [f"`{one.name}` states less than its startups alone, {time_label(startups_s(one))}." for one in short]
    broken = [one for one in direct if one not in short]
    if broken:
        hops = ", ".join(f"`{one.name}` would have {hops_of_direct(one):.1f}" for one in broken)
        parts.append(
            f"With one port the blocks of a step go over one path each, so the hops of all steps together are whole: "
            f"{hops}."
        )
    even = [one for one in apart if _is_even(one)]
    if even:
        names = ", ".join(f"`{one.name}`" for one in even)
        parts.append(
            f"On the two-way ring without a change, {names} state what Swing would take if every step loaded all "
            "circuits evenly. Each step loads some more than others: those towards a peer d places away carry "
            "(d + 1)/2 messages, not d/2."
        )
    parts += [f"`{one.name}` states another time." for one in apart if one not in (*direct, *even)]
    return " ".join(parts)


def delays_of(apart: Sequence[Published]) -> str:
    """The least reconfiguration delay of some schedules, and the longest of those below."""

    def delay_s(one: Published) -> float:
        return seconds_of("delay", str(question_of(one.name).fabric.reconfiguration_delay))

    least_s = min(map(delay_s, apart))
    below_s = max(found for one in published() if (found := delay_s(one)) < least_s)
    return f"all at delays of {time_label(least_s)} or more, and none at {time_label(below_s)} or less"


def _is_even(one: Published) -> bool:
    """Whether it states the time of even loads, on circuits that never change."""
    is_still = "-swing-" in one.name and one.reconfigurations == 0
    return is_still and abs(even_loads_s(one) / one.total_s - 1) <= 1e-6

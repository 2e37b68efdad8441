"""Inputs that would change the recommendation: one is changed at a time, and the choice is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom.advice.choice import NEAR, choose, options_at, why_not
from lightloom.advice.crossings import first_beyond
from lightloom.advice.result import Sensitivity
from lightloom.advice.times import AS_GIVEN, Change
from lightloom.base.errors import InputError
from lightloom.base.whole_numbers import WHOLE_RANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightloom.advice.choice import Option
    from lightloom.advice.job import Job
    from lightloom.advice.times import MixTime, Times
    from lightloom.inputs.catalogue import Switch

__all__ = ["changed_inputs"]


class Input(NamedTuple):
    """A changed input: its words, the change, the ports that a GPU has more, and the factor of all delays."""

    words: str
    change: Change = AS_GIVEN
    more_ports: int = 0
    delay: float = 1.0


INPUTS = (
    Input("all sizes ×2", Change(size=2.0)),
    Input("all sizes ÷2", Change(size=0.5)),
    Input("bandwidth ×2", Change(bandwidth=2.0)),
    Input("bandwidth ÷2", Change(bandwidth=0.5)),
    Input("a port more", more_ports=1),
    Input("a port less", more_ports=-1),
    Input("every delay ×10", delay=10.0),
    Input("every delay ÷10", delay=0.1),
)


def changed_inputs(job: Job, switches: Sequence[Switch], times: Times, chosen: Option | None) -> Iterator[Sensitivity]:
    """The recommendation with each of the inputs changed. chosen: what is recommended for the job as it is."""
    least, most = WHOLE_RANGES["ports"]
    for one in INPUTS:
        counts = [ports for base in job.ports if least <= (ports := base + one.more_ports) <= most]
        if len(counts) < len(job.ports):
            continue
        try:
            yield _changed(one, job, switches, times, chosen, counts)
        except InputError:
            # The changed input is out of range, so that no plan can have it.
            continue


def _changed(
    one: Input, job: Job, switches: Sequence[Switch], times: Times, chosen: Option | None, counts: list[int]
) -> Sensitivity:
    """The recommendation with one input changed, for these ports. Raises `InputError` where it is out of range."""
    delays = _delays(job, switches, one.delay)
    # Where no switch is left, only circuits that never change are compared, and their delay does not matter.
    fastest = [times.at(ports, delays[0] if delays else 0.0, one.change).total_s for ports in counts]
    enough_s = (1 + NEAR) * min((time_s for time_s in fastest if time_s is not None), default=0.0)
    found_at = {ports: _times(times, one, ports, delays, enough_s) for ports in counts}
    if any(switch.price is not None for switch in switches):
        found_at = {ports: times.at_all(ports, [0.0, *delays], one.change) for ports in counts}
    offered = [
        option
        for ports, found in found_at.items()
        for option in options_at(switches, job.gpus, ports, found, one.delay)
    ]
    best = choose(offered)
    shifted = None if chosen is None else (chosen.switch, chosen.ports + one.more_ports)
    is_other = (None if best is None else (best.switch, best.ports)) != shifted
    if best is None:
        return Sensitivity(one.words, None, None, is_other)
    return Sensitivity(one.words, best.switch, best.ports, is_other)


def _delays(job: Job, switches: Sequence[Switch], factor: float) -> list[float]:
    """The delays of those that can be chosen, rising, each times a factor."""
    known = [one for one in switches if not why_not(one, job.gpus)]
    return sorted({(one.reconfiguration_delay_s or 0.0) * factor for one in known})


def _times(times: Times, one: Input, ports: int, delays: list[float], enough_s: float) -> dict[float, MixTime]:
    """The mix's times at some delays: the least, and the largest at which it takes at most `enough_s`.

    Where delays rise, times rise, so that few of them need to be planned at.
    """
    found: dict[float, MixTime] = {}

    def is_enough(delay_s: float) -> bool:
        found[delay_s] = times.at(ports, delay_s, one.change)
        total_s = found[delay_s].total_s
        return total_s is not None and total_s <= enough_s

    # The fastest switch is always evaluated, since the others are judged by how near to it they are.
    for delay_s in delays[:1]:
        is_enough(delay_s)
    first_beyond(delays, lambda delay_s: not is_enough(delay_s))
    return found or times.at_all(ports, (0.0,), one.change)

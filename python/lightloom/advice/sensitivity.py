"""Which input would change the recommendation: one at a time is another, and the choice is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lightloom.advice.choice import NEAR, choose, options_at, why_not
from lightloom.advice.result import Sensitivity
from lightloom.advice.times import AS_GIVEN, Change
from lightloom.base.whole_numbers import WHOLE_RANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightloom.advice.choice import Option
    from lightloom.advice.job import Job
    from lightloom.advice.times import MixTime, Times
    from lightloom.inputs.catalogue import Switch

__all__ = ["changed_inputs"]


class Input(NamedTuple):
    """An input that is another: its words, the change, ports of a GPU more, and the factor of all delays."""

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
    """The recommendation with each of the inputs changed. chosen: the one of the job as it is."""
    least, most = WHOLE_RANGES["ports"]
    for one in INPUTS:
        counts = [ports for base in job.ports if least <= (ports := base + one.more_ports) <= most]
        if len(counts) < len(job.ports):
            continue
        offered = [option for ports in counts for option in _options(job, switches, times, one, ports)]
        found = choose(offered)
        shifted = None if chosen is None else (chosen.switch, chosen.ports + one.more_ports)
        is_other = (None if found is None else (found.switch, found.ports)) != shifted
        switch, ports = (None, None) if found is None else (found.switch, found.ports)
        yield Sensitivity(one.words, switch, ports, is_other)


def _options(job: Job, switches: Sequence[Switch], times: Times, one: Input, ports: int) -> list[Option]:
    """Those that can be chosen: of delays that rise, times rise, so that few of them need to be planned at."""
    delays = sorted(
        switch.reconfiguration_delay_s * one.delay
        for switch in switches
        if switch.reconfiguration_delay_s is not None and not why_not(switch, job.gpus)
    )
    found: dict[float, MixTime] = {}

    def total_s(place: int) -> float:
        found[delays[place]] = times.at(ports, delays[place], one.change)
        return found[delays[place]].total_s or 0.0

    if not delays:  # circuits that never change are left
        return options_at(switches, job.gpus, ports, times.at_all(ports, (0.0,), one.change), one.delay)
    enough_s = total_s(0) * (1 + NEAR)
    low, high = 0, len(delays)
    while high - low > 1:
        middle = (low + high) // 2
        if total_s(middle) <= enough_s:
            low = middle
        else:
            high = middle
    if any(switch.price is not None for switch in switches):
        found |= times.at_all(ports, delays[: low + 1], one.change)
    return options_at(switches, job.gpus, ports, found, one.delay)

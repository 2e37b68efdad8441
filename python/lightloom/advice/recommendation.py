"""Advise on a switch: times of the mix on every one, the recommendation, and what it depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.advice.choice import NEAR, choose, options_at, why_not
from lightloom.advice.crossings import largest_delay
from lightloom.advice.job import Job, port_counts
from lightloom.advice.reasons import reasons_of
from lightloom.advice.result import FIXED, Advice, AdviceRow, Limit
from lightloom.advice.sensitivity import changed_inputs
from lightloom.advice.times import Times, fixed_s
from lightloom.inputs.catalogue import Switch, find_switches
from lightloom.training.break_even import AS_LONG

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lightloom.advice.choice import Option
    from lightloom.advice.times import MixTime

__all__ = ["advise"]


def advise(
    job: str | os.PathLike[str] | Mapping[str, object] | Job,
    *,
    switches: str | os.PathLike[str] | Iterable[Switch | str | os.PathLike[str]] | None = None,
    ports: str | int | Sequence[int] | None = None,
    report: Callable[[str], object] | None = None,
    found: Callable[[AdviceRow], object] | None = None,
) -> Advice:
    """The optical circuit switch that a job needs: every time is that of `lightloom.plan` or `lightloom.train`.

    job: a TOML file, or a mapping of its keys; docs/how-to/choose-a-switch.md has them. switches: names of
    `lightloom list switches`, `all`, TOML files, or Switches; one, several with commas, or a list; the catalogue when
    left out. ports: counts of ports of a GPU that are compared, such as `"1,2"`; those of the job when left out.
    report: is told what is being planned. found: is told each row of the advice as soon as its time is known, and
    delays are planned one after the other then.

    Raises `InputError` that names the argument or the key of the job.
    """
    read = Job.load(job)
    if ports is not None:
        from dataclasses import replace

        read = replace(read, ports=port_counts(ports))
    offered = find_switches(switches)
    times = Times(read, report)
    if found is None:
        for count in read.ports:
            times.at_all(count, _delays(offered))
    rows: list[AdviceRow] = []
    for row in (row for count in read.ports for row in _rows(read, offered, count, times)):
        rows.append(row)
        if found is not None:
            found(row)
    by_ports = {count: times.at_all(count, _delays(offered)) for count in read.ports}
    chosen = choose(
        option for count, known in by_ports.items() for option in options_at(offered, read.gpus, count, known)
    )
    limits = _break_even(times, by_ports)
    sensitivity = tuple(changed_inputs(read, offered, times, chosen))
    return Advice(
        job=read.name,
        gpus=read.gpus,
        mix=tuple((one.label, one.count) for one in read.entries),
        rows=tuple(rows),
        recommended=None if chosen is None else chosen.switch,
        recommended_ports=None if chosen is None else chosen.ports,
        break_even=limits,
        equal_time=_equal_time(times, by_ports, chosen),
        sensitivity=sensitivity,
        reasons=reasons_of(read, tuple(rows), chosen, limits, sensitivity, NEAR),
    )


def _delays(switches: Sequence[Switch]) -> list[float]:
    """The delays of the switches, with that of none where no switch has one: circuits that never change need a time."""
    known = [one.reconfiguration_delay_s for one in switches if one.reconfiguration_delay_s is not None]
    return known or [0.0]


def _rows(job: Job, switches: Sequence[Switch], ports: int, times: Times) -> Iterable[AdviceRow]:
    """The rows with this many ports: by delay, those without one after them, and circuits that never change."""
    ideal_s = times.packet_switch_s(ports)

    def delay_of(one: Switch) -> float:
        return one.reconfiguration_delay_s or 0.0

    for one in sorted((one for one in switches if one.reconfiguration_delay_s is not None), key=delay_of):
        found = times.at(ports, delay_of(one))
        yield _row(one, job.gpus, ports, found.total_s, found.never_change_s, ideal_s)
    still_s = fixed_s(times.at_all(ports, _delays(switches)))
    for one in switches:
        if one.reconfiguration_delay_s is None:
            yield _row(one, job.gpus, ports, None, still_s, ideal_s)
    yield _row(Switch(name=FIXED, price=0.0, power_w=0.0), job.gpus, ports, still_s, still_s, ideal_s)


def _row(one: Switch, gpus: int, ports: int, total_s: float | None, still_s: float | None, ideal_s: float) -> AdviceRow:
    is_fixed = one.name == FIXED
    reason = "" if is_fixed else why_not(one, gpus)
    if total_s is None and not reason:
        reason = "circuits that never change cannot serve the mix" if is_fixed else "nothing serves the mix"
    energy_known = one.power_w is not None and total_s is not None
    return AdviceRow(
        switch=one.name,
        technology=one.technology,
        reconfiguration_delay_s=one.reconfiguration_delay_s,
        ports=ports,
        total_s=total_s,
        never_change_s=still_s,
        packet_switch_s=ideal_s,
        price=None if is_fixed else one.price,
        power_w=None if is_fixed else one.power_w,
        radix=one.radix,
        insertion_loss_db=one.insertion_loss_db,
        switches=0 if is_fixed else ports,
        cost=None if one.price is None or is_fixed else one.price * ports,
        energy_j=(one.power_w or 0.0) * ports * (total_s or 0.0) if energy_known and not is_fixed else None,
        usable=not reason,
        reason=reason,
        source=one.source,
    )


def _break_even(times: Times, by_ports: dict[int, dict[float, MixTime]]) -> tuple[Limit, ...]:
    """By ports, up to which delay changing circuits is faster than never changing them by more than `AS_LONG`."""

    def pays(count: int, delay_s: float) -> bool:
        found = times.at(count, delay_s)
        if found.total_s is None or found.never_change_s is None:
            return found.total_s is not None
        return found.total_s * (1 + AS_LONG) < found.never_change_s

    return tuple(
        largest_delay(lambda delay_s, count=count: pays(count, delay_s), count, found)  # type: ignore[misc]
        for count, found in by_ports.items()
    )


def _equal_time(times: Times, by_ports: dict[int, dict[float, MixTime]], chosen: Option | None) -> tuple[Limit, ...]:
    """By ports, up to which delay the mix takes no longer than as recommended; empty for one number of ports."""
    if chosen is None or len(by_ports) < 2:
        return ()
    enough_s = chosen.total_s * (1 + AS_LONG)

    def is_as_fast(count: int, delay_s: float) -> bool:
        total_s = times.at(count, delay_s).total_s
        return total_s is not None and total_s <= enough_s

    return tuple(
        largest_delay(lambda delay_s, count=count: is_as_fast(count, delay_s), count, found)  # type: ignore[misc]
        for count, found in by_ports.items()
    )

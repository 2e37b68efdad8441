"""Times of many plans, by the additive model or by packet simulation; finished simulations are kept."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import Problem, plan, simulate, sweep
from lightloom.base.errors import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lightloom import Fabric
    from lightloom_papers.figure import Setting

# Folder of the sweeps that simulate, below that of the figures.
KEPT = "simulated"
# Settings that say sizes of their own.
SAY_SIZES = ("matrix", "schedule")


class Measured(NamedTuple):
    """A plan's time (s), the reconfigurations that it is charged, and what made it."""

    total_s: float
    reconfigurations: int
    planner: str
    algorithm: str


class Case(NamedTuple):
    """One plan: the arguments of `lightloom.plan`; `settings` are those after the first three, as pairs."""

    collective: str
    size: str | float
    fabric: Fabric
    settings: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, collective: str, size: str | float, fabric: Fabric, **settings: Any) -> Case:
        """The case with these settings, such as `algorithm="ring"`."""
        return cls(collective, size, fabric, tuple(sorted(settings.items())))


def measure(cases: Sequence[Case], setting: Setting) -> list[Measured]:
    """As `Setting.measure`."""
    return _modelled(cases, setting) if setting.engine == "model" else _simulated(cases, setting)


def _modelled(cases: Sequence[Case], setting: Setting) -> list[Measured]:
    """Cases of one collective, shape and settings are planned together: they differ only in numbers."""
    groups: dict[object, list[int]] = {}
    for index, case in enumerate(cases):
        alone = any(name in SAY_SIZES for name, _ in case.settings)
        groups.setdefault(index if alone else _what_is_shared(case), []).append(index)
    found: dict[int, Measured] = {}
    for indices in groups.values():
        together = [cases[index] for index in indices]
        measured = [_planned(together[0])] if len(together) == 1 else _planned_together(together)
        found.update(zip(indices, measured, strict=True))
        setting.advance(len(found), len(cases))
    return [found[index] for index in range(len(cases))]


def _what_is_shared(case: Case) -> object:
    delay = 0 if case.fabric.reconfiguration.scalar_s is not None else case.fabric.reconfiguration_delay
    fabric = replace(case.fabric, bandwidth="1Gbps", startup=0, hop_delay=0, reconfiguration_delay=delay)
    return repr((case.collective, fabric, case.settings))


def _planned_together(cases: Sequence[Case]) -> list[Measured]:
    first = cases[0]
    problem = Problem(first.collective, first.size, fabric=first.fabric, **dict(first.settings))
    swept = problem.sweep(
        [case.size for case in cases],
        [case.fabric.reconfiguration.fixed_s for case in cases],
        bandwidths=[case.fabric.bandwidth_bps for case in cases],
        startups=[case.fabric.startup_s for case in cases],
        hop_delays=[case.fabric.hop_delay_s for case in cases],
    )
    points = zip(cases, swept.total_s, swept.reconfigurations, swept.planner, swept.algorithm, strict=True)
    return [
        Measured(float(total_s), int(changes), str(planner), str(algorithm)) if np.isfinite(total_s) else _planned(case)
        for case, total_s, changes, planner, algorithm in points
    ]


def _planned(case: Case) -> Measured:
    made = plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
    return Measured(made.total_s, made.reconfigurations, made.planner, made.algorithm)


def simulate_case(case: Case) -> Measured:
    """The time of the case's plan with every packet simulated."""
    made = plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
    return Measured(simulate(made).total_s, made.reconfigurations, made.planner, made.algorithm)


def _simulated(cases: Sequence[Case], setting: Setting) -> list[Measured]:
    """Cases that differ only in size and delay are sweeps; their folders keep the simulations."""
    distinct = list(dict.fromkeys(cases))
    groups: dict[object, list[Case]] = {}
    for case in distinct:
        groups.setdefault(_what_a_sweep_shares(case), []).append(case)
    done = 0

    def advance(points: int) -> None:
        nonlocal done
        done += points
        setting.advance(done, len(distinct))

    tables = (table for together in groups.values() for table in _tables(together))
    found = {case: one for table in tables for case, one in _swept(table, setting, advance).items()}
    return [found[case] for case in cases]


def _what_a_sweep_shares(case: Case) -> object:
    return repr((case.collective, replace(case.fabric, reconfiguration_delay=0), case.settings))


def _tables(cases: Sequence[Case]) -> list[list[Case]]:
    """One table of all where they have the same sizes at every delay, which vary slowest; else one for each delay."""
    by_delay: dict[object, list[Case]] = {}
    for case in cases:
        by_delay.setdefault(case.fabric.reconfiguration_delay, []).append(case)
    rows = list(by_delay.values())
    is_table = all([case.size for case in row] == [case.size for case in rows[0]] for row in rows)
    return [[case for row in rows for case in row]] if is_table else rows


def _swept(cases: Sequence[Case], setting: Setting, advance: Callable[[int], None]) -> dict[Case, Measured]:
    """The measurements of a table."""
    first = cases[0]
    fabric = {key: value for key, value in first.fabric.to_settings().items() if key != "reconfiguration_delay"}
    settings = {key: value for key, value in first.settings if value is not None}
    description = {
        "engine": "packet",
        "metrics": ["simulated", "reconfigurations"],
        "settings": {"collective": first.collective, **fabric, **settings},
        "axes": {
            "reconfiguration_delay": list(dict.fromkeys(case.fabric.reconfiguration_delay for case in cases)),
            "size": list(dict.fromkeys(case.size for case in cases)),
        },
    }
    digest = hashlib.sha256(repr(description).encode()).hexdigest()[:16]
    folder = None if setting.folder is None else setting.folder / KEPT / digest
    result = sweep(description, output=folder, workers=setting.workers, advance=advance)
    columns = ("simulated_s", "reconfigurations", "chosen_planner", "chosen_algorithm", "reason")
    measured = {}
    for case, total_s, changes, planner, algorithm, reason in zip(
        cases, *map(result.__getitem__, columns), strict=True
    ):
        if not np.isfinite(total_s):
            raise refuse("case", str(reason))
        measured[case] = Measured(float(total_s), int(changes), str(planner), str(algorithm))
    return measured

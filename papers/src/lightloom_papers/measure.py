"""Times of many plans, by the additive model or by packet simulation; finished simulations are kept."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import Problem, __version__, plan, simulate
from lightloom.files import MIB, read_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lightloom import Fabric
    from lightloom_papers.figure import Setting

KEPT = "simulated.jsonl"
MAX_KEPT_BYTES = 256 * MIB
# Settings that say sizes of their own.
SAY_SIZES = ("matrix", "schedule")


class Measured(NamedTuple):
    """A plan's time (s), the reconfigurations that it is charged, and what made it."""

    total_s: float
    reconfigurations: int
    planner: str
    algorithm: str


class Case(NamedTuple):
    """One plan: the arguments of `lightloom.plan`; `settings` are those beside the first three, as pairs."""

    collective: str
    size: str | float
    fabric: Fabric
    settings: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, collective: str, size: str | float, fabric: Fabric, **settings: Any) -> Case:
        """The case with these settings, such as `algorithm="ring"`."""
        return cls(collective, size, fabric, tuple(sorted(settings.items())))

    @property
    def key(self) -> str:
        """A digest of the case and of the version that plans and simulates it."""
        return hashlib.sha256(repr((__version__, *self)).encode()).hexdigest()[:32]


def measure(cases: Sequence[Case], setting: Setting) -> list[Measured]:
    """As `Setting.measure`."""
    return _modelled(cases, setting) if setting.engine == "model" else _simulated(cases, setting)


def _modelled(cases: Sequence[Case], setting: Setting) -> list[Measured]:
    """Cases of one collective, shape and settings are planned together: what differs between them are numbers."""
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
    known = {} if setting.folder is None else _kept(setting.folder / KEPT)
    missing = {case.key: case for case in cases if case.key not in known}
    setting.advance(len(known), len(missing) + len(known))
    # A fork would copy the core's threads in whatever state they are.
    with ProcessPoolExecutor(setting.workers, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(simulate_case, case): key for key, case in missing.items()}
        for done, future in enumerate(as_completed(futures), 1):
            key = futures[future]
            known[key] = future.result()
            if setting.folder is not None:
                with (setting.folder / KEPT).open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, *known[key]]) + "\n")
            setting.advance(len(known) - len(missing) + done, len(known))
    return [known[case.key] for case in cases]


def _kept(path: Path) -> dict[str, Measured]:
    """Simulations of earlier runs; a line that was cut off is none."""
    if not path.exists():
        return {}
    text = read_text("output", path, MAX_KEPT_BYTES)
    if text and not text.endswith("\n"):
        # What follows must start on a line of its own.
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")
    known = {}
    for line in text.splitlines():
        try:
            key, total_s, reconfigurations, planner, algorithm = json.loads(line)
            known[str(key)] = Measured(float(total_s), int(reconfigurations), str(planner), str(algorithm))
        except (TypeError, ValueError):
            continue
    return known

"""Plans on topologies that are given step by step, as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.formats.harvest import read as harvest
from lightloom.formats.harvest_schedule.read import FIELD, read_sequence
from lightloom.formats.source import Source
from lightloom.inputs.requests import build_request
from lightloom.plans import Plan

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from lightloom.inputs.fabric import Fabric

__all__ = ["completed", "plan_on_sequence"]

# Options that choose topologies, which a sequence states itself.
CONFLICTS = ("planner", "candidates", "topology", "budget", "invariant_under")


def completed(sequence: str | os.PathLike[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a plan, with the schedule and the size that the sequence's folder says, where they are open.

    Raises `InputError` for a setting that leaves nothing to a sequence, and those of the files.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    for name in CONFLICTS:
        if name in given and given[name] != "auto":
            raise refuse(name, "it cannot be combined with a sequence, which states the topology of every step")
    stated = read_sequence(sequence)
    beside = stated.path.with_name(harvest.FILE)
    if not ({"schedule", "algorithm", "matrix"} & given.keys()) and beside.is_file():
        source = Source("schedule", beside)
        given["schedule"] = schedule = harvest.read(source)
        given.setdefault("size", harvest.size_of(schedule, harvest.demands_of(source)))
    if not ({"schedule", "matrix"} & given.keys()):
        given.setdefault("collective", stated.collective)
    return given


def plan_on_sequence(
    sequence: str | os.PathLike[str],
    collective: str | None,
    size: str | float | None,
    fabric: Fabric | str | os.PathLike[str] | None,
    settings: Mapping[str, Any],
) -> Plan:
    """The plan of one algorithm or schedule on the topologies of a file.

    Arguments as of `lightloom.plan`. Raises `InputError` that names the argument, or `sequence` where the file is of
    another collective, of more GPUs, or has not a topology for each step.
    """
    given = completed(sequence, {"collective": collective, "size": size, **settings})
    given.pop("planner", None)
    stated = read_sequence(sequence)
    request = build_request(given.pop("collective", None), given.pop("size", None), fabric, **given)
    if request.collective != stated.collective:
        raise refuse(FIELD, f"`{stated.path}` is for {stated.collective}, not for {request.collective}")
    return Plan(_core.plan_on(request, stated.topologies(request.gpus)))

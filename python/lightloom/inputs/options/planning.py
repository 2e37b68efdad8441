"""Options of planning: the core's rows of the table, and the rows that only Python takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom import _core
from lightloom.inputs.options.option import Group, Kind, Option

if TYPE_CHECKING:
    from collections.abc import Iterable


def _options(rows: Iterable[dict[str, Any]]) -> tuple[Option, ...]:
    return tuple(_option(**row) for row in rows)


def _option(kind: str, group: str, default: str | None, range: tuple[int, int] | None, **said: Any) -> Option:  # noqa: A002
    """A row of the core; defaults of numbers and truths are text there."""
    said = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items() if key != "part"}
    if range is not None:
        said["least"], said["most"] = range
    read: str | int | bool | None = default
    if default is not None and kind in {"WHOLE", "YES_OR_NO"}:
        read = int(default) if kind == "WHOLE" else default == "true"
    return Option(kind=Kind[kind], group=Group(group), default=read, **said)


_ROWS = _core.planning_options()
# Arguments that `plan` and its like have by name.
ARGUMENTS = _options(row for row in _ROWS if row["part"] == "argument")
# Arguments of `lightloom.Fabric`, keys of fabric files.
FABRIC = _options(row for row in _ROWS if row["part"] == "fabric")
# Keyword arguments of everything that plans: `Settings`.
SETTINGS = _options(row for row in _ROWS if row["part"] == "setting")
# Keyword arguments that only `plan` takes, by its signature.
OF_PLAN = (
    *_options(row for row in _ROWS if row["part"] == "plan"),
    Option(
        name="invariant_under",
        kind=Kind.TEXT,
        group=Group.EXPERT,
        meaning="Planner exact: use only topologies that are invariant under u → u + N, or under u XOR N (xor:N), "
        "which gives the best of these with whole circuits at 16 GPUs and more.",
        verbs=("plan",),
        metavar="N",
        python="a whole number",
    ),
    Option(
        name="sequence",
        kind=Kind.FILE,
        group=Group.PLANNER,
        meaning="In place of a planner: HARVEST's schedule.json, which states the topology of every step; its stated "
        "time is shown for comparison. A collective.json in the same folder gives the schedule and the size.",
        verbs=("plan",),
        metavar="FILE|FOLDER",
    ),
    Option(
        name="warm_start",
        kind=Kind.FILE,
        group=Group.PLANNER,
        meaning="Unequal All-to-All: begin with the circuits and paths of this plan, which --output wrote for a "
        "similar matrix. Planning then takes a small part of the time.",
        verbs=("plan",),
        python="a Plan",
    ),
    Option(
        name="placement",
        kind=Kind.CHOICE,
        group=Group.PLANNER,
        meaning="With --positions, shortest: ranks are put on the GPUs between which light takes the least time that "
        "is found.",
        otherwise="rank 0 on GPU 0 and so on, or as ranks says",
        choices=("shortest",),
        verbs=("plan",),
    ),
)

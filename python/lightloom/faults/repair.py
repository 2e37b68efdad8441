"""Plans that are mended when more of their fabric is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.faults.kinds import given_faults, names_kinds
from lightloom.planning import plan_of
from lightloom.plans import Plan

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["Repair", "repair"]


class Repair(NamedTuple):
    """A plan in place of one whose fabric has more faults.

    plan: the repaired plan, which passed `verify`; before: the one that it replaces. circuits_kept, circuits_new:
    circuits of its topologies that the most alike topology before has, and has not. planned_anew: whether nothing could
    be mended, as where a GPU fails. anew: a plan made anew for the same faults, None where it was not asked for.
    """

    plan: Plan
    before: Plan
    circuits_kept: int
    circuits_new: int
    planned_anew: bool
    anew: Plan | None

    @property
    def over_before(self) -> float:
        """Completion time over that of the plan before."""
        return self.plan.total_s / self.before.total_s

    @property
    def over_anew(self) -> float | None:
        """Completion time over that of a plan made anew."""
        return None if self.anew is None else self.plan.total_s / self.anew.total_s

    def told(self) -> dict[str, Any]:
        """The comparison, as the key `repair` of the JSON of a plan has it."""
        return {
            "circuits_kept": self.circuits_kept,
            "circuits_new": self.circuits_new,
            "planned_anew": self.planned_anew,
            "before_s": self.before.total_s,
            "over_before": self.over_before,
            "anew_s": None if self.anew is None else self.anew.total_s,
            "over_anew": self.over_anew,
        }


def repair(before: Plan | str | os.PathLike[str], failed: str | Sequence[str], *, compare_anew: bool = True) -> Repair:
    """Mend a plan for a fabric on which more is broken, so that few of its circuits change.

    before: a plan, or its file; faults that it has already stay. failed: as of `lightloom.Fabric`,
        `"port:5.1,link:0-7"`. compare_anew: whether a plan is made anew too, for comparison.

    GPUs keep their roles, or few exchange them; circuits that cannot be are given up, and free ports are joined. Of the
    repairs that take at most a tenth longer than the fastest, the one with the fewest new circuits is taken. Where a
    GPU fails, the collective is among the others and is planned anew. The method is that of the page on faults.

    Raises `InputError` that names `failed` or `repair`.
    """
    given = plan_of("repair", before)
    if names_kinds(failed):
        raise refuse("failed", "a kind of faults does not go with a repair; it takes faults such as port:5.1")
    faults = given_faults(failed)
    if not faults:
        raise refuse("failed", "nothing failed; it takes faults such as port:5.1 or link:0-7")
    plan, kept, new, planned_anew, anew = _core.repair(given.core, list(faults), compare_anew)
    return Repair(Plan(plan), given, kept, new, planned_anew, None if anew is None else Plan(anew))

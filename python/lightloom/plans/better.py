"""Plans that are told while better ones are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown
from lightloom.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom import _core


class BetterPlan:
    """A plan that is faster than all that were found before it.

    elapsed_s: seconds since planning began. total_s: the plan's time but for rounding. lower_bound_s: a lower bound on
    the time of every plan for the request, as far as it is known by then.
    """

    __slots__ = ("_made", "elapsed_s", "lower_bound_s", "total_s")

    def __init__(self, elapsed_s: float, total_s: float, lower_bound_s: float, made: _core.Better | Plan) -> None:
        self.elapsed_s = elapsed_s
        self.total_s = total_s
        self.lower_bound_s = lower_bound_s
        self._made = made

    @property
    def over_bound(self) -> float:
        """The plan's time over the bound."""
        return self.total_s / self.lower_bound_s

    def plan(self) -> Plan:
        """The plan, which is made and verified when it is first asked for."""
        if not isinstance(self._made, Plan):
            self._made = Plan(self._made.plan())
        return self._made

    def __repr__(self) -> str:
        return f"BetterPlan(elapsed_s={self.elapsed_s!r}, total_s={self.total_s!r}, over_bound={self.over_bound:.4f})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BetterPlan):
            return NotImplemented
        ours, theirs = ((one.elapsed_s, one.total_s, one.lower_bound_s) for one in (self, other))
        return ours == theirs and self.plan() == other.plan()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[BetterPlan], tuple[float, float, float, Plan]]:
        return BetterPlan, (self.elapsed_s, self.total_s, self.lower_bound_s, self.plan())


class Progress:
    """Passes on plans that are faster than all before; knows the last one."""

    def __init__(self, told: Callable[[BetterPlan], None]) -> None:
        self._told = told
        self._last: BetterPlan | None = None

    @classmethod
    def of(cls, told: object) -> Progress:
        """A `Progress` that passes plans on to the function `told`. Raises `InputError` if it is not a function."""
        if not callable(told):
            raise refuse("progress", f"`{shown(told)}` is not accepted; it takes a function of a better plan")
        return cls(told)

    def of_core(self, better: _core.Better) -> None:
        """Report a better plan of the Rust core."""
        self.tell(BetterPlan(better.elapsed_s, better.total_s, better.lower_bound_s, better))

    def tell(self, better: BetterPlan) -> None:
        """Pass it on if it is faster than the last one by more than rounding."""
        if self._last is None or better.total_s < self._last.total_s * (1 - 1e-6):
            self._last = better
            self._told(better)

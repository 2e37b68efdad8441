"""Iteration times against the reconfiguration delay: from which delay on changing circuits no longer pays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightloom.base.errors import refuse
from lightloom.base.frames import Table
from lightloom.base.views import picture
from lightloom.inputs.quantities import seconds_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from lightloom.training.result import Training

__all__ = ["DELAYS_S", "BreakEven", "break_even", "delay_list"]

# From 1 µs to 10 ms.
DELAYS_S = (*(float(f"{digit}e{power}") for power in range(-6, -2) for digit in (1, 2, 5)), 1e-2)
MOST_DELAYS = 1000
# Iterations that are this close, relatively, take as long.
AS_LONG = 1e-3
OURS = "carry"


@dataclass(frozen=True)
class BreakEven(Table):
    """Iteration times by reconfiguration delay, s; immutable.

    name: of the workload, None if it has no name. ranks: of the workload. delays_s: rising. policies: by name the time
    at every delay, None where the policy does not serve the workload. lower_bounds_s: that no plan is below.
    """

    name: str | None
    ranks: int
    delays_s: tuple[float, ...]
    policies: dict[str, tuple[float | None, ...]]
    lower_bounds_s: tuple[float, ...]

    def over_ours(self, policy: str) -> list[float | None]:
        """By delay, the policy's time over that of `carry`; None where one of them has no time."""
        return [
            None if time_s is None or not own_s else time_s / own_s
            for time_s, own_s in zip(self.policies[policy], self.policies[OURS], strict=True)
        ]

    def as_long_from_s(self, policy: str) -> float | None:
        """The least delay from which on the policy takes as long as `carry`, within 0.1 %; None if there is none."""
        found = None
        for delay_s, over in zip(reversed(self.delays_s), reversed(self.over_ours(policy)), strict=True):
            if over is None or over > 1 + AS_LONG:
                break
            found = delay_s
        return found

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """A line a policy: iteration times, and these over that of `carry`; written to a PNG, PDF or SVG `path`.

        Raises `InputError` that names `break_even` when the file cannot be written.
        """
        return picture("BreakEven.plot", self, path)

    def to_columns(self) -> dict[str, list[Any]]:
        """Values by column, one a delay."""
        return {
            "reconfiguration_delay_s": list(self.delays_s),
            **{f"{name}_s": list(times) for name, times in self.policies.items()},
            "lower_bound_s": list(self.lower_bounds_s),
        }


def break_even(
    train: Callable[[float], Training],
    delays_s: Sequence[float] = DELAYS_S,
    report: Callable[[int], object] | None = None,
) -> BreakEven:
    """Plan the same iteration at several reconfiguration delays.

    train: plans it at a delay, s. delays_s: rising. report: is told 1 after each of them.

    Raises what `train` raises.
    """
    planned = []
    for delay_s in delays_s:
        planned.append(train(delay_s))
        if report is not None:
            report(1)
    times = [training.policies for training in planned]
    return BreakEven(
        planned[0].name,
        planned[0].ranks,
        tuple(delays_s),
        {name: tuple(policies.get(name) for policies in times) for name in times[0]},
        tuple(training.lower_bound_s for training in planned),
    )


def delay_list(text: str) -> tuple[float, ...]:
    """Delays of `1us,10us,1ms`, rising, each once. Raises `InputError` that names `delays`."""
    delays_s = sorted({seconds_of("delays", part.strip()) for part in text.split(",")})
    if not 2 <= len(delays_s) <= MOST_DELAYS or not all(0 < delay_s < math.inf for delay_s in delays_s):
        raise refuse(
            "delays", f"`{text[:60]}` is not accepted; it takes 2 to {MOST_DELAYS} times above 0, such as 1us,10us,1ms"
        )
    return tuple(delays_s)

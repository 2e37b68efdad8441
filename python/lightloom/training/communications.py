"""The distinct communications of an iteration: thousands of events are few kinds."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightloom.plans import Plan
    from lightloom.training.result import Event, Training

__all__ = ["Communication", "changes_within", "communications"]


@dataclass(frozen=True, kw_only=True)
class Communication:
    """Events that are alike: of one collective, size and plan on as many ports.

    collective: its name, `send` for messages. labels: the axes or groups, in the order of use. group_size: ranks of one
    group. size_bytes: of the collective, or of each message. count: events. ports: that each holds. plan: theirs, None
    for messages, of which `direct` says whether they go over circuits of their own. each_s: the time of one; total_s:
    of all.
    """

    collective: str
    labels: tuple[str, ...]
    group_size: int
    size_bytes: int
    count: int
    ports: int
    plan: Plan | None
    direct: bool
    each_s: float
    total_s: float

    @property
    def topologies(self) -> tuple[str, ...]:
        """Names of the plan's topologies, in the order of its steps."""
        return () if self.plan is None else tuple(dict.fromkeys(step.topology_name for step in self.plan.steps))


def communications(training: Training) -> list[Communication]:
    """Every kind of communication once, those that take most time in all first."""
    found: dict[tuple[int, int, object], list[Event]] = {}
    for event, size, ranks in zip(training.events, training.sizes_bytes, training.group_sizes, strict=True):
        if size is not None and ranks is not None:
            # Times of equal events differ by rounding.
            looks = (event.plan, event.direct, len(event.ports), f"{event.end_s - event.start_s:.5g}")
            found.setdefault((size, ranks, looks), []).append(event)
    made = [_communication(training, events, ranks, size) for (size, ranks, _), events in found.items()]
    return sorted(made, key=lambda one: -one.total_s)


def changes_within(training: Training) -> int:
    """The number of changes of circuits within communications: before steps of their plans but the first."""
    by_plan = [sum(step.reconfigured and step.index > 0 for step in plan.steps) for plan in training.plans]
    return sum(by_plan[event.plan] for event in training.events if event.plan is not None)


def _communication(training: Training, events: list[Event], group_size: int, size_bytes: int) -> Communication:
    plan = None if events[0].plan is None else training.plans[events[0].plan]
    total_s = fsum(event.end_s - event.start_s for event in events)
    return Communication(
        collective="send" if plan is None else plan.collective,
        labels=tuple(dict.fromkeys(event.label for event in events)),
        group_size=group_size,
        size_bytes=size_bytes,
        count=len(events),
        ports=len(events[0].ports),
        plan=plan,
        direct=events[0].direct,
        each_s=total_s / len(events),
        total_s=total_s,
    )

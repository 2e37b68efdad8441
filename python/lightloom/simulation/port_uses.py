"""The circuits that every event of an iteration needs on the ports of its ranks, and those that it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightloom.simulation.message_paths import paths_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom import _core
    from lightloom.training.result import Event, Training

__all__ = ["RESTING", "UNKNOWN", "Use", "port_uses"]

# Marks of a port that went back to the resting topology, and of a port whose circuits are unknown.
RESTING, UNKNOWN = -1, -2


class Use(NamedTuple):
    """Changes of an event at ports of ranks, an entry for each: rank times the fabric's ports, plus the port.

    needs: numbers of the circuits that it begins with; two are the same where ranks, links and ports all are.
    leaves: of those that it ends with, `RESTING` where it goes back. needs_resting: whether the circuits that it needs
    are those where its group rests. rests: numbers of the circuits that it goes back to, where that is said.
    changes_back: whether circuits change after it.
    """

    slots: NDArray[np.intp]
    needs: NDArray[np.int64]
    leaves: NDArray[np.int64]
    needs_resting: bool
    rests: NDArray[np.int64] | None
    changes_back: bool


def port_uses(training: Training) -> list[Use | None]:
    """By event its changes at ports; None for computation. Raises `InputError` for messages that have no path."""
    made = _Uses(training)
    return [made.of(index, event) for index, event in enumerate(training.events)]


class _Uses:
    """Uses of events; equal ones share one object, so that thousands of events need little memory."""

    def __init__(self, training: Training) -> None:
        self._training = training
        self._ports = training.fabric.ports
        self._numbers: dict[object, int] = {}
        self._known: dict[object, Use] = {}
        # By plan the places of its first, last and resting topology among all topologies.
        self._plans = [
            (
                [self._topology(step.topology) for step in plan.steps],
                None if plan.initial == "free" else self._topology(_initial(plan.topologies, plan.initial)),
            )
            for plan in training.plans
        ]

    def of(self, index: int, event: Event) -> Use | None:
        """The port changes of an event; None if it has none."""
        if event.kind == "compute":
            return None
        node = self._training.nodes[index]
        of_whom = {key: value for key, value in node.items() if key not in {"id", "after", "stream", "size_bytes"}}
        over = self._training.message_topologies[index] if event.kind == "send" else None
        key = (repr(of_whom), event.plan, event.ports, event.returns, event.direct, id(over))
        if key not in self._known:
            self._known[key] = (
                self._collective(index, event) if event.kind == "collective" else self._send(index, event)
            )
        return self._known[key]

    def _collective(self, index: int, event: Event) -> Use:
        assert event.plan is not None  # noqa: S101 (a collective has a plan)
        topologies, resting = self._plans[event.plan]
        groups = self._training.members.groups_of(self._training.nodes[index])
        changes_back = event.returns and resting != topologies[-1]

        def circuits(topology: int) -> list[int]:
            numbers = [self._number("group", group, topology, event.ports) for group in groups]
            return [number for number, group in zip(numbers, groups, strict=True) for _ in group]

        return self._use(
            [rank for group in groups for rank in group],
            event,
            needs=circuits(topologies[0]),
            leaves=circuits(topologies[-1]),
            needs_resting=resting == topologies[0],
            rests=None if resting is None or not event.returns else circuits(resting),
            changes_back=changes_back,
        )

    def _send(self, index: int, event: Event) -> Use:
        training = self._training
        pairs = training.members.pairs_of(training.nodes[index])
        over = training.message_topologies[index]
        ranks = paths_of(training, index, event).holders
        if over is None:
            to, back = dict(pairs), {destination: source for source, destination in pairs}
            needs = [self._number("message", to.get(rank), back.get(rank), event.ports) for rank in ranks]
        else:
            topology = self._topology(over.topology)
            group_of = {rank: group for group in training.members.groups_along(over.axis) for rank in group}
            needs = [self._number("group", group_of[rank], topology, event.ports) for rank in ranks]
        rests = over is not None and over.rests
        changes_back = event.returns and not rests
        return self._use(
            ranks,
            event,
            needs=needs,
            leaves=needs,
            needs_resting=rests,
            rests=None,
            changes_back=changes_back,
        )

    def _use(
        self,
        ranks: Sequence[int],
        event: Event,
        *,
        needs: list[int],
        leaves: list[int],
        needs_resting: bool,
        rests: list[int] | None,
        changes_back: bool,
    ) -> Use:
        def spread(numbers: list[int]) -> NDArray[np.int64]:
            return np.repeat(np.array(numbers, dtype=np.int64), len(event.ports))

        return Use(
            self._slots(ranks, event.ports),
            spread(needs),
            spread([RESTING] * len(leaves) if event.returns else leaves),
            needs_resting,
            None if rests is None else spread(rests),
            changes_back,
        )

    def _slots(self, ranks: Sequence[int], ports: tuple[int, ...]) -> NDArray[np.intp]:
        return (np.array(ranks, dtype=np.intp)[:, None] * self._ports + np.array(ports, dtype=np.intp)).ravel()

    def _topology(self, topology: _core.Topology) -> int:
        return self._number("links", topology.gpus, topology.links.tobytes())

    def _number(self, *what: object) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _initial(topologies: Sequence[_core.Topology], name: str) -> _core.Topology:
    return next(topology for topology in topologies if topology.name == name)

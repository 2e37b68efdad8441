"""The gate of a job: its ranks wait there for the circuits of each step, and say when they are done with them.

Switches hold a plan's configurations one after another: the circuits of a step come when all ranks are done with the
steps before, and the ranks are let through when every switch has acknowledged them.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lightloom.base.errors import FailedError, refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from lightloom import _core
    from lightloom.optics.port_maps import Circuits
    from lightloom.switches.sending import Applied, Switches

__all__ = ["LostRankError", "configurations_by_step", "serve_gate"]


class LostRankError(FailedError):
    """A rank that ended, or closed the gate, before it was done with a step whose circuits had to go."""


def configurations_by_step(circuits: Circuits) -> list[int]:
    """The configuration that each step of a plan has, by step.

    Raises `InputError` that names `gate` for the circuits of a timeline or a training iteration, which have no steps.
    """
    by_step = {step: held.index for held in circuits.configurations for step in held.steps}
    if not by_step or sorted(by_step) != list(range(len(by_step))):
        raise refuse(
            "gate",
            "the circuits are those of a timeline or a training iteration; a gate holds back the steps of a plan",
        )
    return [by_step[step] for step in range(len(by_step))]


def serve_gate(
    switches: Switches,
    gate: _core.Gate,
    configurations: list[int],
    *,
    runs: int | None = None,
    told: Callable[[Applied], object] = lambda _applied: None,
) -> int:
    """Serve a gate until the runs of the plan are over or all ranks have closed it, and close it.

    Returns the steps that all ranks have done.

    configurations: of `configurations_by_step`; the gate is for as many steps. told: called with every configuration
    that was set. Raises `LostRankError` and the errors of `Switches.apply`; the ranks are told first, and end their
    waiting with a status that says so.
    """
    steps = len(configurations)
    with closing(gate):
        held: int | None = None
        begun = 0
        while runs is None or begun < runs * steps:
            wanted = configurations[begun % steps]
            if wanted != held:
                try:
                    told(switches.apply(wanted))
                except BaseException:
                    gate.fail()
                    raise
                held = wanted
            # All steps until the circuits change, or the run is over.
            begun += 1
            while begun % steps and configurations[begun % steps] == held:
                begun += 1
            gate.publish(begun)
            if not _all_done(gate, begun):
                break
        return gate.done


def _all_done(gate: _core.Gate, steps: int) -> bool:
    """Wait until all ranks are done with so many steps; whether they are, and have not closed the gate instead."""
    while True:
        progress, rank = gate.wait_done(steps)
        if progress == "lost":
            gate.fail(rank)
            what = f"the ranks had not all done step {steps - 1} of the gate"
            raise LostRankError(f"rank {rank} ended or closed the gate while others waited for circuits: {what}")
        if progress != "waiting":
            return progress == "done"

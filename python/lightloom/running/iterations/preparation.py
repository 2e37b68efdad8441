"""Iterations made ready to be run: the request that the controller process takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.running.iterations.acts import Course, course_of
from lightloom.running.iterations.pace import iteration_pace, scale_for
from lightloom.running.iterations.program import IterationProgram, iteration_program, programs_of
from lightloom.running.paces import ALIKE
from lightloom.running.preparation import (
    DEADLINE_FACTOR,
    DEADLINE_FLOOR_S,
    LONGEST_S,
    NANOSECONDS,
    PROBE_S,
    RunOptions,
    lists,
    program_columns,
)
from lightloom.training.members import COMPUTE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.running.pace import Pace
    from lightloom.running.program import Program
    from lightloom.training.result import Training

__all__ = ["MOST_RANKS", "PreparedIteration", "prepared_iteration"]

MOST_RANKS = 256
# Acts of all iterations together; the memory that processes share has some words for each, rank by rank.
MOST_ACTS = 50_000


@dataclass(frozen=True)
class PreparedIteration:
    """Iterations made ready. programs: by event that communicates, of one of its groups or messages."""

    course: Course
    programs: dict[int, Program]
    program: IterationProgram
    pace: Pace
    scale: int
    columns: dict[str, Any]
    steps: dict[str, NDArray[np.int64]]
    changes: dict[str, NDArray[np.int64]]
    settings: dict[str, Any]

    def request(self, offsets: NDArray[np.int64]) -> bytes:
        """The request to the controller process. offsets: of the ranks' workspaces in their memory."""
        columns = {**self.columns, "workspace_offset": offsets}
        return _core.run_request(columns, self.steps, self.changes, self.settings)


def prepared_iteration(
    training: Training, options: RunOptions, *, iterations: int, scale: int | None
) -> PreparedIteration:
    """The processes and programs of this many iterations, ready to run.

    Raises `InputError` that names `plan` where the iteration has more ranks than are run or communicates nothing,
    `iterations` where they have too many acts, `scale`, and `dilation` where a run would not end in days.
    """
    if training.ranks > MOST_RANKS:
        raise refuse("plan", f"an iteration on {training.ranks} ranks is not run; it takes at most {MOST_RANKS} ranks")
    acts = sum(1 if event.plan is None else len(training.plans[event.plan].steps) for event in training.events)
    if acts * iterations > MOST_ACTS:
        reason = f"{iterations} iterations of {acts} computations, steps of collectives and sends are not run"
        raise refuse("iterations", f"{reason}; it takes at most {MOST_ACTS:,} together")
    element_bytes = options.kind.size_bytes
    chosen = scale_for(training, iterations, element_bytes) if scale is None else scale
    course = course_of(training, iterations)
    programs = programs_of(training, element_bytes, chosen)
    program = iteration_program(course, programs)
    pace = iteration_pace(course, program, chosen, dilation=options.dilation, packet_bytes=options.packet_bytes)
    dilation = pace.dilation
    if training.total_s * iterations * dilation > LONGEST_S:
        field = "plan" if options.dilation is None else "dilation"
        took = f"{training.total_s * iterations * dilation:.4g} s, slowed down {dilation:g} times"
        raise refuse(field, f"a run would take {took}; it may take at most {LONGEST_S:g} s")

    def dilated_ns(seconds: Any) -> NDArray[np.int64]:
        return np.rint(np.asarray(seconds, dtype=np.float64) * dilation * NANOSECONDS).astype(np.int64)

    fabric = training.fabric
    steps, parties, port_sets = _steps(course, dilated_ns)
    configurations = np.array([change.configuration for change in course.changes], dtype=np.int64)
    changes = {
        "from": configurations - 1,
        "configuration": configurations,
        "dark_ns": np.full(len(configurations), dilated_ns(fabric.reconfiguration.scalar_s or 0.0)),
        **lists("after", [sorted(row) for row in course.change_after]),
        **lists("after_changes", [sorted(row) for row in course.after_changes]),
        **lists("follows", [sorted(row) for row in course.follows]),
    }
    settings = {
        "ports": fabric.ports,
        "parties": parties,
        "port_sets": port_sets,
        "configurations": course.ends.reshape(-1),
        "initial": 0,
        "dtype": options.kind.name,
        "reduction": options.reduction,
        "ns_per_byte": 8 * chosen / fabric.bandwidth_bps * dilation * NANOSECONDS,
        "hop_ns": int(dilated_ns(fabric.hop_delay_s)),
        **ALIKE,
        "pair_hop_ns": [],
        "packet_bytes": pace.packet_bytes,
        "runs": 1,
        "warm_ups": 0,
        "asks_priority": options.real_time,
        "probe_ns": int(min(PROBE_S, training.total_s * dilation * iterations) * NANOSECONDS),
        "has_outside_switch": False,
        "namespaces": None,
        "deadline_factor": DEADLINE_FACTOR,
        "deadline_floor_ns": int(DEADLINE_FLOOR_S * NANOSECONDS),
    }
    columns = program_columns(program, training.ranks)
    return PreparedIteration(course, programs, program, pace, chosen, columns, steps, changes, settings)


def _steps(course: Course, dilated_ns: Any) -> tuple[dict[str, NDArray[np.int64]], list[list[int]], list[list[int]]]:
    """The columns of steps, an act each, with the ranks and the ports that they are of."""
    training = course.training
    parties: dict[tuple[int, ...], int] = {}
    port_sets: dict[tuple[int, ...], int] = {}
    of_events = [
        (
            parties.setdefault(course.ranks_of(index), len(parties)),
            port_sets.setdefault(event.ports, len(port_sets)),
            event.kind == COMPUTE,
        )
        for index, event in enumerate(training.events)
    ]
    startup_s = training.fabric.startup_s
    rows = [
        (*of_events[act.event][:2], *_times_s(act.last_s - act.first_s, of_events[act.event][2], startup_s))
        for act in course.acts
    ]
    party, port_set, windows_s, startups_s, predicted_s = zip(*rows, strict=True)
    steps = {
        "party": np.array(party, dtype=np.int64),
        "port_set": np.array(port_set, dtype=np.int64),
        "configuration": np.array(course.configuration, dtype=np.int64),
        **lists("after", [sorted(row) for row in course.after]),
        **lists("needs", [sorted(row) for row in course.needs]),
        "window_ns": dilated_ns(windows_s),
        "startup_ns": dilated_ns(startups_s),
        "predicted_ns": dilated_ns(predicted_s),
    }
    return steps, list(map(list, parties)), list(map(list, port_sets))


def _times_s(length_s: float, computes: bool, startup_s: float) -> tuple[float, float, float]:
    """Computation before an act, its startup, and what is predicted of it."""
    return (length_s, 0.0, 0.0) if computes else (0.0, min(startup_s, length_s), length_s)

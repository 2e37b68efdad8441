"""Iterations made ready to be run: the request that the controller process takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lightloom.base.errors import refuse
from lightloom.base.port_rates import one_rate
from lightloom.running.iterations.acts import Course, course_of
from lightloom.running.iterations.pace import iteration_pace, scale_for
from lightloom.running.iterations.program import IterationProgram, iteration_program, programs_of
from lightloom.running.preparation import Request, check_length, lists, program_columns, request_settings
from lightloom.training.members import COMPUTE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.running.pace import Pace
    from lightloom.running.program import Program
    from lightloom.running.run_options import RunOptions
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
    request: Request


def prepared_iteration(
    training: Training, options: RunOptions, *, iterations: int, scale: int | None
) -> PreparedIteration:
    """The processes and programs of this many iterations, ready to run.

    Raises `InputError` that names `plan` where the iteration has more ranks than are run, ports of different rates or
    no communication, `iterations` where they have too many acts, `scale`, and `dilation` where a run would not end in
    days.
    """
    if training.ranks > MOST_RANKS:
        raise refuse("plan", f"an iteration on {training.ranks} ranks is not run; it takes at most {MOST_RANKS} ranks")
    one_rate("plan", training.fabric.rates_bps, training.fabric.pair_rates)
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
    total_s, fabric = training.total_s * iterations, training.fabric
    check_length(total_s, pace, options)
    steps, parties, port_sets = _steps(course, pace)
    configurations = np.array([change.configuration for change in course.changes], dtype=np.int64)
    changes = {
        "from": configurations - 1,
        "configuration": configurations,
        "dark_ns": np.full(len(configurations), pace.nanoseconds(fabric.reconfiguration.scalar_s or 0.0)),
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
        **request_settings(
            options, pace, total_s=total_s, byte_s=8 * chosen / fabric.bandwidth_bps, hop_s=fabric.hop_delay_s
        ),
    }
    request = Request(program_columns(program, training.ranks), steps, changes, settings)
    return PreparedIteration(course, programs, program, pace, chosen, request)


def _steps(course: Course, pace: Pace) -> tuple[dict[str, NDArray[np.int64]], list[list[int]], list[list[int]]]:
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
        "window_ns": pace.nanoseconds(windows_s),
        "startup_ns": pace.nanoseconds(startups_s),
        "predicted_ns": pace.nanoseconds(predicted_s),
    }
    return steps, list(map(list, parties)), list(map(list, port_sets))


def _times_s(length_s: float, computes: bool, startup_s: float) -> tuple[float, float, float]:
    """Computation before an act, its startup, and what is predicted of it."""
    return (length_s, 0.0, 0.0) if computes else (0.0, min(startup_s, length_s), length_s)

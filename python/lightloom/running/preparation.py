"""A plan made ready to be run: its program, its circuits, and the request that the controller process takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lightloom import _core
from lightloom.base.errors import refuse
from lightloom.base.port_rates import one_rate
from lightloom.optics.port_maps import circuits
from lightloom.plans import Plan
from lightloom.running.crossbars import ends_of
from lightloom.running.pace import NANOSECONDS, Pace, pace_of
from lightloom.running.paces import ALIKE, fastest_bps, slowness_of
from lightloom.running.program import program_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightloom.optics.port_maps import Circuits
    from lightloom.running.program import Messages, Program
    from lightloom.running.run_options import RunOptions

__all__ = ["Prepared", "Request", "check_length", "lists", "prepared", "program_columns", "request_settings"]

# A wait ends as a fault after this multiple of the predicted time, dilated, and these seconds more.
DEADLINE_FACTOR = 10.0
DEADLINE_FLOOR_S = 5.0
# Time for which the machine is watched before the runs, but no longer than they take.
PROBE_S = 0.2
# Nobody waits longer for a run; nanoseconds of its deadlines fit into 64 bits.
LONGEST_S = 1e6


class Request(NamedTuple):
    """The fields of `runtime::Request`, but for the places of workspaces."""

    columns: dict[str, Any]
    steps: dict[str, NDArray[np.int64]]
    changes: dict[str, NDArray[np.int64]]
    settings: dict[str, Any]

    def encoded(
        self, offsets: NDArray[np.int64], *, namespaces: tuple[str, list[str], int, int] | None = None
    ) -> bytes:
        """The request to the controller process.

        offsets: of the ranks' workspaces in their memory. namespaces: `KernelNetwork.described`, where the kernel
        carries packets.
        """
        columns = {**self.columns, "workspace_offset": offsets}
        return _core.run_request(columns, self.steps, self.changes, {**self.settings, "namespaces": namespaces})


@dataclass(frozen=True)
class Prepared:
    """A plan made ready. changed: the steps before which circuits change."""

    plan: Plan
    program: Program
    circuits: Circuits
    windows_s: tuple[float, ...]
    pace: Pace
    changed: NDArray[np.int64]
    request: Request

    @property
    def rate_bps(self) -> float:
        """Bytes that a circuit takes in a second, dilated."""
        return fastest_bps(self.plan) / 8 / self.pace.dilation


def prepared(plan: Plan, options: RunOptions) -> Prepared:
    """The plan made ready.

    Raises `InputError` that names `plan` where it does not verify or changes circuits in the background, and `dilation`
    where a run would not end in days; `plan`, too, where circuits have different rates and the kernel carries packets.
    """
    if options.transport != "shared-memory":
        one_rate("plan", plan.rates_bps, plan.pair_rates)
    program = program_of(plan, options.kind.size_bytes)
    dark_s, windows_s = _core.change_times(plan.core)
    # The switch process joins any ports, also where the plan's optical layer could not.
    # A process for every rank stands for its GPU, whichever of a larger fabric that is.
    on_ports = circuits(Plan(plan.core.by_rank()) if plan.ranks else plan, "crossbar")
    pace = pace_of(plan, program, options.transport, dilation=options.dilation, packet_bytes=options.packet_bytes)
    check_length(plan.total_s, pace, options)
    configuration = np.zeros(len(plan.steps), dtype=np.int64)
    for held in on_ports.configurations:
        configuration[list(held.steps)] = held.index
    count = len(plan.steps)
    changed = [step.index for step in plan.steps if step.reconfigured]
    # Every step waits for the one before, and so does the change of circuits before it.
    before = [[step - 1] if step else [] for step in range(count)]
    change_of = {step: change for change, step in enumerate(changed)}
    alike = np.zeros(count, dtype=np.int64)
    steps = {
        "party": alike,
        "port_set": alike,
        "configuration": configuration,
        **lists("after", before),
        **lists("needs", [[change_of[step]] if step in change_of else [] for step in range(count)]),
        "window_ns": pace.nanoseconds(windows_s),
        "startup_ns": np.full(count, pace.nanoseconds(plan.barrier_s + plan.startup_s)),
        "predicted_ns": pace.nanoseconds([step.total_s for step in plan.steps]),
    }
    changes = {
        "from": np.array([configuration[step - 1] if step else 0 for step in changed], dtype=np.int64),
        "configuration": configuration[changed],
        "dark_ns": pace.nanoseconds(dark_s)[changed],
        **lists("after", [before[step] for step in changed]),
        **lists("after_changes", [[] for _ in changed]),
        **lists("follows", [[] for _ in changed]),
    }
    settings = {
        "ports": plan.ports,
        "parties": [list(range(plan.gpus))],
        "port_sets": [list(range(plan.ports))],
        "configurations": ends_of(on_ports, plan.gpus * plan.ports).reshape(-1),
        "initial": 0,
        **request_settings(
            options, pace, total_s=plan.total_s, byte_s=8 / fastest_bps(plan), hop_s=plan.longest_hop_delay_s
        ),
        **slowness_of(plan),
        "pair_hop_ns": pace.nanoseconds([delay_s for _, delay_s in plan.core.rates_by_pair]).tolist(),
    }
    request = Request(program_columns(program, program.ranks), steps, changes, settings)
    return Prepared(plan, program, on_ports, tuple(windows_s), pace, np.array(changed, dtype=np.int64), request)


def check_length(total_s: float, pace: Pace, options: RunOptions) -> None:
    """Raise `InputError` that names `plan` or `dilation` where a run of this time by the plan would not end in days."""
    if total_s * pace.dilation > LONGEST_S:
        field = "plan" if options.dilation is None else "dilation"
        took = f"{total_s * pace.dilation:.4g} s, slowed down {pace.dilation:g} times"
        raise refuse(field, f"a run would take {took}; it may take at most {LONGEST_S:g} s")


def request_settings(options: RunOptions, pace: Pace, *, total_s: float, byte_s: float, hop_s: float) -> dict[str, Any]:
    """The settings of a request that do not depend on its steps.

    total_s: of a run by the plan. byte_s: of a byte on a circuit. hop_s: of a hop.
    """
    return {
        "dtype": options.kind.name,
        "reduction": options.reduction,
        "ns_per_byte": byte_s * pace.dilation * NANOSECONDS,
        "hop_ns": int(pace.nanoseconds(hop_s)),
        **ALIKE,
        "packet_bytes": pace.packet_bytes,
        "runs": options.runs,
        "warm_ups": options.warm_ups,
        "asks_priority": options.real_time,
        "probe_ns": int(min(PROBE_S, total_s * pace.dilation * options.runs) * NANOSECONDS),
        "has_outside_switch": options.has_outside_switch,
        "deadline_factor": DEADLINE_FACTOR,
        "deadline_floor_ns": int(DEADLINE_FLOOR_S * NANOSECONDS),
    }


def program_columns(program: Messages, ranks: int) -> dict[str, Any]:
    """The messages of a program as a request has them."""
    return {
        "ranks": ranks,
        "is_reduction": program.is_reduction.astype(np.int64),
        **{
            name: np.ascontiguousarray(getattr(program, name), dtype=np.int64)
            for name in (
                "workspace_bytes",
                "step",
                "gpu_offsets",
                "gpus",
                "segment_offsets",
                "source_offset",
                "destination_offset",
                "size_bytes",
            )
        },
    }


def lists(name: str, rows: Sequence[Sequence[int]]) -> dict[str, NDArray[np.int64]]:
    """Lists of whole numbers as a request has them: their numbers in a row, and where each begins."""
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    numbers = np.fromiter((number for row in rows for number in row), dtype=np.int64, count=int(offsets[-1]))
    return {name: numbers, f"{name}_offsets": offsets}

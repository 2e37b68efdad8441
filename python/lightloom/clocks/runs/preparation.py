"""A timeline made ready to be run: the request that the controller process takes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lightloom import _core
from lightloom.base.errors import InputError, refuse
from lightloom.clocks.runs.contents import contents_of
from lightloom.clocks.runs.waiting import data_waits_of
from lightloom.clocks.waiting import waits_of
from lightloom.running.pace import pace_of_spans
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightloom.clocks.parts import Parts
    from lightloom.clocks.timeline import Timeline
    from lightloom.plans import Plan
    from lightloom.running.pace import Pace
    from lightloom.running.program import Program

__all__ = ["MOST_RANKS", "MOST_USES", "PreparedTimeline", "prepared_timeline"]

MOST_RANKS = 256
# Transmissions times ports of all ranks times runs: as many uses of circuits are counted.
MOST_USES = 1 << 24
# A transmission that takes longer than a circuit needs for its bytes by more than this part shares the circuit.
SHARED = 1e-6
# Moments of a timeline that differ by less than this part of its time are the same.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PreparedTimeline:
    """A timeline made ready.

    used: by transmission, the circuits that it takes: switch, configuration, and two GPUs each. made_by: by switch and
    configuration, the change that makes it; what is there at first has none.
    """

    timeline: Timeline
    program: Program
    pace: Pace
    used: tuple[tuple[tuple[int, int, int, int], ...], ...]
    made_by: dict[tuple[int, int], int]
    columns: dict[str, Any]
    steps: dict[str, NDArray[np.int64]]
    changes: dict[str, NDArray[np.int64]]
    settings: dict[str, Any]

    def request(self, offsets: NDArray[np.int64]) -> bytes:
        """The request to the controller process, offsets: of the ranks' workspaces in their memory.

        Raises `InputError` that names `plan` where transmissions would wait for each other in a circle.
        """
        columns = {**self.columns, "workspace_offset": offsets}
        try:
            return _core.run_request(columns, self.steps, self.changes, self.settings)
        except InputError as error:
            if "circle" not in str(error):
                raise
            reason = "data are overwritten before they are read, or wait for each other in a circle"
            raise refuse("plan", f"the timeline is not run: its {reason}") from error


class _Configurations:
    """Circuits of a request, each set of them once; -1 where a port is dark."""

    def __init__(self, gpus: int, ports: int) -> None:
        self.ports, self.rows = ports, [np.full(gpus * ports, -1, dtype=np.int64)]
        self.known: dict[tuple[tuple[int, int, int], ...], int] = {(): 0}

    def index(self, circuits: tuple[tuple[int, int, int], ...]) -> int:
        """The place of circuits by switch and two GPUs."""
        if circuits not in self.known:
            self.known[circuits] = len(self.rows)
            row = np.full(len(self.rows[0]), -1, dtype=np.int64)
            for k, u, v in circuits:
                row[u * self.ports + k] = v * self.ports + k
            self.rows.append(row)
        return self.known[circuits]


def prepared_timeline(timeline: Timeline, options: RunOptions) -> PreparedTimeline:
    """The timeline made ready.

    Raises `InputError` that names `plan` where it has more ranks or transmissions than are run or sends nothing, and
    `dilation` where a run would not end in days.
    """
    parts, plan = timeline.parts, timeline.plan
    _check_size(parts, plan, options)
    contents = contents_of(parts, plan, options.kind.size_bytes)
    program = contents.program
    if not len(program.step):
        raise refuse("plan", "the timeline sends no data; it takes one that sends some")
    pace = _pace(parts, plan, program, options)
    dilation = pace.dilation
    if parts.total_s * dilation > LONGEST_S:
        field = "plan" if options.dilation is None else "dilation"
        took = f"{parts.total_s * dilation:.4g} s, slowed down {dilation:g} times"
        raise refuse(field, f"a run would take {took}; it may take at most {LONGEST_S:g} s")

    def dilated_ns(seconds: Any) -> NDArray[np.int64]:
        return np.rint(np.asarray(seconds, dtype=np.float64) * dilation * NANOSECONDS).astype(np.int64)

    waits = waits_of(parts, plan)
    data = data_waits_of(contents)
    known = _Configurations(plan.gpus, plan.ports)
    held = [
        [known.index(tuple((k, u, v) for u, v in sorted(one.circuits))) for one in switch]
        for k, switch in enumerate(parts.switches)
    ]
    first = known.index(
        tuple(
            (k, u, v)
            for k, switch in enumerate(parts.switches)
            if switch and switch[0].ready_s <= 0.0
            for u, v in sorted(switch[0].circuits)
        )
    )
    changes, made_by = _changes(parts, held, waits.circuits, dilated_ns)
    parties: dict[tuple[int, ...], int] = {}
    port_sets: dict[tuple[int, ...], int] = {}
    sent = parts.transmissions
    byte_s = 8.0 / plan.bandwidth_bps
    of_ranks = [tuple(sorted({one.path[0][1], *(v for _, _, v in one.path)})) for one in sent]
    of_ports = [tuple(sorted({k for k, _, _ in one.path})) for one in sent]
    steps = {
        "party": np.array([parties.setdefault(one, len(parties)) for one in of_ranks], dtype=np.int64),
        "port_set": np.array([port_sets.setdefault(one, len(port_sets)) for one in of_ports], dtype=np.int64),
        "configuration": np.array([known.index(one.path) for one in sent], dtype=np.int64),
        **lists("after", [sorted(row) for row in data.after]),
        **lists(
            "needs", [sorted({made_by[k, i] for k, i, _, _ in row if (k, i) in made_by}) for row in waits.circuits]
        ),
        **lists("keeps_after", [sorted(row) for row in data.keeps_after]),
        "window_ns": np.zeros(len(sent), dtype=np.int64),
        "startup_ns": np.full(len(sent), dilated_ns(plan.startup_s)),
        "earliest_ns": dilated_ns([max(one.start_s - plan.startup_s, 0.0) for one in sent]),
        "spread_ns": dilated_ns(
            [one.duration_s if one.duration_s > one.size_bytes * byte_s * (1.0 + SHARED) else 0.0 for one in sent]
        ),
        "predicted_ns": dilated_ns(
            [plan.startup_s + one.duration_s + len(one.path) * plan.hop_delay_s for one in sent]
        ),
    }
    settings = {
        "ports": plan.ports,
        "parties": list(map(list, parties)),
        "port_sets": list(map(list, port_sets)),
        "configurations": np.concatenate(known.rows),
        "initial": first,
        "dtype": options.kind.name,
        "reduction": options.reduction,
        "ns_per_byte": byte_s * dilation * NANOSECONDS,
        "hop_ns": int(dilated_ns(plan.hop_delay_s)),
        **ALIKE,
        "pair_hop_ns": [],
        "packet_bytes": pace.packet_bytes,
        "runs": options.runs,
        "warm_ups": options.warm_ups,
        "asks_priority": options.real_time,
        "probe_ns": int(min(PROBE_S, parts.total_s * dilation * options.runs) * NANOSECONDS),
        "has_outside_switch": False,
        "namespaces": None,
        "deadline_factor": DEADLINE_FACTOR,
        "deadline_floor_ns": int(DEADLINE_FLOOR_S * NANOSECONDS),
    }
    return PreparedTimeline(
        timeline, program, pace, waits.circuits, made_by, program_columns(program, plan.gpus), steps, changes, settings
    )


def _check_size(parts: Parts, plan: Plan, options: RunOptions) -> None:
    if plan.gpus > MOST_RANKS:
        raise refuse("plan", f"a timeline on {plan.gpus} ranks is not run; it takes at most {MOST_RANKS} ranks")
    if plan.ranks:
        raise refuse("plan", "its ranks are some GPUs of a larger fabric; it takes a timeline of all GPUs")
    most = MOST_USES // (plan.gpus * plan.ports * options.runs)
    if len(parts.transmissions) > most:
        reason = f"at most {most:,} are run with {options.runs} runs on {plan.gpus * plan.ports} ports"
        raise refuse("plan", f"it has {len(parts.transmissions):,} transmissions; {reason}")


def _pace(parts: Parts, plan: Plan, program: Program, options: RunOptions) -> Pace:
    spans_s = [
        (one.start_s, one.start_s + max(one.duration_s, ROUNDING * parts.total_s)) for one in parts.transmissions
    ]
    # What begins at one moment is let go at one.
    moments = 1 + np.count_nonzero(np.diff(np.sort([begin_s for begin_s, _ in spans_s])) > ROUNDING * parts.total_s)
    return pace_of_spans(
        program,
        spans_s,
        ranks=plan.gpus,
        ports=plan.ports,
        rate_bps=plan.bandwidth_bps / 8,
        mean_s=parts.total_s / moments,
        dilation=options.dilation,
        packet_bytes=options.packet_bytes,
    )


def _changes(
    parts: Parts,
    held: list[list[int]],
    used: tuple[tuple[tuple[int, int, int, int], ...], ...],
    dilated_ns: Any,
) -> tuple[dict[str, NDArray[np.int64]], dict[tuple[int, int], int]]:
    """The turns of all switches, each once all transmissions over the circuits before have ended.

    held: by switch and configuration, its place in the request. A switch that is dark at first turns at once.
    """
    users: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for index, path in enumerate(used):
        for k, i, _, _ in path:
            users[k, i].add(index)
    turn_s = float(parts.plan["fabric"]["reconfiguration_delay_s"])
    made_by: dict[tuple[int, int], int] = {}
    rows: list[tuple[int, int, float, list[int], list[int]]] = []
    for k, switch in enumerate(parts.switches):
        for i, one in enumerate(switch):
            if not i and one.ready_s <= 0.0:
                continue
            before = [made_by[k, i - 1]] if (k, i - 1) in made_by else []
            of_before = held[k][i - 1] if i else 0
            made_by[k, i] = len(rows)
            # The first turn of a dark switch may have begun before the time does.
            dark_s = turn_s if i else min(turn_s, one.ready_s)
            rows.append((of_before, held[k][i], dark_s, sorted(users[k, i - 1]), before))
    befores, makes, dark, after, after_changes = zip(*rows, strict=True) if rows else ((),) * 5
    changes = {
        "from": np.array(befores, dtype=np.int64),
        "configuration": np.array(makes, dtype=np.int64),
        "dark_ns": dilated_ns(dark),
        **lists("after", after),
        **lists("after_changes", after_changes),
        **lists("follows", [[] for _ in rows]),
    }
    return changes, made_by

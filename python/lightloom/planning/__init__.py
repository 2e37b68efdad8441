"""Plan, compare, verify and profile: the functions of the package."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Unpack, runtime_checkable

from lightloom import _core
from lightloom.base.errors import refuse, shown, text_of
from lightloom.base.files import read_text
from lightloom.base.whole_numbers import whole_number
from lightloom.inputs.fabric import Fabric
from lightloom.inputs.graphs import resolve
from lightloom.inputs.requests import build_request
from lightloom.plans import MAX_FILE_BYTES, Plan
from lightloom.plans.better import BetterPlan, Progress
from lightloom.plans.comparison import Comparison, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lightloom.exact import ExactSettings, Report
    from lightloom.inputs.options import Settings
    from lightloom.inputs.options.settings import TopologyLike
    from lightloom.optics.port_maps import Circuits
    from lightloom.training.result import Training


TRAFFIC = "a square matrix of weights, or triples of source, destination and weight"


class Check(NamedTuple):
    """One check of a plan or schedule: its name, whether it passed, and its subject or the fault."""

    name: str
    passed: bool
    detail: str


@runtime_checkable
class Judged(Protocol):
    """What has checks of its own, such as a Timeline."""

    def verify(self) -> list[Check]:
        """The checks."""


class FrontPoint(NamedTuple):
    """The least load when no path is longer than `hops`, and a certified lower bound on it."""

    hops: int
    load: float
    lower_bound: float


def plan(
    collective: str | None = None,
    size: str | float | None = None,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    budget: str | float | None = None,
    invariant_under: str | int | None = None,
    sequence: str | os.PathLike[str] | None = None,
    warm_start: Plan | str | os.PathLike[str] | None = None,
    placement: str | None = None,
    report: Report | None = None,
    progress: Callable[[BetterPlan], None] | None = None,
    **settings: Unpack[Settings],
) -> Plan:
    """Plan a collective: its algorithm, the topology of every step, and when to reconfigure.

    collective: `"all-reduce"`, `"reduce-scatter"`, `"all-gather"`, `"all-to-all"`, `"broadcast"`, `"reduce"`,
        `"gather"` or `"scatter"`; a schedule or matrix says it too.
    size: one rank's whole buffer, `"64MiB"` or bytes; `"32MiB/pair"` for All-to-All.
    fabric: a Fabric, the name of a preset or a TOML file; the preset `default` when left out.
    budget: wall-clock time, `"10s"` or seconds, of planner `weave`'s searches, and of planner `exact`. An unequal
        All-to-All among 48 GPUs or more is looked for until then, less long than without it or longer. What is found
        depends on the machine's speed.
    invariant_under, report: of planner `exact`; see `lightloom.exact_plan`.
    sequence: HARVEST's `schedule.json`, or the folder that has it, whose topologies are taken as they are. With
        `collective.json` next to it, that is the schedule and says the size, where no other is given.
    warm_start: of an unequal All-to-All, a plan or its file, for as many GPUs and ports, with whose circuits and
        paths the search begins in place of some that are made for the matrix. It needs a small part of the time.
    placement: `"shortest"` for ranks on GPUs whose fibres are short; where the fabric has positions.
    progress: is called with every plan that is faster than those before it, the last one included.
    settings: see `lightloom.inputs.options.Settings` and docs/reference/options.md.

    The plan that is returned passed `verify`. Raises `InputError` that names the argument.
    """
    began_s = time.monotonic()
    if placement is not None and sequence is not None:
        raise refuse("placement", "it cannot be combined with a sequence, which states the GPUs of every circuit")
    told = None if progress is None else Progress.of(progress)
    if sequence is not None:
        from lightloom.planning.sequences import plan_on_sequence

        given: dict[str, Any] = {**settings, "budget": budget, "invariant_under": invariant_under}
        if warm_start is not None:
            raise refuse("warm_start", "it cannot be combined with a sequence, which states every topology")
        return _told_at_last(plan_on_sequence(sequence, collective, size, fabric, given), began_s, told)
    own = _solver_settings(settings, budget, invariant_under, report)
    if own is not None:
        from lightloom.exact import exact_plan

        if placement is not None:
            raise refuse("placement", "planner exact does not take it: it proves optima where fibres take no time")
        if warm_start is not None:
            raise refuse("warm_start", "planner exact does not take it; it is for planner auto or weave")
        own_progress = None if told is None else told.tell
        found = exact_plan(collective, size, fabric=fabric, **own, progress=own_progress, **settings)
        return _told_at_last(found, began_s, told)
    request = build_request(collective, size, fabric, **settings, budget=budget)
    start = None if warm_start is None else plan_of("warm_start", warm_start).core
    found = Plan(_core.plan(request, start, None if told is None else told.of_core))
    if placement is None:
        return found
    from lightloom.planning.placement import placed

    def on(order: list[int]) -> Plan:
        moved: Settings = {**settings, "ranks": order}
        return Plan(_core.plan(build_request(collective, size, fabric, **moved, budget=budget), start, None))

    return placed(placement, found, on)


def _told_at_last(plan: Plan, began_s: float, told: Progress | None) -> Plan:
    """The plan, which is also reported to `told` if it is better than the last plan reported."""
    if told is not None:
        told.tell(BetterPlan(time.monotonic() - began_s, plan.total_s, plan.lower_bound_s, plan))
    return plan


def plan_of(field: str, plan: Plan | str | os.PathLike[str]) -> Plan:
    """A plan, or that of a file. Raises `InputError` that names the field."""
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, (str, os.PathLike)):
        return Plan.from_json(read_text(field, plan, MAX_FILE_BYTES))
    raise refuse(field, f"`{shown(plan)}` is not accepted; it takes a Plan, or the file of one")


def baselines(
    collective: str | None = None,
    size: str | float | None = None,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    beside: Plan | None = None,
    **settings: Unpack[Settings],
) -> list[Row]:
    """Every planner at its best algorithm, fastest first: of each planner the first row of `compare`.

    A planner that is known to be slower than the best, and whose exact time takes long to find, is a row without a
    time, whose reason states its least time.

    beside: the plan of `plan` for the same arguments; a planner that keeps the best of all is not run again then.

    Arguments and errors otherwise as for `plan`. A planner that is named counts for the convention that it brings, and
    leaves the others in.
    """
    known = None if beside is None else beside.core
    return [Row.of(told) for told in _core.baselines(build_request(collective, size, fabric, **settings), known)]


def _solver_settings(
    settings: Settings, budget: str | float | None, invariant_under: str | int | None, report: Report | None
) -> ExactSettings | None:
    """Settings that only a planner with a solver takes; None for other planners."""
    given = settings.get("planner")
    planner = "auto" if given is None else text_of("planner", given)
    named = _core.capabilities(planner)
    if named is not None and named["calls_solver"]:
        own: ExactSettings = {"invariant_under": invariant_under}
        if budget is not None:
            own["budget"] = budget
        if report is not None:
            own["report"] = report
        return own
    options: list[tuple[str, object, Literal["takes_budget", "calls_solver"]]] = [
        ("budget", budget, "takes_budget"),
        ("invariant_under", invariant_under, "calls_solver"),
    ]
    for field, value, capability in options:
        if value is not None and not (named is not None and named[capability]):
            names = [entry["name"] for entry in _core.registry()["planners"]]
            able = " or ".join(name for name in names if (can := _core.capabilities(name)) and can[capability])
            raise refuse(field, f"it is for planner {able}, not {planner}")
    return None


def compare(
    collective: str | None = None,
    size: str | float | None = None,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    report: Callable[[Row], None] | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """Plan the same problem by every planner and baseline; arguments and errors as for `plan`.

    report: is called with every row as soon as it is found, in any order and from several threads.
    """
    seen = None if report is None else lambda told: report(Row.of(told))
    if not isinstance(fabric, Fabric):
        fabric = Fabric.load("default" if fabric is None else fabric)
    if fabric.electrical is not None:
        what = "planners are compared on circuits alone; `plan` uses both tiers"
        raise refuse("electrical", f"`{shown(fabric.electrical)}` is not accepted: {what}")
    request = build_request(collective, size, fabric, **settings)
    rows, lower_bound_s, bound_class = _core.compare(request, seen)
    problem = request.collective, request.size_bytes, request.gpus
    return Comparison(*problem, tuple(map(Row.of, rows)), lower_bound_s, bound_class, request.traffic_bytes)


def verify(
    subject: Plan | _core.Schedule | Circuits | Training | Judged,
    *,
    plan: Plan | Training | None = None,
    optics: str | None = None,
) -> list[Check]:
    """Execute a plan or schedule symbolically, and check a plan's ports, paths and costs from its own data only.

    A training iteration is recomputed, and every port of every rank is followed through it. Iterations that
    `Training.from_json` gives have passed; `Training.unjudged` reads others. A Timeline has its own checks.

    Circuits are judged against their plan, which must pass its own judge: their changes are followed from dark switches
    on, and the result must be the plan's topologies, in time. Those of a training iteration are followed over two
    iterations, and every step of every event must have its circuits. In a mesh of MZIs light is followed through the
    states, and ways and losses are recomputed; of files that do not say how the mesh is built, states are counted.

    plan: of Circuits, a Plan or a Training, where they were read from a file. optics: of Circuits, the kind with its
    parameters, such as `"islands:4x2"`; without it the one that the plan is for, else the number of switches says
    whether there is one for all ports or one for each. The settings of a mesh must be those of the circuits.

    Raises `InputError` that names the argument.
    """
    from lightloom.optics.port_maps import Circuits
    from lightloom.training.result import Training

    if isinstance(subject, Circuits):
        of = plan if plan is not None else subject.plan or subject.training
        known = None if subject.labels is None else subject.labels.optics
        if isinstance(of, Training):
            training, layer = _core.TrainingPlan.from_json(of.to_json()), of.fabric.optical_layer
            kind = optics if optics is not None else layer if known is None else known
            return [Check(*check) for check in _core.verify_iteration_circuits(subject.core, training, kind)]
        if not isinstance(of, Plan):
            raise refuse("plan", "missing; circuits are checked against their plan or training iteration")
        kind = optics if optics is not None else of.optics if known is None else known
        return [Check(*check) for check in _core.verify_circuits(subject.core, of.core, kind)]
    if plan is not None or optics is not None:
        raise refuse("plan" if plan is not None else "optics", "it is used only with circuits")
    if isinstance(subject, Judged) and not isinstance(subject, type):
        return subject.verify()
    if isinstance(subject, Training):
        core = _core.TrainingPlan.from_json(subject.to_json())
        return [Check(*check) for check in _core.verify_training(core)]
    if not isinstance(subject, (Plan, _core.Schedule)):
        raise refuse(
            "subject",
            f"`{shown(subject)}` is not accepted; it takes a Plan, a Schedule, Circuits, Training or Timeline",
        )
    checks = _core.verify_schedule(subject) if isinstance(subject, _core.Schedule) else _core.verify_plan(subject.core)
    return [Check(*check) for check in checks]


def profile(
    topology: TopologyLike,
    traffic: Sequence[tuple[int, int, float]] | NDArray[Any],
    *,
    routing: str = "concurrent-flow",
    fabric: Fabric | None = None,
) -> list[FrontPoint]:
    """The Pareto front of (hops, load) of a traffic pattern on a topology; empty when a pair is not connected.

    topology: a graph, a file, a Topology, or a name, which `fabric` must give its GPUs, grid and ports.
    traffic: (source, destination, weight) triples, or a matrix of weights `[src][dst]` (its diagonal sends nothing).
    routing: `"concurrent-flow"`, `"equal-split"` or `"single-path"`.

    load is in units of one transfer of weight 1 on a link of one circuit. Raises `InputError`.
    """
    import numpy as np

    try:
        triples = _triples(traffic) if isinstance(traffic, np.ndarray) else [(s, d, float(w)) for s, d, w in traffic]
    except (TypeError, ValueError, OverflowError) as error:
        raise refuse("traffic", f"`{shown(traffic)}` is not accepted; it takes {TRAFFIC}") from error
    ranks = [(whole_number("traffic", src, 0), whole_number("traffic", dst, 0), weight) for src, dst, weight in triples]
    if not (fabric is None or isinstance(fabric, Fabric)):
        raise refuse("fabric", f"`{shown(fabric)}` is not accepted; it takes a Fabric")
    sized = None if fabric is None else fabric.sized()
    resolved = resolve("topology", topology, None if sized is None else sized.gpus)
    if isinstance(resolved, str):
        if sized is None or sized.gpus is None:
            raise refuse("fabric", f"it must be given for the topology `{resolved}`, which is a name")
        resolved = _core.Topology.named(resolved, sized.gpus, sized.dimensions, sized.ports)
    return [FrontPoint(*point) for point in _core.profile(resolved, ranks, routing)]


def _triples(weights: NDArray[Any]) -> list[tuple[int, int, float]]:
    import numpy as np

    if weights.ndim != 2 or weights.shape[0] != weights.shape[1] or weights.dtype.kind not in "biuf":
        raise refuse("traffic", f"it is of shape {weights.shape} and type {weights.dtype}; it takes {TRAFFIC}")
    pairs = np.argwhere((weights != 0) & ~np.eye(len(weights), dtype=bool))
    return [(int(src), int(dst), float(weights[src, dst])) for src, dst in pairs]

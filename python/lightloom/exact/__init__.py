"""Provably optimal topologies for a few GPUs of several ports: the planner `exact` where the core's does not reach.

With one port and up to nine GPUs the core tries every topology. Here every interval of steps is a mixed-integer program
(HARVEST, appendix A), and the cut into intervals is proved by the bounds of those on it. The topologies that come out
are planned, priced and verified by the core like any other.

First the plan is the best on many topologies that are known, and programs of averages over the group that keeps the
steps say how far it may be from the optimum. Where that is not enough, programs of whole circuits follow if they are
not too large.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypedDict, Unpack

from lightloom import _core
from lightloom.base.errors import InputError, refuse, shown
from lightloom.exact.cayley import START, cayley_topologies
from lightloom.exact.demands import Demand, PricedTopology
from lightloom.exact.groups import FIELD, RankGroup, keeping_group, rank_group
from lightloom.exact.intervals import Costs, Intervals
from lightloom.exact.program import Scope
from lightloom.inputs.quantities import seconds_of
from lightloom.inputs.requests import build_request
from lightloom.plans import Plan
from lightloom.plans.better import BetterPlan, Progress

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import TypeAlias

    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.options import Settings

    Report: TypeAlias = Callable[[str], None]

NAME = "exact"
BUDGET = "60s"
# Part of the budget for averages where whole circuits come after them.
AVERAGES_SHARE = 0.25
# Larger programs over whole circuits are not worth starting.
MOST_FLOWS = 200_000
# The largest problems whose bound the programs over averages raise within minutes.
MOST_GPUS = 64
MOST_STEPS = 128


class ExactSettings(TypedDict, total=False):
    """Arguments of `exact_plan` in addition to those of `lightloom.plan`."""

    budget: str | float
    invariant_under: str | int | None
    report: Report


def exact_plan(
    collective: str | None = None,
    size: str | float | None = None,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    budget: str | float = BUDGET,
    invariant_under: str | int | None = None,
    report: Report = lambda _text: None,
    progress: Callable[[BetterPlan], None] | None = None,
    **settings: Unpack[Settings],
) -> Plan:
    """The plan of one algorithm with the best topologies there are, and a proof of how good they are.

    budget: wall-clock limit of the proof, a time such as `"60s"` or seconds. The best that was found by then is
        returned, with the proved bound as `lower_bound_s`.
    invariant_under: only topologies that are invariant under translations by this period (an int or `"4"`), or under
        XOR with multiples of it (`"xor:4"`). The steps must be, too. Makes 16 GPUs tractable.
    report: told what is being proved. progress: is called with every plan that is faster than those before it, and the
        bound that is proved by then.
    The other arguments are those of `lightloom.plan`. One port and at most nine GPUs are left to the core, which tries
    every topology. Raises `InputError` that names the argument.

    A program has O(patterns · n³ / |group|) columns, n times as many where hops cost time. There is no useful bound on
    how long it takes: `benches/exact_optima.py` measures.
    """
    planner = settings.setdefault("planner", NAME)
    if not isinstance(planner, str) or planner != NAME:
        raise refuse("planner", f"`{shown(planner)}` is not accepted; it takes {NAME}")
    started = time.monotonic()
    told = None if progress is None else Progress.of(progress)
    seconds = seconds_of("budget", budget)
    request = build_request(collective, size, fabric, **settings)
    _check_settings(seconds, settings)
    if invariant_under is None and request.ports == 1:
        return Plan(_core.plan(request, None, None if told is None else told.of_core))
    problem = _core.Problem(request)
    group = rank_group(invariant_under, problem.gpus)
    steps = _steps(problem, group)
    costs = Costs(
        problem.constant_change_s,
        None if problem.initial is None else PricedTopology(problem.initial),
        repeated=problem.repeated,
    )
    whole = Scope(problem.gpus, problem.ports, group)
    fits = _flows(steps, problem, group) <= MOST_FLOWS
    if invariant_under is None:
        _check_size(problem)
        averaged = Scope(problem.gpus, problem.ports, keeping_group(problem.gpus, [step.arcs for step in steps]))
        settings["planner"] = START
        weave = build_request(collective, size, fabric, **settings)
        known = _known(request, problem, [*_of_planner(weave), *cayley_topologies(steps, averaged)])
        intervals = Intervals(steps, averaged, costs, known, averaged=True)
    elif fits:
        known = [PricedTopology(topology) for topology in problem.candidates if _is_invariant(topology, group)]
        intervals = Intervals(steps, whole, costs, known)
    else:
        raise _too_many_flows(steps, problem, group)
    held = f" invariant under {group.name}" if group.name else ""

    def so_far() -> Plan | None:
        """The plan of the cheapest cut that is attained, if any is."""
        lower_s, upper_s = intervals.cut(lower=True).total_s, intervals.cut(lower=False).total_s
        if upper_s == float("inf"):
            return None
        status = (
            "the optimum, proved"
            if intervals.are_closed
            else f"proved in {seconds:g} s; the plan may not be the optimum"
        )
        bound_class = (
            f"{problem.algorithm} in its {len(steps)} steps unchanged, every topology of degree at most "
            f"{problem.ports}{held} in each, any reconfigurations ({status})"
        )
        chosen = [priced.topology for priced in intervals.topologies()]
        if not chosen and problem.initial is not None:
            chosen = [problem.initial]
        return Plan(_core.proved_plan(request, chosen, len(steps) * problem.startup_s + lower_s, bound_class))

    def tell() -> None:
        plan = None if told is None else so_far()
        if told is not None and plan is not None:
            told.tell(BetterPlan(time.monotonic() - started, plan.total_s, plan.lower_bound_s, plan))

    intervals.prove(started + seconds * (AVERAGES_SHARE if fits and invariant_under is None else 1), report, tell)
    if fits and invariant_under is None and not intervals.are_closed:
        known = [*known, *(PricedTopology(topology) for topology in problem.candidates)]
        intervals = Intervals(steps, whole, costs, known, bounds=intervals)
        intervals.prove(started + seconds, report, tell)
    plan = so_far()
    if plan is None:
        raise refuse("budget", "no plan was found within this time; it takes a longer time")
    return plan


def _check_settings(seconds: float, settings: Settings) -> None:
    if not seconds > 0:
        raise refuse("budget", f"{seconds:g} s is not accepted; it takes a time above 0, such as {BUDGET}")
    for field in ("candidates", "topology"):
        if settings.get(field) is not None:
            raise refuse(field, f"{NAME} refuses this problem: it chooses the topologies itself")
    if settings.get("overlap") not in {None, "additive"}:
        raise refuse("overlap", f"{NAME} refuses this problem: it supports only overlap additive")


def _steps(problem: _core.Problem, group: RankGroup) -> list[Demand]:
    """The demand of every step. Raises `InputError` if the program does not support the request."""
    if problem.routing != "concurrent-flow":
        raise refuse("routing", f"{NAME} refuses this problem: with several ports it supports only concurrent-flow")
    steps: list[Demand] = []
    for index, load_s in enumerate(problem.load_s):
        arcs = tuple(problem.arcs(index))
        if not group.keeps(arcs):
            raise refuse(
                FIELD,
                f"step {index + 1} of {problem.algorithm} changes under {group.name}; it takes a group under which "
                "no step does",
            )
        steps.append(Demand(arcs, problem.hop_s, load_s))
    return steps


def _flows(steps: list[Demand], problem: _core.Problem, group: RankGroup) -> int:
    """Flows of the mixed-integer program over all steps."""
    distinct = len({(step.arcs, step.load_s) if step.hop_s > 0 else step.arcs for step in steps})
    layers = problem.gpus if problem.hop_s > 0 else 1
    return distinct * len(group.representatives) * problem.gpus**2 * layers


def _too_many_flows(steps: list[Demand], problem: _core.Problem, group: RankGroup) -> InputError:
    return refuse(
        FIELD,
        f"{group.name} is not accepted; planner {NAME} solves a mixed-integer program of at most {MOST_FLOWS} flows, "
        f"and this one has {_flows(steps, problem, group)}: it takes a smaller number, fewer GPUs or steps, or no hop "
        "delay",
    )


def _check_size(problem: _core.Problem) -> None:
    for field, value, most in (("gpus", problem.gpus, MOST_GPUS), ("algorithm", problem.steps, MOST_STEPS)):
        if value > most:
            what = "GPUs" if field == "gpus" else f"steps of {problem.algorithm}"
            raise refuse(
                field, f"{value} {what} are not accepted; planner {NAME} with several ports takes at most {most}"
            )


def _of_planner(request: _core.Request) -> list[_core.Topology]:
    """The topologies of another planner's plan; none where it refuses the request."""
    try:
        return list(_core.plan(request).topologies)
    except InputError:
        return []


def _known(request: _core.Request, problem: _core.Problem, others: list[_core.Topology]) -> list[PricedTopology]:
    """The topologies of the best plan on the candidates and others."""
    best = _core.proved_plan(request, [*problem.candidates, *others], 0.0, "")
    return [PricedTopology(topology) for topology in best.topologies]


def _is_invariant(topology: _core.Topology, group: RankGroup) -> bool:
    return group.keeps([(int(src), int(dst), float(count)) for src, dst, count in topology.links])

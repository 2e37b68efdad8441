"""Plans for switches on clocks of their own: no barrier where data ask for none, each switch turns when it is idle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Unpack

from lightloom._core import show_time
from lightloom.base.errors import refuse, shown
from lightloom.clocks.bound import BOUND_CLASS, lower_bound_s, pairs_of
from lightloom.clocks.forwarding import forwarded
from lightloom.clocks.lists import best_lists
from lightloom.clocks.moves import moved
from lightloom.clocks.parts import Parts
from lightloom.clocks.rates import Rates, rates_of
from lightloom.clocks.relaxation import relaxed
from lightloom.clocks.start import OnSwitches
from lightloom.clocks.straight import straight
from lightloom.clocks.timeline import Timeline
from lightloom.planning import plan

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from lightloom.inputs.fabric import Fabric
    from lightloom.inputs.options import Settings
    from lightloom.plans import Electrical, Plan

__all__ = ["timeline"]

# GPUs up to which matchings are listed for the pairs of an All-to-All, and flows of all steps that are followed.
MOST_LISTED, MOST_FLOWS = 64, 400_000


def timeline(
    collective: str | None = None,
    size: str | float | None = None,
    *,
    fabric: Fabric | str | os.PathLike[str] | None = None,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[Settings],
) -> Timeline:
    """Plan a collective for switches of which each turns on a clock of its own, as `plan --overlap asynchronous`.

    The result is never slower than the plan of `lightloom.plan` for the same arguments: that plan without its barriers,
    or, for an All-to-All of up to 64 GPUs, matchings listed switch by switch, or journeys of bytes through what the
    switches hold, where pairs times circuits are at most a million. Arguments and errors as for `lightloom.plan`; the
    fabric has one delay for all changes, no barriers and no faults, and port k of each GPU is on switch k. report: is
    told what is tried.
    """
    if settings.get("overlap") not in {None, "asynchronous"}:
        raise refuse("overlap", f"`{shown(settings['overlap'])}` is not accepted; a timeline is `asynchronous`")
    settings.pop("overlap", None)
    say = report or _unheard
    say("a plan with barriers")
    return timeline_of(plan(collective, size, fabric=fabric, **settings), say)


def _unheard(_words: str) -> None:
    """Nobody is told."""


def timeline_of(made: Plan, say: Callable[[str], None] = _unheard) -> Timeline:
    """The fastest timeline of a plan's collective that is known; never slower than the plan.

    say: is told what is tried. Raises `InputError` that names what the plan or its fabric has and such switches do not.
    """
    document = json.loads(made.to_json())
    _check(made, document)
    rates = rates_of(made, document)
    if sum(len(made.routes(step)) for step in range(len(made.steps))) > MOST_FLOWS:
        raise refuse("overlap", f"the plan has more than {MOST_FLOWS:,} flows; asynchronous is for smaller problems")
    on = OnSwitches.of_plan(made)
    sent = pairs_of(made)
    bound_s = lower_bound_s(made, sent, rates)
    say(f"the plan of {show_time(made.total_s)} without its barriers")
    made_by = [("relaxed", relaxed(made, on, rates))]
    if sent is not None and made.gpus <= MOST_LISTED and sent.any():
        say("matchings listed switch by switch")
        before = None if on.before is None else tuple((matching,) for matching in on.before)
        lists = best_lists(sent, made.ports, rates, before)
        if lists is not None:
            made_by.append(("listed", straight(*lists, sent, rates, first_is_given=before is not None)))
        say("journeys of bytes through what the switches hold")
        hops = max(step.hops for step in made.steps)
        found = moved(on.held, sent, rates, hops, first_is_used=0 in on.of_step, kept=0 if on.before is None else 1)
        if found is not None:
            made_by.append(("journeys", forwarded(found.slots, found.journeys, rates, on.before)))
    parts = [_parts(planner, rates, bound_s, *timeline, document) for planner, timeline in made_by]
    best = min(parts, key=lambda one: one.total_s)
    return Timeline(best)


def _parts(
    planner: str, rates: Rates, bound_s: float, switches: Any, transmissions: Any, document: dict[str, Any]
) -> Parts:
    arrivals_s = (one.start_s + one.duration_s + len(one.path) * rates.hop_s for one in transmissions)
    total_s = max(arrivals_s, default=0.0)
    return Parts(planner, total_s, min(bound_s, total_s), BOUND_CLASS, switches, transmissions, document)


def _spelled(electrical: Electrical | None) -> str:
    """Electrical switches as `--electrical` takes them."""
    if electrical is None:
        return ""
    return f"{electrical.gpus}:{electrical.bandwidth_bps / 1e9:g}Gbps:{electrical.hop_delay_s * 1e9:g}ns"


def _check(made: Plan, document: dict[str, Any]) -> None:
    """Raise `InputError` that names what the plan has and switches on clocks of their own do not."""
    told = document["fabric"]
    delay, windows = made.reconfiguration_delay, told.get("window_s") or told.get("windows_s")
    accepted: list[tuple[str, bool, object, str]] = [
        ("barrier", made.barrier_s > 0.0, made.barrier_s, "0s"),
        ("failed", bool(made.failed), ",".join(made.failed), "a fabric where everything works"),
        ("electrical", made.electrical is not None, _spelled(made.electrical), "a fabric without electrical switches"),
        ("reconfiguration_delay", delay.scalar_s is None, delay, "one time such as 10us"),
        ("background_reconfiguration", bool(told.get("background_reconfiguration")), "true", "false"),
        ("window", bool(windows), windows, "0s"),
        ("positions", told.get("positions") is not None, "a list of places", "fibres that take no time"),
        ("bandwidth", isinstance(told["bandwidth_bps"], list), "a rate for each port", "one rate for all circuits"),
        ("pair_rates", told.get("pair_rates") is not None, "rates by pair of GPUs", "one rate for all circuits"),
        ("ranks", made.ranks is not None, made.ranks, "all GPUs"),
        ("initial", made.initial == "repeated", made.initial, "free or a topology"),
        ("optics", made.optics not in {None, "parallel"}, made.optics, "parallel"),
        ("convention", document["propagation"] != "hops", document["propagation"], "one that counts hops"),
    ]
    for name, is_other, value, what in accepted:
        if is_other:
            raise refuse(name, f"`{shown(value)}` is not accepted with overlap asynchronous; it takes {what}")

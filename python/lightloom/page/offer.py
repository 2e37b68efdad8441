"""The options that a request may give: those that name no file and no address, and write nothing."""

from __future__ import annotations

from dataclasses import replace

from lightloom.inputs.options import Group, Kind, Option, by_name, options_of

__all__ = ["offered"]

# Kinds of options that only a file or an address can give.
NAMING = {Kind.FILE, Kind.PICTURE, Kind.FOLDER}
# Options of output whose content is in the answer.
TOLD = {"baselines", "links", "explain", "to"}
# Options of traces, which are files, and of many problems at once, for which there is the map.
ELSEWHERE = {"comm_size", "compute_time", "element_bytes", "profile_step", "time_unit", "benchmark"}
ELSEWHERE |= {"sizes", "delays", "tolerance"}
# Options of many runs, which the command line samples.
ELSEWHERE |= {"uncertain", "samples"}
# The objective of planners; that of plans for many iterations is part of the problem.
CHOSEN_BY_MANY = ("objective", Group.PLANNER)
# Groups of options that requests cannot give: commands to switches, and searches that plan many iterations.
LONG = {Group.SWITCHES, Group.LAYOUT}
# Done by default only on the command line: a plan together with every other planner's takes many times as long.
ASKED_FOR = "baselines"


def offered(verb: str) -> dict[str, Option]:
    """The options of a verb that a request may give, by name."""
    return by_name(_by_default(option) for option in options_of(verb) if _is_offered(option))


def _by_default(option: Option) -> Option:
    """The option as requests leave it out: work that takes time is done only on request."""
    return replace(option, default=False) if option.name == ASKED_FOR else option


def _is_offered(option: Option) -> bool:
    is_written = option.group is Group.OUTPUT and option.name not in TOLD
    is_elsewhere = option.name in ELSEWHERE or option.group in LONG or option.kind in NAMING
    return not is_written and not is_elsewhere and (option.name, option.group) != CHOSEN_BY_MANY

"""The number of ranks that a trace stands for, and the ranks of its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightloom.base.errors import refuse, shown
from lightloom.formats.chakra.joint_graph import ALL, group_of, is_collective
from lightloom.formats.workload_options import LEAST_RANKS, MOST_RANKS, missing

if TYPE_CHECKING:
    from lightloom.formats.chakra.trace import Trace
    from lightloom.formats.workload_options import Asked

__all__ = ["groups_of_ranks", "number_of_ranks"]


def number_of_ranks(trace: Trace, asked: Asked) -> int:
    """The number of ranks: one for every file, or all that behave like the single file.

    Raises `InputError` that names `ranks` where the option contradicts the files.
    """
    files = len(trace.ranks)
    if asked.ranks is None or asked.ranks == files:
        return files
    if files > 1:
        raise refuse(
            "ranks", f"{asked.ranks} differs from the number of ranks in `{trace.name}`, {files}; leave the option out"
        )
    if len(_named(trace)) > 1:
        raise refuse("ranks", f"`{trace.name}` is of one rank and has several groups; it takes the traces of all ranks")
    return asked.ranks


def _named(trace: Trace) -> set[str]:
    """The groups that the trace's collectives name."""
    return {group_of(node) for nodes in trace.ranks for node in nodes if is_collective(node)} - {ALL}


def groups_of_ranks(field: str, trace: Trace, ranks: int, asked: Asked) -> dict[str, tuple[int, ...]]:
    """Ranks by the name of the group that collectives have; collectives without a name have all ranks.

    Raises `InputError` that names the option that is missing, or `field` for groups that contradict each other.
    """
    everyone = tuple(range(ranks))
    if len(trace.ranks) == 1:
        if asked.ranks is None and not trace.groups and any(map(is_collective, trace.ranks[0])):
            why = f"`{trace.name}` is the trace of one rank and has collectives"
            raise missing("ranks", why, f"the number of ranks that run this trace, {LEAST_RANKS} to {MOST_RANKS}")
        if ranks > 1:
            return dict.fromkeys({ALL, *_named(trace)}, everyone)
    unknown = sorted(_named(trace) - trace.groups.keys())
    if unknown:
        why = f"collectives of `{trace.name}` name the group {shown(unknown[0])}, whose ranks the trace does not list"
        raise missing("comm_groups", why, 'a JSON file such as {"5": [0, 2]}')
    if ALL in trace.groups and trace.groups[ALL] != everyone:
        raise refuse(field, f"`{trace.name}` has a group `{ALL}` that is not all ranks; it takes another name")
    for name, members in trace.groups.items():
        if len(set(members)) < len(members):
            raise refuse("comm_groups", f"group {shown(name)} has a rank twice")
    return {**trace.groups, ALL: everyone}

"""The table that the verb `train` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lightloom._core import counted, show_size, show_time
from lightloom.training.communications import changes_within, communications
from lightloom.training.timeline import shares_ports
from lightloom.views.policy_titles import IDEAL, OURS, title_of
from lightloom.views.ratios import factor, gap_words
from lightloom.views.tables.inference import inference_words, requests_parts
from lightloom.views.tables.page import bar, heading, render, table
from lightloom.views.tables.problem import fabric_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from lightloom.training.communications import Communication
    from lightloom.training.result import Training

# Kinds of communication that are shown; the others take least.
MOST_KINDS = 24
# Names of axes, groups and topologies in a cell.
MOST_NAMES = 2


def training_table(training: Training, *, all_communications: bool = False) -> str:
    """The time of an iteration and its parts, every policy compared with the chosen one, and the communication.

    all_communications: however many kinds there are.
    """
    return render(*training_parts(training, all_communications=all_communications))


def training_parts(training: Training, *, all_communications: bool = False) -> list[RenderableType]:
    """The parts of `training_table`."""
    fabric, kinds = training.fabric, communications(training)
    shown = kinds if all_communications else kinds[:MOST_KINDS]
    words = fabric_words(fabric.ports, fabric.rates_bps, fabric) + _at_rest(training)
    return [
        heading(_title(training)),
        Text(words),
        _critical_path(training),
        *map(Text, _summary(training)),
        _policies(training),
        *([] if training.inference is None else requests_parts(training.inference)),
        *([_kinds(shown)] if kinds else []),
        *map(Text, _left_out(kinds, shown)),
    ]


def _at_rest(training: Training) -> str:
    """The resting topology; of islands that share ports the notes of the policies say whether there is one."""
    return "" if shares_ports(training) else f", resting topology {training.fabric.initial}"


def _title(training: Training) -> str:
    mesh = " · ".join(f"{axis} {size}" for axis, size in training.mesh.items())
    named = [] if training.name is None else [training.name]
    named += [] if training.inference is None else [inference_words(training.inference)]
    name = ", ".join(named) or "an iteration"
    title = title_of(training.policy)
    how = f"{title}, exact" if training.exact else title
    return (
        f"{name} on {training.ranks} ranks{f' ({mesh})' if mesh else ''}: {show_time(training.total_s)}, "
        f"{changes_words(training)} ({how})"
    )


def changes_words(training: Training) -> str:
    """The number of changes of circuits: between communications, and inside them."""
    within = changes_within(training)
    words = counted(training.reconfigurations, "reconfiguration")
    return f"{words} between communications, {within:,} inside them" if within else words


def _critical_path(training: Training) -> Table:
    made = table("critical path", "time", "share", right=("time",), footer=True)
    for name, time_s in training.critical_path_s.items():
        share = time_s / training.total_s if training.total_s else 0.0
        made.add_row(name, show_time(time_s) if time_s else "-", bar(share) + Text(f" {share:.1%}"))
    made.columns[0].footer, made.columns[1].footer = "iteration", show_time(training.total_s)
    return made


def _summary(training: Training) -> list[str]:
    exposed_s, total_s, bound_s = training.exposed_communication_s, training.total_s, training.lower_bound_s
    share = f", {exposed_s / total_s:.1%} of the iteration" if total_s else ""
    above = f", {bound_s / total_s:.1%} of the iteration, which {gap_words(total_s, bound_s)}" if bound_s else ""
    hidden_s, waited_s = training.reconfiguration_hidden_s, training.reconfiguration_exposed_s
    lines = [
        f"compute         {show_time(training.compute_s)}",
        f"communication   {show_time(exposed_s)} exposed{share}",
        f"reconfiguring   {show_time(hidden_s)} hidden, {show_time(waited_s)} waited for",
        f"lower bound     {show_time(bound_s)}{above} ({training.bound_class})",
    ]
    if not training.exact and training.order_bound_s:
        lines.append(f"order           {_order_words(training)}")
    return lines if training.mfu is None else [*lines, f"modelled MFU    {training.mfu:.1%} of the ranks' peak"]


def _order_words(training: Training) -> str:
    """The quality of the events' order, compared with other orders of the same plans."""
    if training.order_exact:
        return "no other order of these plans on these ports is faster"
    order_s, total_s = training.order_bound_s, training.total_s
    return f"no order of these plans on these ports takes less than {show_time(order_s)}: {gap_words(total_s, order_s)}"


def _policies(training: Training) -> Table:
    """Every policy, its time over that of all planned together, and its choice."""
    notes, own_s = training.policy_notes, training.policies.get(OURS) or training.total_s
    over = f"vs {title_of(OURS)}"
    made = table("", "policy", "time", over, "", right=("time", over))
    for name, time_s in training.policies.items():
        ideal = "for reference" if name == IDEAL else ""
        said = "; ".join(word for word in (ideal, notes.get(name, "")) if word)
        is_taken = name == training.policy
        made.add_row(
            "*" if is_taken else "",
            title_of(name),
            "-" if time_s is None else show_time(time_s),
            factor(time_s / own_s) if time_s is not None and own_s else "-",
            said,
            style="bold" if is_taken else "",
        )
    return made


def _kinds(shown: Sequence[Communication]) -> Table:
    numbers = ("ranks", "size", "count", "ports", "each", "in all")
    made = table("collective", "of", *numbers[:4], "algorithm", "topologies", *numbers[4:], right=numbers)
    for one in shown:
        plan = one.plan
        made.add_row(
            one.collective,
            _some(one.labels),
            str(one.group_size),
            show_size(one.size_bytes),
            f"{one.count:,}",
            str(one.ports),
            "-" if plan is None else plan.algorithm,
            _topologies(one),
            show_time(one.each_s),
            show_time(one.total_s),
        )
    return made


def _topologies(one: Communication) -> str:
    if one.plan is not None:
        return _some(one.topologies)
    return "circuits of their own" if one.direct else "circuits that are there"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _left_out(kinds: Sequence[Communication], shown: Sequence[Communication]) -> list[str]:
    left = kinds[len(shown) :]
    if not left:
        return []
    time_s = show_time(sum(one.total_s for one in left))
    return [f"and {counted(len(left), 'more kind')} of {time_s} in all: --all-communications"]

"""The tables that the verb `list` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightloom.views.refusals import why
from lightloom.views.tables.page import heading, render, table

if TYPE_CHECKING:
    from collections.abc import Sequence


ORDER = (
    *("name", "written", "read", "parameters", "requirement", "collectives", "delay", "ports"),
    *("summary", "cannot say", "one rate for all", "source"),
)


def registry_table(kind: str, entries: Sequence[dict[str, str]], others: Sequence[tuple[str, str]] = ()) -> str:
    """The names of a kind, with all other fields of its entries.

    others: names of the kind that are printed and not taken, with their meanings.
    """
    columns = sorted({key for entry in entries for key in entry if entry[key]}, key=_position)
    made = table(*columns)
    for entry in entries:
        made.add_row(*(entry.get(column, "") for column in columns))
    if not others:
        return render(heading(kind), made)
    named = table("names that planners give", "what they mean")
    for name, meaning in others:
        named.add_row(name, meaning)
    return render(heading(kind), made, named)


def algorithms_table(rows: Sequence[dict[str, Any]]) -> str:
    """Every algorithm for this many GPUs: steps and bytes of those that accept, the reason of those that do not."""
    made = table("algorithm", "collective", "steps", "sent / m", "why not", right=("steps", "sent / m"))
    for row in rows:
        steps, sent = row["steps"], row["sent_share"]
        made.add_row(
            row["algorithm"],
            row["collective"],
            "" if steps is None else str(steps),
            "" if sent is None else f"{sent:.4g}",
            why(row["reason"]),
        )
    return render(heading("algorithms; sent / m: bytes sent by the busiest rank, divided by the buffer size m"), made)


def _position(column: str) -> tuple[int, str]:
    """Known columns in their order, others behind them."""
    return (ORDER.index(column) if column in ORDER else len(ORDER), column)

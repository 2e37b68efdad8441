"""Ways to share a fabric among jobs. Adding one is an entry of `SHARINGS`."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from lightloom.base.errors import refuse, shown, unknown_name

__all__ = ["BASELINE", "SHARINGS", "Circuits", "Sharing", "sharings_named"]


Circuits: TypeAlias = Literal["change", "own", "wired"]


class Sharing(NamedTuple):
    """A way to share GPUs, ports and time.

    name: for options and JSON. title, summary: for people. circuits: those of a job `change` during its iterations, are
    its `own` and never change, or were `wired` once for the whole fabric, where a job gets a block of it. pairs: how
    jobs that do not fit share GPUs with others: `turns`, or `together`; None where they wait.
    """

    name: str
    title: str
    summary: str
    circuits: Circuits
    pairs: Literal["turns", "together"] | None = None


SHARINGS = (
    Sharing(
        "wired", "wired torus", "GPUs wired once as a torus; a job gets a block of it, the first that fits", "wired"
    ),
    Sharing("own", "own fixed circuits", "any free GPUs; circuits are set when a job starts and never change", "own"),
    Sharing("changing", "changing circuits", "any free GPUs; circuits change during iterations", "change"),
    Sharing(
        "turns",
        "in turns",
        "as changing circuits; jobs that would wait take turns with others on their GPUs",
        "change",
        "turns",
    ),
    Sharing(
        "together",
        "ports shared",
        "as changing circuits; jobs that would wait run at once with others, each on ports of its own",
        "change",
        "together",
    ),
)
# The way that gains are over.
BASELINE = "wired"


def sharings_named(value: object) -> tuple[Sharing, ...]:
    """The ways of a text such as `wired,changing`, or of a list; all of them for None and `all`.

    Raises `InputError` that names `sharing`.
    """
    if value is None:
        return SHARINGS
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not items:
        raise refuse("sharing", f"`{shown(value)}` is not accepted; it takes all, or names with commas between them")
    names = [one.strip() if isinstance(one, str) else one for one in items]
    known = [*(one.name for one in SHARINGS), "all"]
    for name in names:
        if name not in known:
            raise unknown_name("sharing", name, known)
    return tuple(one for one in SHARINGS if one.name in names or "all" in names)

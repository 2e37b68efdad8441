"""The command line: one file a verb, `registry` lists them, `entry` runs them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "program"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. `arguments` are those after the program's name."""
    from lightloom.cli import entry

    return entry.main(arguments)


def program() -> NoReturn:
    """The command line as a process; an interrupt while it is being loaded ends it without a word, too.

    At once: nothing was begun, and a second interrupt would find Python taking itself apart.
    """
    try:
        from lightloom.cli import entry
    except KeyboardInterrupt:
        os._exit(1)
    entry.program()

"""Completions of an option's value for the shell: names of the registries, choices, and files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from lightloom.inputs.options import Kind

if TYPE_CHECKING:
    from lightloom.inputs.options import Option

# Kinds of values that the shell itself completes.
FILE, FOLDER = "file", "dir"
# Kinds whose values may be the names of files.
FILES = {
    *(Kind.FABRIC, Kind.MATRIX, Kind.OPTICS, Kind.BARRIER, Kind.POSITIONS, Kind.PAIR_RATES, Kind.FILE),
    Kind.PICTURE,
    *(Kind.TOPOLOGY, Kind.TOPOLOGIES),
}
ITEMS = re.compile("(.*[,;])?(.*)", re.DOTALL)


def completions(option: Option, incomplete: str) -> list[CompletionItem]:
    """Possible values in place of `incomplete`: names that start so, else files if the option takes files."""
    before, item = "", incomplete
    if option.kind is Kind.TOPOLOGIES and (match := ITEMS.fullmatch(incomplete)) is not None:
        before, item = match[1] or "", match[2]
    found = [CompletionItem(before + name) for name in _names(option) if name.startswith(item)]
    if option.kind is Kind.FOLDER:
        return [CompletionItem(incomplete, type=FOLDER)]
    if not found and option.kind in FILES:
        return [CompletionItem(incomplete, type=FILE)]
    return found


def _names(option: Option) -> list[str]:
    from lightloom import _core

    match option.kind:
        case Kind.CHOICE:
            return list(option.choices)
        case Kind.TOPOLOGY | Kind.TOPOLOGIES:
            kinds = ("topologies", "candidates") if option.kind is Kind.TOPOLOGIES else ("topologies",)
            registry = _core.registry()
            free = ["free", "repeated"] if option.name == "initial" else []
            return [*free, *(entry["name"] for kind in kinds for entry in registry[kind])]
        case _ if option.names:
            from lightloom.base.plugins import PluginError
            from lightloom.views.listings import everything

            try:
                listed = everything(option.names)[option.names]
            except PluginError:  # a prompt is no place to say so; the command itself does
                listed = []
            return [*option.others, *(entry["name"] for entry in listed)]
        case _:
            return []

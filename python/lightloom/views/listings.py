"""The names that `lightloom list` shows, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lightloom.base.errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["everything", "listings"]


def everything(kind: str | None = None) -> dict[str, list[dict[str, str]]]:
    """The names of a kind that the command line takes, or of every kind, by kind.

    Without a kind, what another distribution brings and does not load is left out, and standard error says so. Raises
    `InputError` that names `kind`, and `PluginError` where the names of the kind that is asked for do not load.
    """
    from lightloom.base import plugins

    names = listings()
    if kind is not None:
        if kind not in names:
            raise plugins.elsewhere("kind", kind) or unknown_name("kind", kind, names)
        return {kind: names[kind]()}
    found = {}
    for name, listed in names.items():
        try:
            found[name] = listed()
        except plugins.PluginError as error:
            click.echo(f"warning: {error}", err=True)
    return found


def listings() -> dict[str, Callable[[], list[dict[str, str]]]]:
    """The functions that list the names of a kind, by kind; no other distribution is imported for it."""
    from lightloom import _core
    from lightloom.base import plugins

    # Each imports what it lists, and no other kind does.
    def benchmarks() -> list[dict[str, str]]:
        from lightloom.sweeps.benchmarks import all_benchmarks

        return [{"name": one.name, "summary": one.summary, "source": one.source} for one in all_benchmarks()]

    def policies() -> list[dict[str, str]]:
        return [
            {"name": name, "title": title, "summary": summary}
            for name, title, summary, can_be_chosen in _core.training_policies()
            if can_be_chosen
        ]

    def drivers() -> list[dict[str, str]]:
        from lightloom.switches.registry import driver_rows

        return driver_rows()

    def fabrics() -> list[dict[str, str]]:
        from lightloom.inputs.fabric import presets

        return presets()

    def formats() -> list[dict[str, str]]:
        from lightloom.formats import format_rows

        return format_rows()

    def models() -> list[dict[str, str]]:
        from lightloom.inputs.workloads.model import summaries

        return summaries()

    def switches() -> list[dict[str, str]]:
        from lightloom.inputs.catalogue import catalogue_rows

        return catalogue_rows()

    names: dict[str, Callable[[], list[dict[str, str]]]] = {
        **{own: lambda entries=entries: entries for own, entries in _core.registry().items()},  # type: ignore[misc]
        "drivers": drivers,
        "fabrics": fabrics,
        "models": models,
        "policies": policies,
        "switches": switches,
        "benchmarks": benchmarks,
        "formats": formats,
    }
    for name, entry in plugins.brought(plugins.NAMES).items():
        names.setdefault(name, lambda entry=entry: plugins.names_of(entry))  # type: ignore[misc]
    return names

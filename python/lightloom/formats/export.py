"""Plans written for other tools."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.base.errors import refuse, shown, text_of, unknown_name
from lightloom.base.files import check_distinct, check_folder, write_files, write_folder
from lightloom.base.whole_numbers import WHOLE_RANGES, whole_number
from lightloom.formats import FOLDER, FORMATS, Format, written_formats
from lightloom.formats.output import OUTPUT_NAME, SIDE
from lightloom.formats.size_range import size_range
from lightloom.plans import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightloom.formats.output import Exported

__all__ = ["Export", "WrittenFile", "check_export_path", "chosen_format", "export", "exported"]


class WrittenFile(NamedTuple):
    """A file that was written: its path, and its size in bytes."""

    path: Path
    size_bytes: int


class Export(NamedTuple):
    """The files that `export` wrote.

    format: name of the format. files: all of them, in the order of the format. side_file: the one with the facts that
    the format cannot express, or their folder, and cannot_say their names. notes: other remarks, a line each.
    """

    format: str
    files: tuple[WrittenFile, ...]
    side_file: Path
    cannot_say: str
    notes: tuple[str, ...]


def export(
    plan: Plan | str | os.PathLike[str] | Sequence[Plan | str | os.PathLike[str]],
    to: str,
    output: str | os.PathLike[str],
    *,
    sizes: str | None = None,
    gpus_per_host: int | None = None,
) -> Export:
    """Write plans in the format of another tool: `lightloom.export` but for training iterations, with its errors."""
    chosen = chosen_format(to)
    options = {"sizes": sizes, "gpus_per_host": gpus_per_host}
    check_export_path(to, output)
    plans = [_loaded(one, to, output) for one in (plan if isinstance(plan, (list, tuple)) else [plan])]
    made = exported(chosen, plans, options)
    if chosen.written == FOLDER:
        folder = write_folder("output", output, made.files)
        paths = {key: folder / key for key in (*made.files, made.side)}
    else:
        file = Path(output)
        paths = {key: file.with_name(file.name + key) for key in made.files}
        given = plan if isinstance(plan, (str, os.PathLike)) else None
        for path in paths.values():
            check_distinct({"output": path}, None if given is None else {"plan": given})
        write_files([("output", paths[key], content) for key, content in made.files.items()])
    files = tuple(WrittenFile(paths[key], len(content)) for key, content in made.files.items())
    notes = tuple(note.replace(OUTPUT_NAME, quote(os.fspath(output))) for note in made.notes)
    return Export(chosen.name, files, paths[made.side], chosen.cannot_say, notes)


def exported(chosen: Format, plans: Sequence[Plan], options: Mapping[str, object]) -> Exported:
    """The content of the files of a format for plans, before anything is written.

    options: of `export`, by name; those that are None were not given. Raises `InputError` that names the argument.
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in chosen.takes:
            able = " and ".join(one.name for one in FORMATS if name in one.takes)
            raise refuse(name, f"it is only for {able}, not for {chosen.name}")
    if "sizes" in given:
        given["sizes"] = size_range(given["sizes"])
    if "gpus_per_host" in given:
        given["gpus_per_host"] = whole_number("gpus_per_host", given["gpus_per_host"], 1, WHOLE_RANGES["gpus"][1])
    for plan in plans:
        if plan.gpus > plan.members:
            raise refuse("plan", "GPUs that do not take part forward data in it, which no format can express")
        _check_rates(chosen, plan)
        if chosen.writes_paths and plan.uses_electrical:
            able = ", ".join(one.name for one in FORMATS if one.written and not one.writes_paths)
            raise refuse("plan", f"its electrical switches have no place in {chosen.name}; export it to {able}")
    writer = import_module(chosen.writer)
    made: Exported
    if chosen.takes_several:
        if not plans:
            raise refuse("plan", "no plan is given; it takes at least one")
        made = writer.export(plans, **given)
        return made
    if len(plans) != 1:
        able = " or ".join(one.name for one in FORMATS if one.takes_several)
        raise refuse("plan", f"format {chosen.name} takes one plan, and {len(plans)} are given; several go to {able}")
    made = writer.export(plans[0], **given)
    return made


def _loaded(plan: object, to: str, output: str | os.PathLike[str]) -> Plan:
    if isinstance(plan, Plan):
        return plan
    if not isinstance(plan, (str, os.PathLike)):
        raise refuse("plan", f"`{shown(plan)}` is not accepted; it takes a Plan or its file")
    check_export_path(to, output, inputs={"plan": plan})
    return Plan.load(plan)


def check_export_path(
    to: str, output: str | os.PathLike[str], inputs: dict[str, str | os.PathLike[str]] | None = None
) -> None:
    """Refuse an output that the format cannot be written to, before anything is computed.

    Raises `InputError` that names `to` or `output`.
    """
    if chosen_format(to).written == FOLDER:
        check_folder("output", output)
        return
    check_distinct({"output": output}, inputs)
    file = Path(output)
    check_distinct({"output": output, "side file": file.with_name(file.name + SIDE)}, inputs)


def chosen_format(to: str) -> Format:
    """The format of a name. Raises `InputError` that names `to`."""
    known = written_formats()
    if text_of("to", to) not in known:
        raise unknown_name("to", to, known)
    return known[to]


def _check_rates(chosen: Format, plan: Plan) -> None:
    """Raise `InputError` that names `plan` where circuits have different rates that the format cannot express."""
    able = ", ".join(one.name for one in FORMATS if one.written and not one.one_rate)
    what = "have different rates, which have no place in"
    if "pairs" in chosen.one_rate and plan.pair_rates is not None:
        raise refuse("plan", f"pairs of GPUs {what} {chosen.name}; export it to {able}")
    if "ports" in chosen.one_rate and len(plan.rates_bps) > 1:
        raise refuse("plan", f"ports {what} {chosen.name}; export it to {able}")
